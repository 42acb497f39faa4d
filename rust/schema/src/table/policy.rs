//! Disruption budgets.

use hydrofoil_types::Value;

use super::subject::Subject;
use super::text::plain;
use crate::read::Read;

/// `printPodDisruptionBudget`.
pub(super) fn disruption_budget(of: &Subject<'_>) -> Vec<Value> {
    let bound = |key| of.spec().opt(key).map_or_else(|| "N/A".to_owned(), plain);
    cells![of.name(), bound("minAvailable"), bound("maxUnavailable"), of.status().i("disruptionsAllowed"), of.age(),]
}
