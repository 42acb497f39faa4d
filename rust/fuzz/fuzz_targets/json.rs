//! JSON by the schema of a pod: each decoded value has one canonical encoding.
#![no_main]

use std::sync::LazyLock;

use hydrofoil_codec::json;
use hydrofoil_types::{Catalog, Schema};
use libfuzzer_sys::fuzz_target;

static POD: LazyLock<Schema> = LazyLock::new(|| {
    let data = include_bytes!("../../../python/hydrofoil/apis/data/catalog.json");
    Catalog::parse(data).unwrap().schema("io.k8s.api.core.v1.Pod").unwrap()
});

fuzz_target!(|data: &[u8]| {
    if let Ok(decoded) = json::decode(&POD, data) {
        let once = json::encode(&POD, &decoded.value);
        let again = json::decode(&POD, &once).unwrap();
        assert!(again.strict.is_empty());
        assert_eq!(json::encode(&POD, &again.value), once);
    }
    let _ = json::parse(data);
});
