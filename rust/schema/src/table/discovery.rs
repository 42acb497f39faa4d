//! Endpoint slices.

use hydrofoil_types::Value;

use super::subject::Subject;
use super::text::{deref, first_three};
use crate::read::Read;

/// `printEndpointSlice`.
pub(super) fn slice(of: &Subject<'_>) -> Vec<Value> {
    let ports = of.object.list("ports").iter().map(|p| match p.oi("port") {
        Some(number) => number.to_string(),
        None => deref(p, "name", "*").to_owned(),
    });
    let addresses = of.object.list("endpoints").iter().flat_map(|e| e.list("addresses")).filter_map(Value::as_str);
    cells![of.name(), of.object.s("addressType"), first_three(ports), first_three(addresses), of.age()]
}
