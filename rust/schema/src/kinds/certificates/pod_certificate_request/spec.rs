//! The specification (`ValidatePodCertificateRequestCreate` of `pkg/apis/certificates/validation/validation.go`).

use hydrofoil_types::{Causes, Path, Value};

use super::{SPEC, key};
use hydrofoil_internal::InternalCauses;
use hydrofoil_rules::check::Check;
use hydrofoil_rules::format::{label, name};
use hydrofoil_rules::meta::ANNOTATIONS;
use hydrofoil_rules::signer::{is_of_kubernetes, signer};
use hydrofoil_types::read::{Read, Write};

const HOUR: i64 = 60 * 60;
const DAY: i64 = 24 * HOUR;
const LONGEST_UID: usize = 128;

pub(super) fn default(object: &mut Value) {
    object.make("spec").unset("maxExpirationSeconds", DAY);
}

pub(super) fn validate(spec: &Value, causes: &mut Causes) {
    signer(spec.text("signerName"), &SPEC.child("signerName"), causes);
    annotations(spec, causes);
    owner(spec, "podName", "podUID", causes);
    owner(spec, "serviceAccountName", "serviceAccountUID", causes);
    owner(spec, "nodeName", "nodeUID", causes);
    let at = SPEC.child("maxExpirationSeconds");
    let Some(seconds) = spec.opt_int("maxExpirationSeconds") else {
        return causes.required(&at, "must be set");
    };
    let most = if is_of_kubernetes(spec.text("signerName")) { DAY } else { 91 * DAY };
    if !(HOUR..=most).contains(&seconds) {
        causes.invalid_int(&at, seconds, &format!("must be in the range [{HOUR}, {most}]"));
    }
    key::validate(spec, causes);
}

/// Validate the name and the uid of an object.
fn owner(spec: &Value, own: &'static str, uid: &'static str, causes: &mut Causes) {
    let at = SPEC.child(own);
    // Names of nodes and uids have types of their own, so that they show as JSON.
    name::subdomain(spec.text(own), &mut |detail| match own {
        "nodeName" => causes.invalid_internal(&at, "s", spec.field(own), detail),
        _ => causes.invalid_str(&at, spec.text(own), detail),
    });
    let (at, length) = (SPEC.child(uid), spec.text(uid).len());
    if length == 0 {
        causes.invalid_internal(&at, "s", spec.field(uid), "must not be empty");
    } else if length > LONGEST_UID {
        causes.too_long(&at, LONGEST_UID);
    }
}

/// `ValidateUserAnnotations`.
fn annotations(spec: &Value, causes: &mut Causes) {
    let at = SPEC.child("unverifiedUserAnnotations");
    let mut size = 0_usize;
    for (key, value) in spec.entries("unverifiedUserAnnotations") {
        domain_prefixed_key(&key.to_lowercase(), &at, causes);
        size = size.saturating_add(key.len()).saturating_add(value.as_str().map_or(0, str::len));
    }
    if size > ANNOTATIONS {
        causes.too_long(&at, ANNOTATIONS);
    }
}

/// `IsDomainPrefixedKey`.
fn domain_prefixed_key(key: &str, at: &Path<'_>, causes: &mut Causes) {
    if key.is_empty() {
        return causes.need(at);
    }
    let mut good = true;
    label::key(key, &mut |detail| {
        causes.invalid_str(at, key, detail);
        good = false;
    });
    if good && !key.contains('/') {
        causes.invalid_str(at, key, "must be a domain-prefixed key (such as \"acme.io/foo\")");
    }
}
