//! A document and a merge patch, a line each: applied a second time, the patch changes nothing.
#![no_main]

use hydrofoil_codec::json;
use hydrofoil_merge::json_merge;
use hydrofoil_types::Value;
use libfuzzer_sys::fuzz_target;

/// Report whether a value contains a list: the null members that lists lose depend on the replaced values.
fn listed(value: &Value) -> bool {
    match value {
        Value::Array(_) => true,
        Value::Object(map) => map.iter().any(|(_, value)| listed(value)),
        _ => false,
    }
}

fuzz_target!(|data: &[u8]| {
    let mut lines = data.splitn(2, |b| *b == b'\n').map(|line| json::parse(line).map(|p| p.value));
    let (Some(Ok(doc)), Some(Ok(patch))) = (lines.next(), lines.next()) else { return };
    let mut once = doc;
    json_merge(&mut once, patch.clone());
    let mut twice = once.clone();
    let stable = !listed(&patch);
    json_merge(&mut twice, patch);
    if stable {
        assert_eq!(json::encode_any(&once), json::encode_any(&twice));
    }
});
