//! Helpers of the tests with data of the checkout.

use std::io::Read;
use std::path::{Path, PathBuf};

use flate2::read::GzDecoder;
use hydrofoil_types::{Catalog, Schema};
use serde_json::Value;

/// Return the root of the checkout.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Return the catalog of the package.
pub fn served() -> Catalog {
    let data = std::fs::read(root().join("python/hydrofoil/apis/data/catalog.json")).expect("package data");
    Catalog::parse(&data).expect("a catalog")
}

/// Return the values of a file in `tests/conformance/answers`: compressed JSON lines.
pub fn recordings(path: &Path) -> Vec<Value> {
    let data = std::fs::read(path).expect("a readable recording");
    let mut text = String::new();
    GzDecoder::new(data.as_slice()).read_to_string(&mut text).expect("a compressed text");
    text.lines().map(|line| serde_json::from_str(line).expect("one value a line")).collect()
}

/// Return the schema of an API version and kind.
pub fn kind_of(catalog: &Catalog, version: &str, kind: &str) -> Option<Schema> {
    let (group, version) = version.split_once('/').unwrap_or(("", version));
    let of = |gvk: &(_, _, _)| gvk.0 == group && gvk.1 == version && gvk.2 == kind;
    let def = catalog.arena().types().iter().find(|t| t.gvk.as_ref().is_some_and(of))?;
    catalog.schema(&def.name)
}
