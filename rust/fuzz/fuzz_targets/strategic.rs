//! A pod and a strategic merge patch, a line each: applied, or rejected.
#![no_main]

use std::sync::LazyLock;

use hydrofoil_codec::json;
use hydrofoil_merge::strategic;
use hydrofoil_types::Catalog;
use hydrofoil_types::go;
use libfuzzer_sys::fuzz_target;

static CATALOG: LazyLock<Catalog> = LazyLock::new(|| {
    let data = include_bytes!("../../../python/hydrofoil/apis/data/catalog.json");
    Catalog::parse(data).expect("the catalog is well formed")
});

fuzz_target!(|data: &[u8]| {
    let mut lines = data.splitn(2, |b| *b == b'\n').map(|line| json::parse(line).map(|p| p.value));
    let (Some(Ok(doc)), Some(Ok(patch))) = (lines.next(), lines.next()) else { return };
    let schema = CATALOG.schema("io.k8s.api.core.v1.Pod").expect("the type is built in");
    go::plain(&patch);
    let mut merged = doc;
    if strategic(&schema, &mut merged, patch).is_ok() {
        let _ = json::parse(&json::encode_any(&merged));
    }
});
