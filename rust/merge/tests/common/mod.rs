//! Tables of cases in YAML.
#![allow(dead_code, reason = "not every test uses all of it")]

use std::path::Path;
use std::sync::LazyLock;

use hydrofoil_codec::yaml;
use hydrofoil_types::{Catalog, Schema, Value, notation};

static CATALOG: LazyLock<Catalog> = LazyLock::new(|| {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../python/hydrofoil/apis/data/catalog.json");
    Catalog::parse(&std::fs::read(path).expect("the catalog is there")).expect("the catalog is well formed")
});

/// Return the schema of a built-in type by its name without `io.k8s.api.`.
pub fn schema(name: &str) -> Schema {
    CATALOG.schema(&format!("io.k8s.api.{name}")).expect("the type is built in")
}

/// Return the cases of a table.
pub fn cases(name: &str) -> Vec<Value> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases").join(name);
    let text = std::fs::read(path).expect("the table is there");
    match yaml::parse(&text).expect("the table is YAML").value {
        Value::Array(cases) => cases,
        other => panic!("no list of cases: {other:?}"),
    }
}

/// Return a member of a case, null if absent.
pub fn part(case: &Value, name: &str) -> Value {
    case.get(name).cloned().unwrap_or_default()
}

/// Return a value as JSON, members sorted.
pub fn shown(value: &Value) -> String {
    let mut value = value.clone();
    sort(&mut value);
    let mut out = String::new();
    notation::write(&mut out, &value);
    out
}

fn sort(value: &mut Value) {
    match value {
        Value::Array(list) => list.iter_mut().for_each(sort),
        Value::Object(map) => {
            map.sort_keys();
            map.iter_mut().for_each(|(_, value)| sort(value));
        }
        _ => {}
    }
}
