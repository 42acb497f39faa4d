//! Public keys (`x509.ParsePKIXPublicKey`).

use num_bigint::BigUint;

use crate::curve::{Curve, Point};
use crate::der::{Malformed, Reader, SEQUENCE};
use crate::{oid, rsa};

/// A public key of a known algorithm.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PublicKey {
    /// RSA: modulus and exponent.
    Rsa(rsa::Key),
    /// ECDSA: the curve and a point on it.
    Ecdsa(&'static Curve, Point),
    /// Ed25519.
    Ed25519([u8; 32]),
    /// A known algorithm whose signatures are not verified: DSA, X25519.
    Other,
}

impl PublicKey {
    /// Read a key with nothing behind it.
    pub fn parse(bytes: &[u8]) -> Result<Self, Malformed> {
        let mut file = Reader::new(bytes);
        let key = Self::read(&mut file)?.ok_or(Malformed)?;
        if file.at_end() { Ok(key) } else { Err(Malformed) }
    }

    /// Read the key of a certificate or request; `None` if its algorithm is unknown.
    pub(crate) fn read(from: &mut Reader<'_>) -> Result<Option<Self>, Malformed> {
        let mut info = from.enter(SEQUENCE)?;
        let algorithm = info.algorithm()?;
        let bytes = info.bits()?;
        Ok(Some(match algorithm.oid {
            oid::RSA if algorithm.parameters == [5, 0] => {
                let mut parts = Reader::new(&bytes).enter(SEQUENCE)?;
                let (modulus, exponent) = (parts.unsigned_integer()?, parts.unsigned_integer()?);
                if modulus.is_empty() || exponent.is_empty() || exponent.len() > 8 {
                    return Err(Malformed);
                }
                let [modulus, exponent] = [modulus, exponent].map(BigUint::from_bytes_be);
                Self::Rsa(rsa::Key { modulus, exponent })
            }
            oid::EC => {
                let name = Reader::new(algorithm.parameters).oid()?;
                let curve = Curve::by_oid(name).ok_or(Malformed)?;
                Self::Ecdsa(curve, curve.point(&bytes).ok_or(Malformed)?)
            }
            oid::ED25519 if algorithm.parameters.is_empty() => Self::Ed25519(bytes.try_into().map_err(|_| Malformed)?),
            oid::X25519 if algorithm.parameters.is_empty() && bytes.len() == 32 => Self::Other,
            oid::DSA => {
                let mut numbers = Reader::new(algorithm.parameters).enter(SEQUENCE)?;
                let all = [
                    Reader::new(&bytes).unsigned_integer()?,
                    numbers.unsigned_integer()?,
                    numbers.unsigned_integer()?,
                    numbers.unsigned_integer()?,
                ];
                if all.iter().any(|n| n.is_empty()) {
                    return Err(Malformed);
                }
                Self::Other
            }
            oid::RSA | oid::ED25519 | oid::X25519 => return Err(Malformed),
            _ => return Ok(None),
        }))
    }
}
