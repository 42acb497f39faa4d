//! The strategies of kinds against the catalog: none is left out of its group.

#![allow(missing_docs, reason = "the names of tests say what they are for")]

use std::path::Path;

use hydrofoil_schema::{Kind, Release, reset_fields, table, traits};
use hydrofoil_types::Catalog;
use serde_json::Value as Json;

#[test]
fn strategies_know_the_subresources_and_columns_the_catalog() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../python/hydrofoil/apis/data/catalog.json");
    let text = std::fs::read(path).expect("the package data is there");
    let release =
        Release::parse(include_bytes!("../../../python/hydrofoil/apis/releases/1.36.json")).expect("a release");
    let catalog = Catalog::parse(&text).expect("the package data parses");
    let raw: Json = serde_json::from_slice(&text).expect("the package data is JSON");
    for entry in raw["resources"].as_array().expect("the catalog has resources") {
        let [group, version, plural] = ["group", "version", "plural"].map(|key| entry[key].as_str().unwrap_or(""));
        let resource = catalog.resource(group, version, plural).expect("the catalog has the resource");
        let kind = Kind::of(resource, release);
        let subresources = entry["subresources"].as_array().map_or(&[][..], Vec::as_slice);
        let has = |name: &str| subresources.iter().any(|s| s["name"] == name || s == name);
        let found = traits(&kind);
        assert_eq!(found.has_status, has("status"), "{kind:?}");
        assert_eq!(found.has_scale, has("scale"), "{kind:?}");
        let own = reset_fields(&kind, "").iter().any(|path| *path == ["status"]);
        // Upstream's stores of these have no strategy for the fields of the main resource.
        let bare = ["PodCertificateRequest", "PodGroup"].contains(&&*kind.kind);
        assert_eq!(own, has("status") && !bare, "{kind:?}");
        // Upstream does not use the printer that it has for them.
        if kind.kind != "CSIStorageCapacity" && !resource.columns.is_empty() {
            let names = table::columns(&kind, resource);
            assert_eq!(names.len(), resource.columns.len(), "{kind:?} prints no row");
        }
    }
}
