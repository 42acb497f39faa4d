//! The schemes of signatures (`x509.checkSignature`).

use num_bigint::BigUint;
use ring::digest::{self, Algorithm as Hash, digest};
use ring::signature::{self as ring_signature, UnparsedPublicKey, VerificationAlgorithm};

use crate::curve::{Curve, Point};
use crate::der::{Algorithm, INTEGER, Malformed, Reader, SEQUENCE};
use crate::key::PublicKey;
use crate::oid;

/// How something is signed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Scheme {
    /// RSA by PKCS #1 v1.5.
    Rsa(&'static Hash),
    /// RSA by PSS, with a salt as long as the digest.
    Pss(&'static Hash),
    /// ECDSA.
    Ecdsa(&'static Hash),
    /// Ed25519.
    Ed25519,
}

impl Scheme {
    /// Return the scheme of an algorithm, if Go accepts it for requests (`getSignatureAlgorithmFromAI`).
    pub(crate) fn of(algorithm: &Algorithm<'_>) -> Option<Self> {
        Some(match algorithm.oid {
            oid::ED25519 if algorithm.parameters.is_empty() => Self::Ed25519,
            oid::RSA_PSS => Self::Pss(pss_digest(algorithm.parameters).ok()?),
            oid::RSA_SHA1 | oid::RSA_SHA1_OLD => Self::Rsa(&digest::SHA1_FOR_LEGACY_USE_ONLY),
            oid::RSA_SHA256 => Self::Rsa(&digest::SHA256),
            oid::RSA_SHA384 => Self::Rsa(&digest::SHA384),
            oid::RSA_SHA512 => Self::Rsa(&digest::SHA512),
            oid::EC_SHA1 => Self::Ecdsa(&digest::SHA1_FOR_LEGACY_USE_ONLY),
            oid::EC_SHA256 => Self::Ecdsa(&digest::SHA256),
            oid::EC_SHA384 => Self::Ecdsa(&digest::SHA384),
            oid::EC_SHA512 => Self::Ecdsa(&digest::SHA512),
            _ => return None,
        })
    }

    /// Verify a signature of some bytes by a key.
    pub(crate) fn verify(self, key: &PublicKey, signed: &[u8], signature: &[u8]) -> bool {
        match (self, key) {
            (Self::Rsa(hash), PublicKey::Rsa(key)) => key.verify(hash, digest(hash, signed).as_ref(), signature),
            (Self::Pss(hash), PublicKey::Rsa(key)) => {
                key.verify_pss(hash, digest(hash, signed).as_ref(), signature, Some(hash.output_len()))
            }
            (Self::Ecdsa(hash), PublicKey::Ecdsa(curve, point)) => verify_ecdsa(curve, point, hash, signed, signature),
            (Self::Ed25519, PublicKey::Ed25519(key)) => verify_ed25519(key, signed, signature),
            _ => false,
        }
    }
}

impl PublicKey {
    /// Report whether a signature proves the possession of the key: of SHA-256 of the text by RSA-PSS or ECDSA, of the
    /// text itself by Ed25519 (`rsa.VerifyPSS`, `ecdsa.VerifyASN1`, `ed25519.Verify`).
    pub fn proves(&self, text: &[u8], signature: &[u8]) -> bool {
        let hash = &ring::digest::SHA256;
        match self {
            Self::Rsa(key) => key.verify_pss(hash, ring::digest::digest(hash, text).as_ref(), signature, None),
            Self::Ecdsa(curve, point) => verify_ecdsa(curve, point, hash, text, signature),
            Self::Ed25519(key) => verify_ed25519(key, text, signature),
            Self::Other => false,
        }
    }
}

fn verify_ed25519(key: &[u8; 32], signed: &[u8], signature: &[u8]) -> bool {
    UnparsedPublicKey::new(&ring_signature::ED25519, key).verify(signed, signature).is_ok()
}

fn verify_ecdsa(curve: &Curve, point: &Point, hash: &'static Hash, signed: &[u8], signature: &[u8]) -> bool {
    let known: Option<&'static dyn VerificationAlgorithm> = match (curve.name, hash.output_len()) {
        ("P-256", 32) => Some(&ring_signature::ECDSA_P256_SHA256_ASN1),
        ("P-256", 48) => Some(&ring_signature::ECDSA_P256_SHA384_ASN1),
        ("P-384", 32) => Some(&ring_signature::ECDSA_P384_SHA256_ASN1),
        ("P-384", 48) => Some(&ring_signature::ECDSA_P384_SHA384_ASN1),
        _ => None,
    };
    if let Some(algorithm) = known {
        return UnparsedPublicKey::new(algorithm, curve.bytes(point)).verify(signed, signature).is_ok();
    }
    let Ok([r, s]) = numbers(signature) else { return false };
    curve.verify(point, digest(hash, signed).as_ref(), &r, &s)
}

/// Read the two numbers of a signature by ECDSA.
fn numbers(signature: &[u8]) -> Result<[BigUint; 2], Malformed> {
    let mut file = Reader::new(signature);
    let mut pair = file.enter(SEQUENCE)?;
    let found = [pair.unsigned_integer()?, pair.unsigned_integer()?].map(BigUint::from_bytes_be);
    if pair.at_end() && file.at_end() { Ok(found) } else { Err(Malformed) }
}

/// Return the digest of the parameters of PSS, which all members have to agree on (`pssParameters`).
fn pss_digest(parameters: &[u8]) -> Result<&'static Hash, Malformed> {
    let mut parts = Reader::new(parameters).enter(SEQUENCE)?;
    let hash = Reader::new(parts.expect(0xA0)?.content).algorithm()?;
    let mask = Reader::new(parts.expect(0xA1)?.content).algorithm()?;
    let of_mask = Reader::new(mask.parameters).algorithm()?;
    let salt = Reader::new(parts.expect(0xA2)?.content).expect(INTEGER)?.content;
    let trailer = parts.optional(0xA3)?.unwrap_or(&[INTEGER, 1, 1]);
    let agree = hash.is_bare() && of_mask.is_bare() && mask.oid == oid::MGF1 && of_mask.oid == hash.oid;
    match (hash.oid, salt) {
        (oid::SHA256, [32]) if agree && trailer == [INTEGER, 1, 1] => Ok(&digest::SHA256),
        (oid::SHA384, [48]) if agree && trailer == [INTEGER, 1, 1] => Ok(&digest::SHA384),
        (oid::SHA512, [64]) if agree && trailer == [INTEGER, 1, 1] => Ok(&digest::SHA512),
        _ => Err(Malformed),
    }
}
