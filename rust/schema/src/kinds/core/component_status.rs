//! Component statuses.

use hydrofoil_types::Value;

use crate::kind::Strategy;
use hydrofoil_rules::table::text::condition;
use hydrofoil_rules::table::{Subject, cells};
use hydrofoil_types::read::Read;

pub(crate) static STRATEGY: Strategy = Strategy { row: Some(row), ..Strategy::DEFAULT };

/// `printComponentStatus`.
fn row(subject: &Subject<'_>) -> Vec<Value> {
    let (mut status, mut message, mut error) = ("Unknown", "", "");
    if let Some(healthy) = condition(subject.object, "Healthy") {
        status = if healthy.text("status") == "True" { "Healthy" } else { "Unhealthy" };
        (message, error) = (healthy.text("message"), healthy.text("error"));
    }
    cells![subject.name(), status, message, error]
}
