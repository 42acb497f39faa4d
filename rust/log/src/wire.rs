//! Numbers and texts in records: numbers of 7 bits a byte, least first; texts have their length in front.

/// Append a number.
pub(crate) fn number(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

/// Append bytes.
pub(crate) fn bytes(out: &mut Vec<u8>, value: &[u8]) {
    number(out, value.len() as u64);
    out.extend_from_slice(value);
}

/// The bytes that are still to be read; every method returns `None` if they are not as expected.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reader<'a>(pub(crate) &'a [u8]);

impl<'a> Reader<'a> {
    pub(crate) fn byte(&mut self) -> Option<u8> {
        let (first, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(*first)
    }

    pub(crate) fn number(&mut self) -> Option<u64> {
        let mut value = 0_u64;
        for shift in (0..u64::BITS).step_by(7) {
            let byte = self.byte()?;
            value |= u64::from(byte & 0x7f).checked_shl(shift)?;
            if byte < 0x80 {
                return Some(value);
            }
        }
        None
    }

    /// Return a digest of 32 bytes.
    pub(crate) fn digest(&mut self) -> Option<[u8; 32]> {
        let (first, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(*first)
    }

    /// Return a number that counts something in the bytes that follow.
    pub(crate) fn size(&mut self) -> Option<usize> {
        usize::try_from(self.number()?).ok().filter(|size| *size <= self.0.len())
    }

    pub(crate) fn bytes(&mut self) -> Option<&'a [u8]> {
        let size = self.size()?;
        let (first, rest) = self.0.split_at_checked(size)?;
        self.0 = rest;
        Some(first)
    }

    pub(crate) fn text(&mut self) -> Option<&'a str> {
        str::from_utf8(self.bytes()?).ok()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{Reader, bytes, number};

    proptest! {
        #[test]
        fn it_is_read_as_it_was_written(values in prop::collection::vec(any::<u64>(), 0..8), text in ".{0,300}") {
            let mut out = Vec::new();
            for value in &values {
                number(&mut out, *value);
            }
            bytes(&mut out, text.as_bytes());
            let mut reader = Reader(&out);
            for value in values {
                prop_assert_eq!(reader.number(), Some(value));
            }
            prop_assert_eq!(reader.text(), Some(text.as_str()));
            prop_assert!(reader.0.is_empty());
        }

        #[test]
        fn arbitrary_bytes_are_read_or_refused(data in prop::collection::vec(any::<u8>(), 0..40)) {
            let mut reader = Reader(&data);
            while reader.number().is_some() {}
            let _ = reader.text();
        }
    }
}
