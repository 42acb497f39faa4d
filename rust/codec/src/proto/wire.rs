//! The wire level of protobuf: varints, tags, lengths.

use crate::DecodeError;

pub(super) fn varint(out: &mut Vec<u8>, mut n: u64) {
    while n >= 0x80 {
        out.push((n as u8) | 0x80);
        n >>= 7;
    }
    out.push(n as u8);
}

pub(crate) fn tag(out: &mut Vec<u8>, number: u32, wire: u8) {
    varint(out, u64::from(number) << 3 | u64::from(wire));
}

/// Append a length-delimited field.
pub(crate) fn bytes(out: &mut Vec<u8>, number: u32, data: &[u8]) {
    tag(out, number, 2);
    varint(out, data.len() as u64);
    out.extend_from_slice(data);
}

/// Append a number field.
pub(crate) fn number(out: &mut Vec<u8>, field: u32, n: i64) {
    tag(out, field, 0);
    varint(out, n as u64);
}

/// The value of one field on the wire.
#[derive(Clone, Copy, Debug)]
pub(super) enum Payload<'a> {
    Varint(u64),
    Fixed64(u64),
    Fixed32(u32),
    Bytes(&'a [u8]),
}

/// A reader of the fields of a message.
pub(super) struct Reader<'a> {
    data: &'a [u8],
}

pub(super) fn malformed(what: &str) -> DecodeError {
    DecodeError::Syntax(format!("proto: {what}"))
}

/// Return the error of truncated data, with the message of Go's `io`, not of its protobuf library.
fn ends_early() -> DecodeError {
    DecodeError::Syntax("unexpected EOF".to_owned())
}

impl<'a> Reader<'a> {
    pub(super) fn new(data: &'a [u8]) -> Self {
        Self { data }
    }

    pub(super) fn varint(&mut self) -> Result<u64, DecodeError> {
        let mut n = 0u64;
        for shift in (0..64).step_by(7) {
            let (&byte, rest) = self.data.split_first().ok_or_else(ends_early)?;
            self.data = rest;
            n |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Ok(n);
            }
        }
        Err(malformed("integer overflow"))
    }

    fn take(&mut self, len: usize) -> Result<&'a [u8], DecodeError> {
        if len > self.data.len() {
            return Err(ends_early());
        }
        let (head, rest) = self.data.split_at(len);
        self.data = rest;
        Ok(head)
    }

    /// Return the next field: its number and payload. `None` at the end.
    pub(super) fn field(&mut self) -> Result<Option<(u32, Payload<'a>)>, DecodeError> {
        if self.data.is_empty() {
            return Ok(None);
        }
        let key = self.varint()?;
        let number = u32::try_from(key >> 3).ok().filter(|n| *n > 0).ok_or_else(|| malformed("illegal tag"))?;
        let payload = match key & 7 {
            0 => Payload::Varint(self.varint()?),
            1 => Payload::Fixed64(u64::from_le_bytes(self.take(8)?.try_into().expect("eight bytes were taken"))),
            2 => {
                let len = self.varint()?;
                Payload::Bytes(self.take(usize::try_from(len).map_err(|_| malformed("negative length"))?)?)
            }
            5 => Payload::Fixed32(u32::from_le_bytes(self.take(4)?.try_into().expect("four bytes were taken"))),
            _ => return Err(malformed("illegal wireType")),
        };
        Ok(Some((number, payload)))
    }
}
