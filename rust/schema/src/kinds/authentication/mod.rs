//! Kinds of the group `authentication.k8s.io`.

mod self_subject_review;
mod token_review;

use crate::kind::Strategy;

/// Return the strategy of a kind of the group.
pub(super) fn of(kind: &str) -> Option<&'static Strategy> {
    Some(match kind {
        "SelfSubjectReview" => &self_subject_review::STRATEGY,
        "TokenReview" => &token_review::STRATEGY,
        _ => return None,
    })
}
