//! Validation (`pkg/apis/certificates/validation/validation.go`).

#![allow(clippy::arithmetic_side_effects, reason = "it counts what an object of a few megabytes has")]
#![allow(clippy::indexing_slicing, reason = "the place was found in the list, or the length looked at before")]
#![allow(clippy::string_slice, reason = "it is cut at characters of ASCII that were found there")]

use base64::Engine as _;
use hydrofoil_text::quoted;
use hydrofoil_types::{Causes, Duplicates, Path, Value, Whole};

use crate::kind::Request;
use hydrofoil_rules::check::Check;
use hydrofoil_rules::signer::signer;
use hydrofoil_types::read::Read;

const SPEC: Path<'static> = Path::new("spec");
const USAGES: [&str; 23] = [
    "any",
    "cert sign",
    "client auth",
    "code signing",
    "content commitment",
    "crl sign",
    "data encipherment",
    "decipher only",
    "digital signature",
    "email protection",
    "encipher only",
    "ipsec end system",
    "ipsec tunnel",
    "ipsec user",
    "key agreement",
    "key encipherment",
    "microsoft sgc",
    "netscape sgc",
    "ocsp signing",
    "s/mime",
    "server auth",
    "signing",
    "timestamping",
];

/// `ValidateCertificateSigningRequestCreate`.
pub(super) fn create(object: &Value, causes: &mut Causes) {
    let spec = object.field("spec");
    request(spec, causes);
    let usages = spec.list("usages");
    let at = SPEC.child("usages");
    if usages.is_empty() {
        causes.need(&at);
    }
    for (i, usage) in usages.iter().enumerate() {
        causes.one_of(&at.index(i), usage.as_str().unwrap_or(""), &USAGES);
    }
    let duplicates = Duplicates::of(usages, Whole);
    for (i, usage) in usages.iter().enumerate() {
        if duplicates.is_repeat(i) {
            causes.duplicate_str(&at.index(i), usage.as_str().unwrap_or(""));
        }
    }
    if spec.text("signerName") == "kubernetes.io/legacy-unknown" {
        let detail = "the legacy signerName is not allowed via this API version";
        causes.invalid_str(&SPEC.child("signerName"), spec.text("signerName"), detail);
    } else {
        signer(spec.text("signerName"), &SPEC.child("signerName"), causes);
    }
    if let Some(seconds) = spec.opt_int("expirationSeconds").filter(|s| *s < 600) {
        let detail = "may not specify a duration less than 600 seconds (10 minutes)";
        causes.invalid_int(&SPEC.child("expirationSeconds"), seconds, detail);
    }
    conditions(object, causes);
}

/// `ValidateCertificateSigningRequestUpdate` and those of `/approval` and `/status`.
pub(super) fn update(req: &Request<'_>, object: &Value, old: &Value, causes: &mut Causes) {
    let status = Path::new("status");
    let at = status.child("conditions");
    let count =
        |v: &Value, kind: &str| v.field("status").list("conditions").iter().filter(|c| c.text("type") == kind).count();
    create(object, causes);
    let (before, after) = (old.field("status").text("certificate"), object.field("status").text("certificate"));
    if before != after {
        certificate(object, causes);
    }
    for kind in ["Approved", "Denied", "Failed"] {
        if count(object, kind) < count(old, kind) {
            causes.forbidden(&at, &format!("updates may not remove a condition of type \"{kind}\""));
        }
    }
    if req.subresource == "status" {
        for kind in ["Approved", "Denied"] {
            if count(object, kind) > count(old, kind) {
                causes.forbidden(&at, &format!("updates may not add a condition of type \"{kind}\""));
            }
        }
    }
    if before != after && !before.is_empty() {
        causes.forbidden(&status.child("certificate"), "updates may not modify existing certificate content");
    }
}

/// `validateCertificate`: blocks of PEM that look like certificates.
fn certificate(object: &Value, causes: &mut Causes) {
    const BEGIN: &str = "-----BEGIN ";
    let status = object.field("status");
    if status.zero("certificate") {
        return;
    }
    let base64 = &base64::engine::general_purpose::STANDARD;
    let bytes = base64.decode(status.text("certificate")).unwrap_or_default();
    let text = String::from_utf8_lossy(&bytes);
    let at = Path::new("status");
    let at = at.child("certificate");
    let mut bad = |why: &str| causes.invalid_str(&at, "<certificate data>", why);
    let mut rest: &str = &text;
    let mut blocks = 0;
    while let Some(start) = rest.find(BEGIN) {
        let Some((kind, body)) = rest[start + BEGIN.len()..].split_once("-----") else { break };
        let end = format!("-----END {kind}-----");
        let Some((inner, after)) = body.split_once(end.as_str()) else { break };
        if kind != "CERTIFICATE" {
            return bad(&format!("only CERTIFICATE PEM blocks are allowed, found {}", quoted(kind)));
        }
        if inner.contains(':') {
            return bad("no PEM block headers are permitted");
        }
        let der: String = inner.chars().filter(|c| !c.is_whitespace()).collect();
        match base64.decode(der) {
            Ok(der) if der.is_empty() => return bad("found CERTIFICATE PEM block containing 0 certificates"),
            Ok(der) if der[0] == 0x30 => {}
            _ => return bad("x509: malformed certificate"),
        }
        blocks += 1;
        rest = after;
    }
    if blocks == 0 {
        bad("must contain at least one CERTIFICATE PEM block");
    }
}

/// Validate the request as far as is possible without reading ASN.1: the armour and its bytes.
fn request(spec: &Value, causes: &mut Causes) {
    let at = SPEC.child("request");
    let text = spec.text("request");
    let bytes = base64::engine::general_purpose::STANDARD.decode(text).unwrap_or_default();
    let shown = if spec.has("request") { spec.field("request").clone() } else { Value::Null };
    let pem = String::from_utf8_lossy(&bytes);
    let begin = "-----BEGIN CERTIFICATE REQUEST-----";
    let Some(start) = pem.find(begin) else {
        return causes.invalid(&at, &shown, "PEM block type must be CERTIFICATE REQUEST");
    };
    let rest = &pem[start + begin.len()..];
    let Some(end) = rest.find("-----END CERTIFICATE REQUEST-----") else {
        return causes.invalid(&at, &shown, "PEM block type must be CERTIFICATE REQUEST");
    };
    let body: String = rest[..end].chars().filter(|c| !c.is_whitespace()).collect();
    match base64::engine::general_purpose::STANDARD.decode(body) {
        Err(_) => causes.invalid(&at, &shown, "PEM block type must be CERTIFICATE REQUEST"),
        Ok(der) if der.first() != Some(&0x30) => {
            causes.invalid(&at, &shown, "asn1: structure error: tags don't match");
        }
        Ok(_) => {}
    }
}

/// `validateConditions`.
fn conditions(object: &Value, causes: &mut Causes) {
    let status = Path::new("status");
    let path = status.child("conditions");
    let list = object.field("status").list("conditions");
    let (mut approved, mut denied) = (false, false);
    let duplicates = Duplicates::of(list, |v| v.text("type"));
    for (i, condition) in list.iter().enumerate() {
        let at = path.index(i);
        let kind = condition.text("type");
        if kind.is_empty() {
            causes.need(&at.child("type"));
        }
        match condition.text("status") {
            "" => causes.need(&at.child("status")),
            state if matches!(kind, "Approved" | "Denied" | "Failed") => {
                causes.one_of(&at.child("status"), state, &["True"]);
            }
            state => causes.one_of(&at.child("status"), state, &["False", "True", "Unknown"]),
        }
        if (kind == "Approved" && denied) || (kind == "Denied" && approved) {
            causes.invalid_str(&path, kind, "Approved and Denied conditions are mutually exclusive");
        }
        approved |= kind == "Approved";
        denied |= kind == "Denied";
        if duplicates.is_repeat(i) {
            causes.duplicate_str(&at.child("type"), kind);
        }
    }
}
