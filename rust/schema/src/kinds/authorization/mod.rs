//! Kinds of the group `authorization.k8s.io`.

mod local_subject_access_review;
mod review;
mod self_subject_access_review;
mod self_subject_rules_review;
mod subject_access_review;

use crate::kind::Strategy;

/// Return the strategy of a kind of the group.
pub(super) fn of(kind: &str) -> Option<&'static Strategy> {
    Some(match kind {
        "LocalSubjectAccessReview" => &local_subject_access_review::STRATEGY,
        "SelfSubjectAccessReview" => &self_subject_access_review::STRATEGY,
        "SelfSubjectRulesReview" => &self_subject_rules_review::STRATEGY,
        "SubjectAccessReview" => &subject_access_review::STRATEGY,
        _ => return None,
    })
}
