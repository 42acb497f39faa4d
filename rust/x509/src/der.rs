//! A reader of DER (X.690), as far as certificates and signing requests need it.

#![allow(clippy::indexing_slicing, clippy::arithmetic_side_effects, reason = "the length was looked at before")]

/// A boolean.
pub const BOOLEAN: u8 = 0x01;
/// An integer.
pub const INTEGER: u8 = 0x02;
/// A string of bits.
pub const BIT_STRING: u8 = 0x03;
/// A string of bytes.
pub const OCTET_STRING: u8 = 0x04;
/// An object identifier.
pub const OID: u8 = 0x06;
/// A time with two digits of the year.
pub const UTC_TIME: u8 = 0x17;
/// A time with four digits of the year.
pub const GENERALIZED_TIME: u8 = 0x18;
/// A sequence.
pub const SEQUENCE: u8 = 0x30;
/// A set.
pub const SET: u8 = 0x31;
/// The version of a certificate.
pub const VERSION: u8 = 0xA0;

/// Bytes that are no DER of the expected form.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Malformed;

/// One value: its tag, its content, and all of its bytes.
#[derive(Debug, Clone, Copy)]
pub struct Value<'a> {
    /// The tag, of one byte.
    pub tag: u8,
    /// The content.
    pub content: &'a [u8],
    /// Tag, length and content.
    pub whole: &'a [u8],
}

/// An algorithm with its parameters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Algorithm<'a> {
    /// The content of its object identifier.
    pub oid: &'a [u8],
    /// The parameters with their tag; empty when absent.
    pub parameters: &'a [u8],
    /// All of it, without tag and length.
    pub whole: &'a [u8],
}

impl Algorithm<'_> {
    /// Report whether the parameters are absent or NULL.
    pub fn is_bare(&self) -> bool {
        matches!(self.parameters, [] | [5, 0])
    }
}

/// A cursor into DER.
#[derive(Debug, Clone, Copy)]
pub struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    /// Return a reader of some bytes.
    pub fn new(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }

    /// Report whether everything was read.
    pub fn at_end(&self) -> bool {
        self.0.is_empty()
    }

    /// Report whether the next value has this tag.
    pub fn sees(&self, tag: u8) -> bool {
        self.0.first() == Some(&tag)
    }

    /// Return the next value of any tag. Tags of several bytes and indefinite or needlessly long lengths are refused.
    pub fn read(&mut self) -> Result<Value<'a>, Malformed> {
        let [tag, first, rest @ ..] = self.0 else { return Err(Malformed) };
        if tag & 0x1F == 0x1F {
            return Err(Malformed);
        }
        let (length, head) = match usize::from(*first) {
            short @ ..=0x7F => (short, 2),
            0x81 if *rest.first().ok_or(Malformed)? >= 0x80 => (usize::from(rest[0]), 3),
            0x82 if *rest.first().ok_or(Malformed)? > 0 => {
                (usize::from(rest[0]) << 8 | usize::from(*rest.get(1).ok_or(Malformed)?), 4)
            }
            0x83 if *rest.first().ok_or(Malformed)? > 0 => {
                let [a, b, c, ..] = rest else { return Err(Malformed) };
                (usize::from(*a) << 16 | usize::from(*b) << 8 | usize::from(*c), 5)
            }
            _ => return Err(Malformed),
        };
        let whole = self.0.get(..head + length).ok_or(Malformed)?;
        self.0 = &self.0[head + length..];
        Ok(Value { tag: *tag, content: &whole[head..], whole })
    }

    /// Return the next value, which must have this tag.
    pub fn expect(&mut self, tag: u8) -> Result<Value<'a>, Malformed> {
        let value = self.read()?;
        if value.tag == tag { Ok(value) } else { Err(Malformed) }
    }

    /// Return a reader of the content of the next value, which must have this tag.
    pub fn enter(&mut self, tag: u8) -> Result<Self, Malformed> {
        Ok(Self(self.expect(tag)?.content))
    }

    /// Return the content of the next value if it has this tag.
    pub fn optional(&mut self, tag: u8) -> Result<Option<&'a [u8]>, Malformed> {
        if self.sees(tag) { Ok(Some(self.read()?.content)) } else { Ok(None) }
    }

    /// Return the next boolean, which is false where it is absent.
    pub fn flag(&mut self) -> Result<bool, Malformed> {
        match self.optional(BOOLEAN)? {
            None | Some([0]) => Ok(false),
            Some([0xFF]) => Ok(true),
            Some(_) => Err(Malformed),
        }
    }

    /// Return the bytes of the next integer, which may not be negative and have no needless zeros.
    pub fn unsigned_integer(&mut self) -> Result<&'a [u8], Malformed> {
        match self.expect(INTEGER)?.content {
            [0] => Ok(&[]),
            [0, rest @ ..] if rest.first().is_some_and(|b| *b >= 0x80) => Ok(rest),
            bytes if bytes.first().is_some_and(|b| (1..0x80).contains(b)) => Ok(bytes),
            _ => Err(Malformed),
        }
    }

    /// Return the next string of bits, aligned to its end (`RightAlign`): unused bits have to be zero.
    pub fn bits(&mut self) -> Result<Vec<u8>, Malformed> {
        let [unused @ 0..=7, bytes @ ..] = self.expect(BIT_STRING)?.content else { return Err(Malformed) };
        let last = *bytes.last().unwrap_or(&u8::from(*unused > 0));
        if last & !(0xFF << unused) != 0 {
            return Err(Malformed);
        }
        let mut before = 0;
        let aligned = bytes.iter().map(|byte| {
            let both = u16::from_be_bytes([before, *byte]);
            before = *byte;
            (both >> unused) as u8
        });
        Ok(aligned.collect())
    }

    /// Return the content of the next object identifier (`ReadASN1ObjectIdentifier`): its numbers have the shortest form
    /// and 31 bits.
    pub fn oid(&mut self) -> Result<&'a [u8], Malformed> {
        let content = self.expect(OID)?.content;
        if content.last().is_none_or(|b| *b >= 0x80) {
            return Err(Malformed);
        }
        for number in content.split_inclusive(|b| *b < 0x80) {
            if number[0] == 0x80 || number.len() > 5 || (number.len() == 5 && number[0] > 0x87) {
                return Err(Malformed);
            }
        }
        Ok(content)
    }

    /// Return the algorithm and its parameters in the next sequence (`parseAI`).
    pub fn algorithm(&mut self) -> Result<Algorithm<'a>, Malformed> {
        let whole = self.expect(SEQUENCE)?.content;
        let mut parts = Self(whole);
        let oid = parts.oid()?;
        let parameters = if parts.at_end() { &[][..] } else { parts.read()?.whole };
        Ok(Algorithm { oid, parameters, whole })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_have_one_form() {
        let long = [&[0x04, 0x82, 0x01, 0x00][..], &[7; 256]].concat();
        assert_eq!(Reader::new(&long).read().unwrap().content.len(), 256);
        for bad in [&[][..], &[0x04], &[0x04, 0x80], &[0x04, 0x81, 0x01, 7], &[0x04, 0x82, 0x00, 0x80], &[0x04, 2, 7]] {
            assert_eq!(Reader::new(bad).read().map(|v| v.tag), Err(Malformed), "{bad:?}");
        }
    }
}
