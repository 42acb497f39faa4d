//! Signing requests (`x509.ParseCertificateRequest`).

use crate::der::{INTEGER, Malformed, Reader, SEQUENCE, SET};
use crate::extension::{alternative_names, extension};
use crate::key::PublicKey;
use crate::name::name;
use crate::{oid, signature};

const ATTRIBUTES: u8 = 0xA0;

/// A signing request (PKCS #10).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request<'a> {
    /// The key; `None` if its algorithm is unknown.
    pub key: Option<PublicKey>,
    signed: &'a [u8],
    scheme: Option<signature::Scheme>,
    signature: Vec<u8>,
}

impl<'a> Request<'a> {
    /// Read a request with nothing behind it.
    pub fn parse(bytes: &'a [u8]) -> Result<Self, Malformed> {
        let mut file = Reader::new(bytes);
        let mut outer = file.enter(SEQUENCE)?;
        if !file.at_end() {
            return Err(Malformed);
        }
        let signed = outer.expect(SEQUENCE)?;
        let mut info = Reader::new(signed.content);
        info.expect(INTEGER)?;
        name(&mut info)?;
        let key = PublicKey::read(&mut info)?;
        attributes(info.expect(ATTRIBUTES)?.content)?;
        let scheme = signature::Scheme::of(&outer.algorithm()?);
        Ok(Self { key, signed: signed.whole, scheme, signature: outer.bits()? })
    }

    /// Report whether the request is signed by its own key (`CheckSignature`).
    pub fn is_signed(&self) -> bool {
        let (Some(key), Some(scheme)) = (&self.key, &self.scheme) else { return false };
        scheme.verify(key, self.signed, &self.signature)
    }
}

/// Validate the alternative names among requested extensions (`parseCSRExtensions`); other attributes are skipped.
fn attributes(bytes: &[u8]) -> Result<(), Malformed> {
    let mut list = Reader::new(bytes);
    let mut seen = Vec::new();
    while !list.at_end() {
        let Ok(Some(values)) = requested_extensions(list.read()?.whole) else { continue };
        let mut items = Reader::new(values).enter(SEQUENCE)?;
        while !items.at_end() {
            let (id, _, value) = extension(&mut items)?;
            if seen.contains(&id) {
                return Err(Malformed);
            }
            seen.push(id);
            if id == oid::ALTERNATIVE_NAMES {
                alternative_names(value)?;
            }
        }
    }
    Ok(())
}

/// Return the values of an attribute that requests extensions, if there are any.
fn requested_extensions(attribute: &[u8]) -> Result<Option<&[u8]>, Malformed> {
    let mut parts = Reader::new(attribute).enter(SEQUENCE)?;
    let is_request = parts.oid()? == oid::EXTENSION_REQUEST;
    let values = parts.expect(SET)?.content;
    Ok((is_request && !values.is_empty()).then_some(values))
}
