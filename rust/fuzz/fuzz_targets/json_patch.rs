//! A document and a JSON patch, a line each: applied, or rejected.
#![no_main]

use hydrofoil_codec::json;
use hydrofoil_merge::{json_patch, json_patch_unknown};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let mut lines = data.splitn(2, |b| *b == b'\n').map(|line| json::parse(line).map(|p| p.value));
    let (Some(Ok(doc)), Some(Ok(patch))) = (lines.next(), lines.next()) else { return };
    let mut patched = doc.clone();
    if json_patch(&mut patched, &patch).is_ok() {
        // Values deeper than the limit of a decoder are rejected when parsed.
        let _ = json::parse(&json::encode_any(&patched));
    }
    json_patch_unknown(&patch);
});
