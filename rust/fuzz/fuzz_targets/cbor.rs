//! Any bytes as CBOR, of no type and of a type with bytes: decoded to valid JSON, or rejected.
#![no_main]

use std::sync::LazyLock;

use hydrofoil_codec::{cbor, json};
use hydrofoil_types::{Catalog, Schema};
use libfuzzer_sys::fuzz_target;

static CONFIG_MAP: LazyLock<Schema> = LazyLock::new(|| {
    let types = br#"{"resources":[],"types":{"io.k8s.api.core.v1.ConfigMap":{"f":[{"n":"data","s":"{}s"},{"n":"binaryData","s":"{}y"}]}}}"#;
    let catalog = Catalog::parse(types).expect("a good catalog");
    catalog.schema("io.k8s.api.core.v1.ConfigMap").expect("its only type")
});

fuzz_target!(|data: &[u8]| {
    for read in [cbor::to_json(data), cbor::typed_to_json(&CONFIG_MAP, data)] {
        if let Ok(text) = read {
            let value = json::parse(&text);
            assert!(value.is_ok() || data.len() > 1000, "{text:?}");
        }
    }
});
