//! Groups: the records that are written, and become durable, together.
//!
//! A group has a header and a body behind it, with one checksum over both: an incomplete group is not valid. A header
//! also has the number of the last group that was durable when it was written. A group without records follows each
//! group once that is durable, so that a damaged group is distinguished from one that was never completed.

use std::time::Duration;

use memchr::memmem;

const MAGIC: [u8; 4] = *b"HFlg";
/// The length of a header.
pub(crate) const HEADER: usize = 40;

/// The purpose of a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Kind {
    /// Changes of objects; without any, it shows that the group before it is durable.
    Changes = 1,
    /// The beginning of a state: its properties.
    Head = 2,
    /// Objects of a state.
    Objects = 3,
    /// The end of a state: the number of its objects.
    End = 4,
}

impl Kind {
    fn of(byte: u8) -> Option<Self> {
        [Self::Changes, Self::Head, Self::Objects, Self::End].into_iter().find(|kind| *kind as u8 == byte)
    }
}

/// The properties of a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Mark {
    pub(crate) kind: Kind,
    /// The number of the group; each is one higher than the one before it.
    pub(crate) number: u64,
    /// The number of the last group that was durable when this one was written.
    pub(crate) durable: u64,
    /// How long the state had been served for.
    pub(crate) at: Duration,
}

/// A valid group.
#[derive(Debug)]
pub(crate) struct Group<'a> {
    pub(crate) mark: Mark,
    pub(crate) body: &'a [u8],
}

/// Fill the header in front of a body: `out` begins with space for it.
pub(crate) fn seal(out: &mut [u8], mark: Mark) {
    let length = u32::try_from(out.len().saturating_sub(HEADER)).expect("groups are small");
    let (header, body) = out.split_at_mut(HEADER);
    let mut fill = |from: usize, bytes: &[u8]| {
        for (to, byte) in header.iter_mut().skip(from).zip(bytes) {
            *to = *byte;
        }
    };
    fill(0, &MAGIC);
    fill(4, &[mark.kind as u8, 0, 0, 0]);
    fill(8, &length.to_le_bytes());
    fill(16, &mark.number.to_le_bytes());
    fill(24, &mark.durable.to_le_bytes());
    fill(32, &u64::try_from(mark.at.as_millis()).unwrap_or(u64::MAX).to_le_bytes());
    let sum = checksum(header, body);
    for (to, byte) in header.iter_mut().skip(12).zip(sum.to_le_bytes()) {
        *to = byte;
    }
}

fn checksum(header: &[u8], body: &[u8]) -> u32 {
    let mut hasher = crc32fast::Hasher::new();
    header.get(..12).into_iter().chain(header.get(16..)).for_each(|part| hasher.update(part));
    hasher.update(body);
    hasher.finalize()
}

/// Return the length of the body that a header states.
pub(crate) fn length(header: &[u8]) -> Option<usize> {
    let bytes = header.get(8..)?.first_chunk::<4>()?;
    usize::try_from(u32::from_le_bytes(*bytes)).ok()
}

/// Read the group at the beginning of bytes; `None` if there is no valid one.
pub(crate) fn read(bytes: &[u8]) -> Option<Group<'_>> {
    let (header, rest) = bytes.split_at_checked(HEADER)?;
    let four = |at: usize| header.get(at..)?.first_chunk::<4>().copied();
    let number = |at: usize| Some(u64::from_le_bytes(*header.get(at..)?.first_chunk::<8>()?));
    if four(0)? != MAGIC {
        return None;
    }
    let kind = Kind::of(*header.get(4)?)?;
    let body = rest.get(..length(header)?)?;
    if checksum(header, body) != u32::from_le_bytes(four(12)?) {
        return None;
    }
    let mark = Mark { kind, number: number(16)?, durable: number(24)?, at: Duration::from_millis(number(32)?) };
    Some(Group { mark, body })
}

/// Return every valid group in bytes whose groups are damaged: the numbers of the last one, and of the last that was
/// durable as any of them shows.
pub(crate) fn remains(bytes: &[u8]) -> impl Iterator<Item = Mark> {
    memmem::find_iter(bytes, &MAGIC).filter_map(|at| Some(read(bytes.get(at..)?)?.mark))
}

#[cfg(test)]
#[allow(clippy::indexing_slicing, reason = "they cut bytes that they made")]
mod tests {
    use std::time::Duration;

    use proptest::prelude::*;

    use super::{HEADER, Kind, Mark, read, remains, seal};

    const MARK: Mark = Mark { kind: Kind::Changes, number: 7, durable: 6, at: Duration::from_millis(1234) };

    fn group(body: &[u8]) -> Vec<u8> {
        let mut out = vec![0; HEADER];
        out.extend_from_slice(body);
        seal(&mut out, MARK);
        out
    }

    #[test]
    fn it_is_read_as_it_was_sealed() {
        let mut bytes = group(b"body");
        bytes.extend_from_slice(b"rest");
        let found = read(&bytes).expect("it is valid");
        assert_eq!((found.mark, found.body), (MARK, &b"body"[..]));
        let behind = [b"damaged".to_vec(), group(b"x"), vec![0; 9]].concat();
        assert!(read(&behind).is_none());
        assert_eq!(remains(&behind).collect::<Vec<_>>(), [MARK]);
    }

    proptest! {
        #[test]
        fn a_changed_bit_is_found(at in any::<prop::sample::Index>(), bit in 0u8..8) {
            let mut bytes = group(b"the body of it");
            let at = at.index(bytes.len());
            bytes[at] ^= 1 << bit;
            // The three bytes behind the kind are covered by the checksum, too.
            prop_assert!(read(&bytes).is_none());
        }

        #[test]
        fn a_part_is_no_group(length in 0usize..54) {
            prop_assert!(read(&group(b"the body of it")[..length]).is_none());
        }
    }
}
