//! Signatures by RSA (RFC 8017), whose salts may have any length, as in Go.

#![allow(clippy::arithmetic_side_effects, reason = "lengths of a few kilobytes")]

use num_bigint::BigUint;
use ring::digest::{self, Algorithm, digest};

/// A public key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Key {
    pub(crate) modulus: BigUint,
    pub(crate) exponent: BigUint,
}

impl Key {
    /// Return the size of the modulus in whole bytes.
    pub fn bytes(&self) -> usize {
        self.modulus.bits().div_ceil(8) as usize
    }

    /// Return the number that was signed, with all of its bytes; `None` for keys and signatures that Go refuses (`checkPublicKey`).
    fn open(&self, signature: &[u8]) -> Option<Vec<u8>> {
        let size = self.bytes();
        let (low, high) = (BigUint::from(2_u8), BigUint::from(0x7FFF_FFFF_u32));
        let number = BigUint::from_bytes_be(signature);
        let exponent = (low..=high).contains(&self.exponent) && self.exponent.bit(0);
        if self.modulus.bits() < 1024 || size > 2048 || !self.modulus.bit(0) || !exponent {
            return None;
        }
        if signature.len() != size || number >= self.modulus {
            return None;
        }
        let digits = number.modpow(&self.exponent, &self.modulus).to_bytes_be();
        let mut out = vec![0; size.saturating_sub(digits.len())];
        out.extend_from_slice(&digits);
        Some(out)
    }

    /// Verify a signature of a digest by PKCS #1 v1.5 (`rsa.VerifyPKCS1v15`).
    pub(crate) fn verify(&self, hash: &'static Algorithm, digest: &[u8], signature: &[u8]) -> bool {
        let Some(prefix) = prefix(hash) else { return false };
        let size = self.bytes();
        let Some(padding) = size.checked_sub(prefix.len() + digest.len() + 3).filter(|n| *n >= 8) else {
            return false;
        };
        let mut expected = vec![0, 1];
        expected.resize(2 + padding, 0xFF);
        expected.push(0);
        expected.extend_from_slice(prefix);
        expected.extend_from_slice(digest);
        self.open(signature) == Some(expected)
    }

    /// Verify a signature of a digest by PSS (`emsaPSSVerify`); without a length the salt may have any.
    pub(crate) fn verify_pss(
        &self,
        hash: &'static Algorithm,
        digest_: &[u8],
        signature: &[u8],
        salt: Option<usize>,
    ) -> bool {
        self.check_pss(hash, digest_, signature, salt).unwrap_or(false)
    }

    fn check_pss(
        &self,
        hash: &'static Algorithm,
        message: &[u8],
        signature: &[u8],
        length: Option<usize>,
    ) -> Option<bool> {
        let opened = self.open(signature)?;
        let bits = self.modulus.bits() - 1;
        // A modulus of 8n + 1 bits leaves its first byte to the number alone.
        let encoded = match opened.split_first()? {
            (0, rest) if bits.is_multiple_of(8) => rest,
            _ if bits.is_multiple_of(8) => return None,
            _ => &opened,
        };
        let (data, tail) = encoded.split_at_checked(encoded.len().checked_sub(hash.output_len() + 1)?)?;
        let (seal, [0xBC]) = tail.split_at_checked(hash.output_len())? else { return None };
        let unused = 8 * encoded.len() as u64 - bits;
        let keep = 0xFF_u8 >> unused;
        if data.first()? & !keep != 0 {
            return None;
        }
        let mut open: Vec<u8> = data.iter().zip(mask(hash, seal, data.len())).map(|(a, b)| a ^ b).collect();
        *open.first_mut()? &= keep;
        let one = open.iter().position(|b| *b != 0)?;
        let (1, salt) = open.get(one..)?.split_first()? else { return None };
        if length.is_some_and(|wanted| wanted != salt.len()) {
            return None;
        }
        let again = [&[0; 8], message, salt].concat();
        Some(digest(hash, &again).as_ref() == seal)
    }
}

/// `mgf1XOR`: the mask of a seed.
fn mask(hash: &'static Algorithm, seed: &[u8], length: usize) -> Vec<u8> {
    let mut out = Vec::with_capacity(length + hash.output_len());
    for counter in 0_u32.. {
        if out.len() >= length {
            break;
        }
        out.extend_from_slice(digest(hash, &[seed, &counter.to_be_bytes()].concat()).as_ref());
    }
    out
}

/// Return the bytes before the digest of a signature: the DER of its algorithm.
fn prefix(hash: &'static Algorithm) -> Option<&'static [u8]> {
    const SHA1: &[u8] = b"\x30\x21\x30\x09\x06\x05\x2B\x0E\x03\x02\x1A\x05\x00\x04\x14";
    const SHA256: &[u8] = b"\x30\x31\x30\x0D\x06\x09\x60\x86\x48\x01\x65\x03\x04\x02\x01\x05\x00\x04\x20";
    const SHA384: &[u8] = b"\x30\x41\x30\x0D\x06\x09\x60\x86\x48\x01\x65\x03\x04\x02\x02\x05\x00\x04\x30";
    const SHA512: &[u8] = b"\x30\x51\x30\x0D\x06\x09\x60\x86\x48\x01\x65\x03\x04\x02\x03\x05\x00\x04\x40";
    let known = [
        (&digest::SHA1_FOR_LEGACY_USE_ONLY, SHA1),
        (&digest::SHA256, SHA256),
        (&digest::SHA384, SHA384),
        (&digest::SHA512, SHA512),
    ];
    known.into_iter().find(|(own, _)| *own == hash).map(|(_, prefix)| prefix)
}
