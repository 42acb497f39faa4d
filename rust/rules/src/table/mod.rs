//! Rows of tables: the cells shown of an object, and their texts.

/// The cells of a row, each anything that a [`hydrofoil_types::Value`] can be made from.
#[macro_export]
macro_rules! cells {
    ($($cell:expr),* $(,)?) => {
        vec![$($crate::Value::from($cell)),*]
    };
}

use hydrofoil_types::{Map, Value};

pub use crate::cells;
pub use subject::Subject;

pub mod age;
pub mod default;
pub mod replicas;
pub mod selector;
mod subject;
pub mod text;

/// One row.
pub struct Row {
    /// The cells, one for each column.
    pub cells: Vec<Value>,
    /// Row conditions: a finished pod has one.
    pub conditions: Vec<Value>,
    /// Until when the ages among the cells stay the same, in Unix seconds.
    pub until: i64,
}

/// Return the definition of a column.
pub fn column(name: &str, kind: &str, format: &str, description: &str, priority: i64) -> Value {
    let mut m = Map::new();
    m.push("name", name);
    m.push("type", kind);
    m.push("format", format);
    m.push("description", description);
    m.push("priority", priority);
    Value::Object(m)
}
pub mod volume;
