//! Names of subjects and issuers (`parseName`): their form, and the alphabets of their texts.

use crate::der::{Malformed, Reader, SEQUENCE, SET};

/// Read a name and validate its texts.
pub(crate) fn name(from: &mut Reader<'_>) -> Result<(), Malformed> {
    let mut sets = from.enter(SEQUENCE)?;
    while !sets.at_end() {
        let mut set = sets.enter(SET)?;
        while !set.at_end() {
            let mut attribute = set.enter(SEQUENCE)?;
            attribute.oid()?;
            let value = attribute.read()?;
            if !is_text(value.tag, value.content) {
                return Err(Malformed);
            }
        }
    }
    Ok(())
}

/// `parseASN1String`.
fn is_text(tag: u8, content: &[u8]) -> bool {
    match tag {
        // UTF8String, NumericString, PrintableString, T61String, IA5String, BMPString.
        12 => std::str::from_utf8(content).is_ok(),
        18 => content.iter().all(|b| b.is_ascii_digit() || *b == b' '),
        19 => content.iter().all(|b| b.is_ascii_alphanumeric() || b" '()+,-./:=?*&".contains(b)),
        20 => true,
        22 => content.is_ascii(),
        30 => {
            let (units, rest) = content.as_chunks::<2>();
            rest.is_empty() && units.iter().all(|unit| is_character(u16::from_be_bytes(*unit)))
        }
        _ => false,
    }
}

/// Report whether a unit of UTF-16 is a character by itself.
fn is_character(unit: u16) -> bool {
    !matches!(unit, 0xFFFE | 0xFFFF | 0xFDD0..=0xFDEF | 0xD800..=0xDFFF)
}
