//! Extensions (`processExtensions`): the common ones of certificates.

use crate::der::{INTEGER, Malformed, OCTET_STRING, Reader, SEQUENCE};
use crate::oid;

/// Return identifier, urgency and content of the next extension (`parseExtension`).
pub(crate) fn extension<'a>(items: &mut Reader<'a>) -> Result<(&'a [u8], bool, &'a [u8]), Malformed> {
    let mut parts = items.enter(SEQUENCE)?;
    Ok((parts.oid()?, parts.flag()?, parts.expect(OCTET_STRING)?.content))
}

/// Return whether the basic constraints are those of an authority (`parseBasicConstraintsExtension`).
pub(crate) fn authority(value: &[u8]) -> Result<bool, Malformed> {
    let mut parts = Reader::new(value).enter(SEQUENCE)?;
    let found = parts.flag()?;
    if parts.sees(INTEGER) && parts.unsigned_integer()?.len() > 7 {
        return Err(Malformed);
    }
    Ok(found)
}

/// Return names of hosts and addresses of mail (`parseSANExtension`).
pub(crate) fn alternative_names(value: &[u8]) -> Result<(Vec<String>, Vec<String>), Malformed> {
    let (mut hosts, mut emails) = (Vec::new(), Vec::new());
    let mut names = Reader::new(value).enter(SEQUENCE)?;
    while !names.at_end() {
        let one = names.read()?;
        match one.tag {
            0x81 => emails.push(ascii(one.content)?),
            0x82 => hosts.push(ascii(one.content)?),
            0x86 => drop(ascii(one.content)?),
            0x87 if !matches!(one.content.len(), 4 | 16) => return Err(Malformed),
            _ => {}
        }
    }
    Ok((hosts, emails))
}

/// Validate another extension, if it is of a common kind.
pub(crate) fn other(id: &[u8], critical: bool, value: &[u8]) -> Result<(), Malformed> {
    let mut file = Reader::new(value);
    match id {
        oid::KEY_USAGE => drop(file.bits()?),
        oid::EXTENDED_KEY_USAGE => {
            let mut usages = file.enter(SEQUENCE)?;
            while !usages.at_end() {
                usages.oid()?;
            }
        }
        oid::SUBJECT_KEY | oid::AUTHORITY_KEY if critical => return Err(Malformed),
        oid::SUBJECT_KEY => drop(file.expect(OCTET_STRING)?),
        oid::AUTHORITY_KEY => drop(file.enter(SEQUENCE)?.optional(0x80)?),
        _ => {}
    }
    Ok(())
}

fn ascii(bytes: &[u8]) -> Result<String, Malformed> {
    let text = std::str::from_utf8(bytes).map_err(|_| Malformed)?;
    if text.is_ascii() { Ok(text.to_owned()) } else { Err(Malformed) }
}
