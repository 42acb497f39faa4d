//! Operations in a row about members of one object.

use hydrofoil_types::{Map, Value};

use super::{absent_member, holder, pointed, same};
use crate::members::Members;

/// From how many operations on the object is worth an index.
const LONG: usize = 64;

/// How many operations at the beginning of a list are about members of the object at one pointer.
pub(super) fn length(operations: &[&Map]) -> usize {
    let Some(parent) = operations.first().and_then(|operation| parent(operation)) else { return 0 };
    operations.iter().take_while(|operation| self::parent(operation) == Some(parent)).count()
}

/// The pointer to the object whose member an operation is about, if it is about nothing else.
fn parent(operation: &Map) -> Option<&str> {
    let text = |key: &str| operation.get(key).and_then(Value::as_str);
    matches!(text("op")?, "add" | "remove" | "replace" | "test").then(|| text("path"))??.rsplit_once('/').map(|p| p.0)
}

/// Applies such operations, with an index over the members; `None` when there is no need of one, or no object.
pub(super) fn apply(doc: &mut Value, operations: &[&Map]) -> Option<Result<(), String>> {
    let path = operations.first()?.get("path").and_then(Value::as_str)?;
    if operations.len() < LONG {
        return None;
    }
    let (Value::Object(map), _) = holder(doc, path).ok()? else { return None };
    let mut members = Members::of(std::mem::take(map), operations.len());
    let done = operations.iter().try_for_each(|operation| one(&mut members, operation));
    *map = members.into_map();
    Some(done)
}

fn one(members: &mut Members, operation: &Map) -> Result<(), String> {
    let path = operation.str("path");
    let last = pointed(path.rsplit_once('/').map_or("", |p| p.1));
    match operation.str("op") {
        "remove" => members.remove(&last).map(drop).ok_or_else(|| absent_member(&last)),
        "test" => same(members.get(&last), operation.get("value"), path),
        _ => {
            *members.entry(last.into()) = operation.get("value").cloned().unwrap_or_default();
            Ok(())
        }
    }
}
