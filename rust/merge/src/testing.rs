//! Helpers of the tests of this crate.

use std::path::Path;
use std::sync::LazyLock;

use hydrofoil_types::{Catalog, Schema, Value};

/// The built-in types.
pub(crate) static CATALOG: LazyLock<Catalog> = LazyLock::new(|| {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../python/hydrofoil/apis/data/catalog.json");
    Catalog::parse(&std::fs::read(path).expect("the package data is there")).expect("the package data parses")
});

/// Return the schema of a built-in type, as `core.v1.Pod`.
pub(crate) fn schema(name: &str) -> Schema {
    CATALOG.schema(&format!("io.k8s.api.{name}")).expect("the type is built in")
}

/// Parse a JSON text.
pub(crate) fn json(text: &str) -> Value {
    hydrofoil_types::notation::parse(text).unwrap_or_else(|| panic!("no JSON: {text}"))
}

/// Return a value as JSON text.
pub(crate) fn text(value: &Value) -> String {
    let mut out = String::new();
    hydrofoil_types::notation::write(&mut out, value);
    out
}
