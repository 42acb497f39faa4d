//! Kinds of the group `autoscaling`.

mod horizontal_pod_autoscaler;
mod scale;

use crate::kind::Strategy;

/// Return the strategy of a kind of the group in one of its versions.
pub(super) fn of(version: &str, kind: &str) -> Option<&'static Strategy> {
    Some(match kind {
        "HorizontalPodAutoscaler" if version == "v1" => &horizontal_pod_autoscaler::V1,
        "HorizontalPodAutoscaler" => &horizontal_pod_autoscaler::STRATEGY,
        "Scale" => &scale::STRATEGY,
        _ => return None,
    })
}
