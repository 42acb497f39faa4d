//! The key of a request and the proof of its possession (`validateStubPKCS10Request`,
//! `validateDeprecatedPKIXPublicKey`).

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hydrofoil_types::{Causes, Path, Value};
use hydrofoil_x509::{PublicKey, Request};

use super::SPEC;
use hydrofoil_rules::check::Check;
use hydrofoil_types::read::Read;

const MOST_BYTES: usize = 10 * 1024;
const UNKNOWN: &str = "unknown public key type; supported types are Ed25519, ECDSA, and RSA";

/// Return the bytes of a field.
pub(super) fn bytes(of: &Value, key: &str) -> Vec<u8> {
    STANDARD.decode(of.text(key)).unwrap_or_default()
}

/// Validate the request, or the key and its proof: exactly one of both ways is used.
pub(super) fn validate(spec: &Value, causes: &mut Causes) {
    let [request, key, proof] = ["stubPKCS10Request", "pkixPublicKey", "proofOfPossession"].map(|k| bytes(spec, k));
    match (request.is_empty(), key.is_empty(), proof.is_empty()) {
        (false, true, true) => stub(&request, causes),
        (true, false, false) => bare(spec, &key, &proof, causes),
        _ => {
            let detail = "exactly one of (stubPKCS10Request) or (pkixPublicKey, proofOfPossession) must be set";
            causes.invalid_omitted(&SPEC, detail);
        }
    }
}

fn stub(request: &[u8], causes: &mut Causes) {
    let at = SPEC.child("stubPKCS10Request");
    if request.len() > MOST_BYTES {
        return causes.too_long(&at, MOST_BYTES);
    }
    let Ok(request) = Request::parse(request) else {
        return causes.invalid_omitted(&at, "must be a valid PKCS#10 CSR");
    };
    match request.key.as_ref().filter(|key| **key != PublicKey::Other) {
        None => return causes.invalid_omitted(&at, UNKNOWN),
        Some(key) if !strong(key, "P256, P384, or P521", &at, causes) => return,
        Some(_) => {}
    }
    if !request.is_signed() {
        causes.invalid_omitted(&at, "invalid signature");
    }
}

fn bare(spec: &Value, key: &[u8], proof: &[u8], causes: &mut Causes) {
    let (key_at, proof_at) = (SPEC.child("pkixPublicKey"), SPEC.child("proofOfPossession"));
    if key.len() > MOST_BYTES {
        return causes.too_long(&key_at, MOST_BYTES);
    }
    if proof.len() > MOST_BYTES {
        return causes.too_long(&proof_at, MOST_BYTES);
    }
    let shown = spec.field("pkixPublicKey");
    let Ok(key) = PublicKey::parse(key) else {
        return causes.invalid(&key_at, shown, "must be a valid PKIX-serialized public key");
    };
    if key == PublicKey::Other {
        return causes.invalid(&key_at, shown, UNKNOWN);
    }
    if strong(&key, "P256 or P384", &key_at, causes) && !key.proves(spec.text("podUID").as_bytes(), proof) {
        causes.invalid_omitted(&proof_at, "could not verify proof-of-possession signature");
    }
}

/// Validate the curve of a key or its size, and report whether it is allowed.
fn strong(key: &PublicKey, curves: &str, at: &Path<'_>, causes: &mut Causes) -> bool {
    match key {
        PublicKey::Ecdsa(curve, _) if curve.name == "P-224" => {
            let detail = format!("elliptic public keys must use curve {curves}");
            causes.invalid_str(at, "curve P-224", &detail);
        }
        PublicKey::Rsa(key) if !matches!(key.bytes(), 384 | 512) => {
            let shown = format!("{}-bit modulus", key.bytes().saturating_mul(8));
            causes.invalid_str(at, &shown, "RSA keys must have modulus size 3072 or 4096");
        }
        _ => return true,
    }
    false
}
