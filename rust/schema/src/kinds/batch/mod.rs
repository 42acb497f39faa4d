//! Kinds of the group `batch`.

mod cron_job;
pub(super) mod job;

use crate::kind::Strategy;

/// Return the strategy of a kind of the group.
pub(super) fn of(kind: &str) -> Option<&'static Strategy> {
    Some(match kind {
        "CronJob" => &cron_job::STRATEGY,
        "Job" => &job::STRATEGY,
        _ => return None,
    })
}
