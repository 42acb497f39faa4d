//! A reader of DER (X.690), as far as the names and the outer form of certificates need it.

pub(crate) const INTEGER: u8 = 0x02;
pub(crate) const BIT_STRING: u8 = 0x03;
pub(crate) const OID: u8 = 0x06;
pub(crate) const UTC_TIME: u8 = 0x17;
pub(crate) const GENERALIZED_TIME: u8 = 0x18;
pub(crate) const SEQUENCE: u8 = 0x30;
pub(crate) const SET: u8 = 0x31;
pub(crate) const VERSION: u8 = 0xA0;

/// Bytes that are no DER of the expected form.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Malformed;

/// One value: its tag, its content, and all of its bytes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Value<'a> {
    pub(crate) tag: u8,
    pub(crate) content: &'a [u8],
    pub(crate) whole: &'a [u8],
}

/// A cursor into DER.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }

    pub(crate) fn at_end(&self) -> bool {
        self.0.is_empty()
    }

    /// Report whether the next value has this tag.
    pub(crate) fn sees(&self, tag: u8) -> bool {
        self.0.first() == Some(&tag)
    }

    /// The next value of any tag. Tags of several bytes and indefinite or needlessly long lengths are refused.
    pub(crate) fn next(&mut self) -> Result<Value<'a>, Malformed> {
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

    /// The next value, which must have this tag.
    pub(crate) fn expect(&mut self, tag: u8) -> Result<Value<'a>, Malformed> {
        let value = self.next()?;
        if value.tag == tag { Ok(value) } else { Err(Malformed) }
    }

    /// A reader of the content of the next value, which must have this tag.
    pub(crate) fn enter(&mut self, tag: u8) -> Result<Self, Malformed> {
        Ok(Self(self.expect(tag)?.content))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_have_one_form() {
        let long = [&[0x04, 0x82, 0x01, 0x00][..], &[7; 256]].concat();
        assert_eq!(Reader::new(&long).next().unwrap().content.len(), 256);
        for bad in [&[][..], &[0x04], &[0x04, 0x80], &[0x04, 0x81, 0x01, 7], &[0x04, 0x82, 0x00, 0x80], &[0x04, 2, 7]] {
            assert_eq!(Reader::new(bad).next().map(|v| v.tag), Err(Malformed), "{bad:?}");
        }
    }
}
