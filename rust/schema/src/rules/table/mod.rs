//! Rows of tables: the cells shown of an object, and their texts.

/// The cells of a row, each anything that a [`hydrofoil_types::Value`] can be made from.
macro_rules! cells {
    ($($cell:expr),* $(,)?) => {
        vec![$(hydrofoil_types::Value::from($cell)),*]
    };
}

use hydrofoil_types::{Map, Value};

pub(crate) use cells;
pub(crate) use subject::Subject;

pub(crate) mod age;
pub(crate) mod default;
pub(crate) mod replicas;
pub(crate) mod selector;
mod subject;
pub(crate) mod text;

/// Return the definition of a column.
pub(crate) fn column(name: &str, kind: &str, format: &str, description: &str, priority: i64) -> Value {
    let mut m = Map::new();
    m.push("name", name);
    m.push("type", kind);
    m.push("format", format);
    m.push("description", description);
    m.push("priority", priority);
    Value::Object(m)
}
pub(crate) mod volume;
