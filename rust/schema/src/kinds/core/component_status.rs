//! Component statuses.

use hydrofoil_types::Value;

use crate::kind::Strategy;
use crate::read::Read;
use crate::rules::table::text::condition;
use crate::rules::table::{Subject, cells};

pub(crate) static STRATEGY: Strategy = Strategy { row: Some(row), ..Strategy::DEFAULT };

/// `printComponentStatus`.
fn row(of: &Subject<'_>) -> Vec<Value> {
    let (mut status, mut message, mut error) = ("Unknown", "", "");
    if let Some(healthy) = condition(of.object, "Healthy") {
        status = if healthy.text("status") == "True" { "Healthy" } else { "Unhealthy" };
        (message, error) = (healthy.text("message"), healthy.text("error"));
    }
    cells![of.name(), status, message, error]
}
