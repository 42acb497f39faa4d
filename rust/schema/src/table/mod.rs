//! Tables.

use hydrofoil_types::{Map, MetaView, Resource, Value};

/// One row.
pub struct Row {
    /// One value a column.
    pub cells: Vec<Value>,
    /// Row conditions: a finished pod has one.
    pub conditions: Vec<Value>,
}

/// The column definitions of a resource.
pub fn columns(resource: &Resource) -> Vec<Value> {
    resource
        .columns
        .iter()
        .map(|c| {
            let mut m = Map::new();
            m.push("name", c.name.clone());
            m.push("type", c.kind.clone());
            m.push("format", c.format.clone());
            m.push("description", "");
            m.push("priority", c.priority);
            Value::Object(m)
        })
        .collect()
}

/// The row of an object.
pub fn row(_resource: &Resource, object: &Value) -> Row {
    Row { cells: vec![Value::from(MetaView::of(object).name())], conditions: Vec::new() }
}
