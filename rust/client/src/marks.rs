//! Marks: the numbers of objects and of their writes, as text that is the same in every encoding.
//!
//! Each object has one in an annotation and one in its data. A search for the first byte, which is rare in objects,
//! finds them in any body.

use memchr::memchr;

/// The size of a mark, as in `~m00000123.00000004~`.
pub const SIZE: usize = 20;
const EDGE: u8 = b'~';

/// The place of a mark: the annotation of a seeded object.
pub const SEED: u8 = b'm';
/// The data of a seeded object.
pub const SEED_DATA: u8 = b'd';
/// The annotation of an object that writers change.
pub const CHURN: u8 = b'c';
/// The data of an object that writers change.
pub const CHURN_DATA: u8 = b'e';

/// The number of an object, and of the write that made this state of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mark {
    /// Which object, and which part of it.
    pub place: u8,
    /// The number of the object.
    pub number: u32,
    /// The number of the write.
    pub write: u32,
}

impl std::fmt::Display for Mark {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "~{}{:08}.{:08}~", char::from(self.place), self.number, self.write)
    }
}

fn decimal(bytes: &[u8]) -> Option<u32> {
    bytes.iter().try_fold(0_u32, |n, &c| c.is_ascii_digit().then(|| n * 10 + u32::from(c - b'0')))
}

/// Read the mark that a text begins with.
pub fn read(text: &[u8]) -> Option<Mark> {
    let text: &[u8; SIZE] = text.first_chunk()?;
    if text[0] != EDGE || text[10] != b'.' || text[19] != EDGE {
        return None;
    }
    matches!(text[1], SEED | SEED_DATA | CHURN | CHURN_DATA).then_some(())?;
    Some(Mark { place: text[1], number: decimal(&text[2..10])?, write: decimal(&text[11..19])? })
}

/// The marks of a text that is there as a whole, with the text behind each.
pub fn all(mut text: &[u8]) -> impl Iterator<Item = (Mark, &[u8])> {
    std::iter::from_fn(move || {
        loop {
            text = &text[memchr(EDGE, text)?..];
            if let Some(mark) = read(text) {
                text = &text[SIZE..];
                return Some((mark, text));
            }
            text = &text[1..];
        }
    })
}

/// A search in a text that arrives in pieces.
#[derive(Debug, Default)]
pub struct Scanner {
    kept: [u8; SIZE],
    size: usize,
}

impl Scanner {
    /// Forget the text so far.
    pub fn clear(&mut self) {
        self.size = 0;
    }

    /// Visit each mark that ends in this piece, in order.
    pub fn scan<E>(&mut self, piece: &[u8], mut visit: impl FnMut(Mark) -> Result<(), E>) -> Result<(), E> {
        let mut rest = piece;
        if self.size > 0 {
            let mut joined = [0; 2 * SIZE];
            let (kept, more) = (self.size, piece.len().min(SIZE));
            joined[..kept].copy_from_slice(&self.kept[..kept]);
            joined[kept..kept + more].copy_from_slice(&piece[..more]);
            let joined = &joined[..kept + more];
            self.size = 0;
            let mut at = 0;
            while at < kept {
                let Some(found) = memchr(EDGE, &joined[at..kept]) else {
                    at = kept;
                    break;
                };
                at += found;
                if joined.len() - at < SIZE {
                    self.keep(&joined[at..]);
                    return Ok(());
                }
                match read(&joined[at..]) {
                    Some(mark) => {
                        visit(mark)?;
                        at += SIZE;
                    }
                    None => at += 1,
                }
            }
            rest = &piece[at - kept..];
        }
        while let Some(found) = memchr(EDGE, rest) {
            rest = &rest[found..];
            if rest.len() < SIZE {
                self.keep(rest);
                return Ok(());
            }
            match read(rest) {
                Some(mark) => {
                    visit(mark)?;
                    rest = &rest[SIZE..];
                }
                None => rest = &rest[1..],
            }
        }
        Ok(())
    }

    fn keep(&mut self, start: &[u8]) {
        self.size = start.len();
        self.kept[..self.size].copy_from_slice(start);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn mark(number: u32) -> Mark {
        Mark { place: SEED, number, write: number % 7 }
    }

    #[test]
    fn a_mark_is_read_as_it_is_written() {
        for number in [0, 1, 99_999_999] {
            assert_eq!(read(mark(number).to_string().as_bytes()), Some(mark(number)));
        }
        for bad in ["~m0000012.00000004~x", "~x00000123.00000004~", "~m00000123-00000004~", "~m00000123.00000004", ""] {
            assert_eq!(read(bad.as_bytes()), None, "{bad}");
        }
    }

    proptest! {
        #[test]
        fn pieces_show_the_marks_of_the_whole(
            parts in prop::collection::vec(prop_oneof!["[~m0-9.]{0,30}", (0_u32..50).prop_map(|n| mark(n).to_string())], 0..8),
            sizes in prop::collection::vec(1_usize..30, 1..20),
        ) {
            let text = parts.concat().into_bytes();
            let whole: Vec<Mark> = all(&text).map(|(mark, _)| mark).collect();
            let (mut found, mut scanner, mut rest, mut sizes) = (Vec::new(), Scanner::default(), &text[..], sizes.iter().cycle());
            while !rest.is_empty() {
                let (piece, after) = rest.split_at((*sizes.next().unwrap()).min(rest.len()));
                scanner.scan(piece, |mark| { found.push(mark); Ok::<(), ()>(()) }).unwrap();
                rest = after;
            }
            prop_assert_eq!(found, whole);
        }
    }
}
