//! Protobuf by the schema of a pod: no bytes make a decoder panic, and each decoded value can be encoded.
#![no_main]

use std::sync::LazyLock;

use hydrofoil_codec::proto;
use hydrofoil_types::{Catalog, Schema};
use libfuzzer_sys::fuzz_target;

static POD: LazyLock<Schema> = LazyLock::new(|| {
    let data = include_bytes!("../../../python/hydrofoil/apis/data/catalog.json");
    Catalog::parse(data).unwrap().schema("io.k8s.api.core.v1.Pod").unwrap()
});

fuzz_target!(|data: &[u8]| {
    let mut body = proto::MAGIC.to_vec();
    body.extend_from_slice(data);
    if let Ok(value) = proto::decode(&POD, &body) {
        let _ = proto::encode(&POD, &value);
    }
});
