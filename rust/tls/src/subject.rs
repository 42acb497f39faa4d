//! The subject of a client's certificate as a user (apiserver `request/x509`).

use std::fmt::Write as _;

use hydrofoil_x509::der::{Malformed, OID, Reader, SEQUENCE, SET};

const COMMON_NAME: &[u8] = &[0x55, 4, 3];
const ORGANIZATION: &[u8] = &[0x55, 4, 10];
/// 1.3.6.1.4.1.57683.2
const USER_UID: &[u8] = &[0x2B, 6, 1, 4, 1, 0x83, 0xC2, 0x53, 2];

/// Name, groups and uid of a user.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Subject {
    /// The common name; the last one if there are several; empty without one.
    pub name: String,
    /// The organizations, in order.
    pub groups: Vec<String>,
    /// The attribute 1.3.6.1.4.1.57683.2, of which there may be one.
    pub uid: String,
}

impl Subject {
    /// Read the content of a name.
    pub(crate) fn read(name: &[u8]) -> Result<Self, String> {
        let mut found = Self::default();
        let mut uids = 0;
        for attribute in attributes(name).map_err(|Malformed| "x509: invalid RDNSequence".to_owned())? {
            let (oid, tag, content) = attribute;
            let value = text(tag, content)?;
            match oid {
                COMMON_NAME => found.name = value,
                ORGANIZATION => found.groups.push(value),
                USER_UID => {
                    uids += 1;
                    found.uid = value;
                }
                _ => {}
            }
        }
        if uids > 1 {
            return Err(format!("expected at most 1 user UID, but found {uids}"));
        }
        if uids == 1 && found.uid.is_empty() {
            return Err("unable to parse an empty user UID".to_owned());
        }
        Ok(found)
    }
}

type Attribute<'a> = (&'a [u8], u8, &'a [u8]);

fn attributes(name: &[u8]) -> Result<Vec<Attribute<'_>>, Malformed> {
    let mut found = Vec::new();
    let mut names = Reader::new(name);
    while !names.at_end() {
        let mut set = names.enter(SET)?;
        while !set.at_end() {
            let mut pair = set.enter(SEQUENCE)?;
            let oid = pair.expect(OID)?.content;
            let value = pair.read()?;
            if !pair.at_end() {
                return Err(Malformed);
            }
            found.push((oid, value.tag, value.content));
        }
    }
    Ok(found)
}

/// The text of a string in one of the types that Go reads (crypto/x509 `parseASN1String`).
fn text(tag: u8, content: &[u8]) -> Result<String, String> {
    let bytes = |good: fn(u8) -> bool, kind: &str| {
        if content.iter().all(|b| good(*b)) {
            Ok(content.iter().map(|b| char::from(*b)).collect())
        } else {
            Err(format!("x509: invalid {kind}"))
        }
    };
    match tag {
        0x0C => String::from_utf8(content.to_vec()).map_err(|_| "x509: invalid UTF-8 string".to_owned()),
        0x12 => bytes(|b| b.is_ascii_digit() || b == b' ', "NumericString"),
        // Go accepts the asterisk and the ampersand as well.
        0x13 => bytes(|b| b.is_ascii_alphanumeric() || b" '()+,-./:=?*&".contains(&b), "PrintableString"),
        0x14 => bytes(|_| true, "T61String"),
        0x16 => bytes(|b| b.is_ascii(), "IA5String"),
        0x1E => {
            let (pairs, rest) = content.as_chunks::<2>();
            let units = pairs.iter().map(|p| u16::from_be_bytes(*p));
            let made: Option<String> = char::decode_utf16(units).map(Result::ok).collect();
            made.filter(|_| rest.is_empty()).ok_or_else(|| "x509: invalid BMPString".to_owned())
        }
        _ => {
            let mut why = "x509: unsupported string type: ".to_owned();
            let _ = write!(why, "{tag}");
            Err(why)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(tag: u8, content: &[u8]) -> Vec<u8> {
        let mut out = vec![tag, u8::try_from(content.len()).unwrap()];
        out.extend(content);
        out
    }

    fn attribute(oid: &[u8], tag: u8, text: &[u8]) -> Vec<u8> {
        value(SET, &value(SEQUENCE, &[value(OID, oid), value(tag, text)].concat()))
    }

    #[test]
    fn groups_keep_their_order_and_the_last_name_counts() {
        let name = [
            attribute(ORGANIZATION, 0x0C, b"blue"),
            attribute(COMMON_NAME, 0x13, b"bob"),
            attribute(ORGANIZATION, 0x13, b"red"),
            attribute(USER_UID, 0x0C, b"u-1"),
            attribute(&[0x55, 4, 11], 0x0C, b"ignored"),
            attribute(COMMON_NAME, 0x1E, &[0, b'Z', 0x00, 0xEB]),
        ];
        let found = Subject::read(&name.concat()).unwrap();
        assert_eq!((found.name.as_str(), found.uid.as_str()), ("Zë", "u-1"));
        assert_eq!(found.groups, ["blue", "red"]);
    }

    #[test]
    fn two_uids_and_strange_texts_are_refused() {
        let twice = attribute(USER_UID, 0x0C, b"a").repeat(2);
        assert_eq!(Subject::read(&twice).unwrap_err(), "expected at most 1 user UID, but found 2");
        assert!(Subject::read(&attribute(COMMON_NAME, 0x0C, &[0xFF])).unwrap_err().contains("UTF-8"));
        assert!(Subject::read(&attribute(COMMON_NAME, 0x13, b"a@b")).unwrap_err().contains("PrintableString"));
        assert!(Subject::read(&attribute(COMMON_NAME, 0x04, b"a")).unwrap_err().contains("unsupported"));
        assert!(Subject::read(&[1, 2, 3]).is_err());
    }
}
