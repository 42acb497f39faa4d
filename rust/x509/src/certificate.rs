//! Certificates (`x509.ParseCertificate`).

use hydrofoil_types::Timestamp;

use crate::der::{GENERALIZED_TIME, INTEGER, Malformed, Reader, SEQUENCE, UTC_TIME, VERSION};
use crate::extension;
use crate::key::PublicKey;
use crate::name::name;
use crate::oid;

const ISSUER_ID: u8 = 0x81;
const SUBJECT_ID: u8 = 0x82;
const EXTENSIONS: u8 = 0xA3;

/// The parts of a certificate that rules look at.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Certificate {
    /// Whether it may sign others; `None` without basic constraints.
    pub authority: Option<bool>,
    /// Names of hosts among the alternative names.
    pub dns_names: Vec<String>,
    /// Addresses of mail among the alternative names.
    pub emails: Vec<String>,
    /// The first moment of its validity.
    pub not_before: Timestamp,
    /// The last moment of its validity.
    pub not_after: Timestamp,
    /// The key; `None` if its algorithm is unknown.
    pub key: Option<PublicKey>,
}

impl Certificate {
    /// Read a certificate. The contents of rare extensions are not looked at.
    pub fn parse(bytes: &[u8]) -> Result<Self, Malformed> {
        let mut file = Reader::new(bytes);
        let mut outer = file.enter(SEQUENCE)?;
        if !file.at_end() {
            return Err(Malformed);
        }
        let mut tbs = outer.enter(SEQUENCE)?;
        let version = version(&mut tbs)?;
        match tbs.expect(INTEGER)?.content {
            [first, ..] if *first < 0x80 => {}
            _ => return Err(Malformed),
        }
        if tbs.algorithm()? != outer.algorithm()? {
            return Err(Malformed);
        }
        name(&mut tbs)?;
        let mut validity = tbs.enter(SEQUENCE)?;
        let mut found = Self { not_before: time(&mut validity)?, not_after: time(&mut validity)?, ..Self::default() };
        name(&mut tbs)?;
        found.key = PublicKey::read(&mut tbs)?;
        if version > 0 {
            tbs.optional(ISSUER_ID)?;
            tbs.optional(SUBJECT_ID)?;
        }
        if version == 2
            && let Some(list) = tbs.optional(EXTENSIONS)?
        {
            found.extend(list)?;
        }
        outer.bits()?;
        Ok(found)
    }

    fn extend(&mut self, list: &[u8]) -> Result<(), Malformed> {
        let mut seen = Vec::new();
        let mut items = Reader::new(list).enter(SEQUENCE)?;
        while !items.at_end() {
            let (id, critical, value) = extension::extension(&mut items)?;
            if seen.contains(&id) {
                return Err(Malformed);
            }
            seen.push(id);
            match id {
                oid::BASIC_CONSTRAINTS => self.authority = Some(extension::authority(value)?),
                oid::ALTERNATIVE_NAMES => (self.dns_names, self.emails) = extension::alternative_names(value)?,
                _ => extension::other(id, critical, value)?,
            }
        }
        Ok(())
    }
}

/// Read the version, which is 0 for the first.
fn version(tbs: &mut Reader<'_>) -> Result<u8, Malformed> {
    match tbs.optional(VERSION)? {
        None => Ok(0),
        Some(bytes) => match Reader::new(bytes).unsigned_integer()? {
            [] => Ok(0),
            [one @ ..=2] => Ok(*one),
            _ => Err(Malformed),
        },
    }
}

/// Read a moment in UTC; years of two digits are from 1950 to 2049.
fn time(from: &mut Reader<'_>) -> Result<Timestamp, Malformed> {
    let one = from.read()?;
    let text = std::str::from_utf8(one.content).map_err(|_| Malformed)?;
    let digits = text.strip_suffix('Z').filter(|d| d.bytes().all(|b| b.is_ascii_digit())).ok_or(Malformed)?;
    let full = match (one.tag, digits.len()) {
        (UTC_TIME, 12) => format!("{}{digits}", if digits < "5" { "20" } else { "19" }),
        (UTC_TIME, 10) => format!("{}{digits}00", if digits < "5" { "20" } else { "19" }),
        (GENERALIZED_TIME, 14) => digits.to_owned(),
        _ => return Err(Malformed),
    };
    let part = |from: usize, to: usize| full.get(from..to).unwrap_or("");
    let (year, month, day) = (part(0, 4), part(4, 6), part(6, 8));
    let written = format!("{year}-{month}-{day}T{}:{}:{}Z", part(8, 10), part(10, 12), part(12, 14));
    Timestamp::parse(&written).ok_or(Malformed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn years_of_two_digits_have_a_century() {
        let at = |bytes: &[u8]| time(&mut Reader::new(bytes)).map(|t| t.seconds);
        assert_eq!(at(b"\x17\x0D700101000000Z"), Ok(0));
        assert_eq!(at(b"\x17\x0B7001010000Z"), Ok(0));
        assert_eq!(at(b"\x18\x0F19700101000000Z"), Ok(0));
        assert_eq!(at(b"\x17\x0D491231235959Z"), Ok(2_524_607_999));
        assert_eq!(at(b"\x17\x0D501301000000Z"), Err(Malformed));
    }
}
