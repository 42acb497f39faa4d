//! Tables: the columns of a resource and the rows of its objects, as kubernetes
//! `pkg/printers/internalversion/printers.go` makes them with its wide option, which servers always set.

use hydrofoil_types::{Resource, Timestamp, Value};

pub use hydrofoil_rules::table::Row;

use crate::Kind;
use hydrofoil_rules::table::{Subject, column, default};

/// Return the column definitions of a resource of a kind.
pub fn columns(kind: &Kind, resource: &Resource) -> Vec<Value> {
    let strategy = kind.strategy;
    match strategy.columns {
        Some(columns) => columns(),
        // Its REST storage has `NewDefaultTableConvertor`.
        None if strategy.row.is_none() => default::columns(),
        None => {
            let own = resource.columns.iter();
            own.map(|c| column(&c.name, &c.kind, &c.format, &c.description, c.priority)).collect()
        }
    }
}

/// Return the row of an object of a kind at a moment, from which ages are counted.
pub fn row(kind: &Kind, object: &Value, now: Timestamp) -> Row {
    let strategy = kind.strategy;
    let internal = strategy.internal.map(|conversion| {
        let mut object = object.clone();
        (conversion.up)(&mut object);
        object
    });
    let subject = Subject::new(internal.as_ref().unwrap_or(object), now);
    let cells = strategy.row.map_or_else(|| default::row(&subject), |print| print(&subject));
    let conditions = (strategy.row_conditions)(&subject);
    Row { cells, conditions, until: subject.until() }
}
