//! Kinds of the group `certificates.k8s.io`.

mod certificate_signing_request;
mod cluster_trust_bundle;
mod pod_certificate_request;

use crate::kind::Strategy;

/// Return the strategy of a kind of the group.
pub(super) fn of(kind: &str) -> Option<&'static Strategy> {
    Some(match kind {
        "CertificateSigningRequest" => &certificate_signing_request::STRATEGY,
        "ClusterTrustBundle" => &cluster_trust_bundle::STRATEGY,
        "PodCertificateRequest" => &pod_certificate_request::STRATEGY,
        _ => return None,
    })
}
