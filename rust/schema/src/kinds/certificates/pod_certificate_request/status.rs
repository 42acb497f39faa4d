//! The status (`ValidatePodCertificateRequestStatusUpdate` of `pkg/apis/certificates/validation/validation.go`).

use hydrofoil_types::{Causes, Path, Timestamp, Value};
use hydrofoil_x509::{Certificate, PublicKey, Request, pem};

use super::key;
use hydrofoil_rules::check::Check;
use hydrofoil_rules::conditions;
use hydrofoil_types::read::{Read, same_field};

const STATUS: Path<'static> = Path::new("status");
const KNOWN: [&str; 3] = ["Issued", "Denied", "Failed"];
const MOST_BYTES: usize = 100 * 1024;
const MINUTE: i64 = 60;
const HOUR: i64 = 60 * MINUTE;

pub(super) fn validate(object: &Value, old: &Value, now: Timestamp, causes: &mut Causes) {
    let (status, before) = (object.field("status"), old.field("status"));
    known_once(status, causes);
    conditions::conditions(status.list("conditions"), &STATUS.child("conditions"), causes);
    if !causes.is_empty() {
        return;
    }
    let same = same_field(object, old, "status");
    if KNOWN.iter().any(|kind| is(before, kind)) {
        if !same {
            let detail = "immutable after PodCertificateRequest is issued, denied, or failed";
            causes.invalid_omitted(&STATUS, detail);
        }
    } else if is(status, "Denied") || is(status, "Failed") {
        let others = ["certificateChain", "notBefore", "beginRefreshAt", "notAfter"];
        if others.iter().any(|key| !status.zero(key)) {
            let detail = "non-condition status fields must be empty when denying or failing the PodCertificateRequest";
            causes.invalid_omitted(&STATUS, detail);
        }
    } else if is(status, "Issued") {
        validate_issued(status, old.field("spec"), now, causes);
    } else if !same {
        let detail = "status is immutable unless transitioning to \"Issued\", \"Denied\", or \"Failed\"";
        causes.invalid_omitted(&STATUS, detail);
    }
}

/// Report whether a condition is true.
fn is(status: &Value, kind: &str) -> bool {
    status.list("conditions").iter().any(|c| c.text("type") == kind && c.text("status") == "True")
}

/// Validate that there is at most one condition, which is true.
fn known_once(status: &Value, causes: &mut Causes) {
    let mut found = false;
    let path = STATUS.child("conditions");
    for (i, condition) in status.list("conditions").iter().enumerate() {
        // Upstream makes the index a member.
        let index = format!("[{i}]");
        let at = path.child(&index);
        let kind = condition.text("type");
        if !KNOWN.contains(&kind) {
            causes.not_supported_in_order(&at.child("type"), &Value::from(kind), &KNOWN);
            continue;
        }
        if found {
            let detail = "There may be at most one condition with type \"Issued\", \"Denied\", or \"Failed\"";
            causes.invalid_str(&at.child("type"), kind, detail);
        }
        found = true;
        causes.one_of(&at.child("status"), condition.text("status"), &["True"]);
    }
}

/// Validate the certificates that are issued, and the times beside them; the first fault ends it.
fn validate_issued(status: &Value, spec: &Value, now: Timestamp, causes: &mut Causes) {
    let (at, shown) = (STATUS.child("certificateChain"), status.text("certificateChain"));
    if shown.len() > MOST_BYTES {
        return causes.too_long(&at, MOST_BYTES);
    }
    let Some((leaf, rest)) = pem::next(shown.as_bytes()) else {
        return causes.invalid_str(&at, shown, "issued certificate chain must contain at least one certificate");
    };
    if leaf.kind != "CERTIFICATE" {
        let detail = "issued certificate chain must consist entirely of CERTIFICATE PEM blocks";
        return causes.invalid_str(&at, shown, detail);
    }
    let Ok(leaf) = Certificate::parse(&leaf.bytes) else {
        return causes.invalid_str(&at, shown, "leaf certificate does not parse as valid X.509");
    };
    names(&leaf, &at, causes);
    if requested_key(spec) != leaf.key {
        return causes.invalid_str(&at, shown, "leaf certificate was not issued to the requested public key");
    }
    times(status, causes);
    if causes.is_empty() {
        validity(status, &leaf, now, spec.int("maxExpirationSeconds"), causes);
    }
    if causes.is_empty() {
        chain(rest, shown, &at, causes);
    }
}

/// Return the key of a request, which was validated when it was created.
fn requested_key(spec: &Value) -> Option<PublicKey> {
    if spec.zero("stubPKCS10Request") {
        return PublicKey::parse(&key::bytes(spec, "pkixPublicKey")).ok();
    }
    Request::parse(&key::bytes(spec, "stubPKCS10Request")).ok()?.key
}

/// Validate the names of a certificate.
fn names(leaf: &Certificate, at: &Path<'_>, causes: &mut Causes) {
    for own in &leaf.dns_names {
        let mut refuse = |detail: &str| causes.invalid_str(at, own, detail);
        if own.is_empty() {
            refuse("leaf certificate should not contain empty DNSName");
        }
        if own.contains("..") {
            refuse("leaf certificate's DNSName should not contain '..'");
        }
        if own.starts_with('.') || own.ends_with('.') {
            refuse("leaf certificate's DNSName should not start or end with '.'");
        }
    }
    for own in leaf.emails.iter().filter(|own| !is_address(own)) {
        causes.invalid_str(at, own, "leaf certificate should not contain invalid EmailAddress");
    }
}

/// Report whether a text is an address of mail, of the common forms of `mail.ParseAddress`.
fn is_address(text: &str) -> bool {
    let bare = match text.rsplit_once('<') {
        Some((_, rest)) => rest.strip_suffix('>').unwrap_or(""),
        None => text,
    };
    let Some((local, domain)) = bare.trim().rsplit_once('@') else { return false };
    let atoms = |part: &str| {
        part.split('.').all(|a| !a.is_empty() && a.bytes().all(|b| b.is_ascii_alphanumeric() || is_special(b)))
    };
    let quoted = local.len() > 2 && local.starts_with('"') && local.ends_with('"');
    (quoted || atoms(local)) && (atoms(domain) || (domain.starts_with('[') && domain.ends_with(']')))
}

fn is_special(byte: u8) -> bool {
    b"!#$%&'*+-/=?^_`{|}~".contains(&byte)
}

/// Validate that all times are there.
fn times(status: &Value, causes: &mut Causes) {
    let consistent = "must be present and consistent with the issued certificate";
    let within = "must be present and in the range [notbefore+10min, notafter-10min]";
    for (key, detail) in [("notBefore", consistent), ("notAfter", consistent), ("beginRefreshAt", within)] {
        if !status.has(key) {
            causes.required(&STATUS.child(key), detail);
        }
    }
}

/// Validate the times by those of the certificate; the first fault ends it.
fn validity(status: &Value, leaf: &Certificate, now: Timestamp, most: i64, causes: &mut Causes) {
    let at = |key: &str| Timestamp::parse(status.text(key)).unwrap_or_default();
    let mut refuse = |key: &str, detail: &str| causes.invalid(&STATUS.child(key), status.field(key), detail);
    let (start, end, refresh) = (at("notBefore"), at("notAfter"), at("beginRefreshAt"));
    let after = |a: Timestamp, seconds: i64| Timestamp { seconds: a.seconds.saturating_add(seconds), ..a };
    if start != leaf.not_before {
        return refuse("notBefore", "must be set to the NotBefore time encoded in the leaf certificate");
    }
    if start <= after(now, -5 * MINUTE) || start >= after(now, 5 * MINUTE) {
        return refuse("notBefore", "must be set to within 5 minutes of kube-apiserver's current time");
    }
    if end != leaf.not_after {
        return refuse("notAfter", "must be set to the NotAfter time encoded in the leaf certificate");
    }
    let lifetime = end.seconds.saturating_sub(start.seconds);
    let too = match lifetime {
        ..HOUR => Some("leaf certificate lifetime must be >= 1 hour".to_owned()),
        _ if lifetime > most => {
            Some(format!("leaf certificate lifetime must be <= spec.maxExpirationSeconds ({most})"))
        }
        _ => None,
    };
    if let Some(detail) = too {
        // A duration shows as its nanoseconds.
        let shown = lifetime.saturating_mul(1_000_000_000);
        return causes.invalid_int(&STATUS.child("certificateChain"), shown, &detail);
    }
    if refresh < after(start, 10 * MINUTE) {
        return refuse("beginRefreshAt", "must be at least 10 minutes after status.notBefore");
    }
    if refresh > after(end, -10 * MINUTE) {
        refuse("beginRefreshAt", "must be at least 10 minutes before status.notAfter");
    }
}

/// Validate the certificates behind the first.
fn chain(mut rest: &[u8], shown: &str, at: &Path<'_>, causes: &mut Causes) {
    while let Some((block, after)) = pem::next(rest) {
        rest = after;
        if block.kind != "CERTIFICATE" {
            let detail = "issued certificate chain must consist entirely of CERTFICATE PEM blocks";
            return causes.invalid_str(at, shown, detail);
        }
        if Certificate::parse(&block.bytes).is_err() {
            return causes.invalid_str(at, shown, "intermediate certificate does not parse as valid X.509");
        }
    }
}
