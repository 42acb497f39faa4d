//! Values by header lines.

use std::collections::HashMap;

use crate::request::Request;

/// The largest block of header lines that is kept, in bytes.
pub const LARGEST: usize = 4096;

/// The number of blocks that are kept: clients that send another one with each request take no more memory.
pub const MOST: usize = 2048;

/// A value for each block of header lines.
///
/// Blocks are compared whole; the hash is keyed, since clients choose them.
#[derive(Debug)]
pub struct Heads<T> {
    known: HashMap<Box<[u8]>, T>,
}

impl<T> Default for Heads<T> {
    fn default() -> Self {
        Self { known: HashMap::new() }
    }
}

impl<T> Heads<T> {
    /// Return the value for the header lines of a request.
    #[must_use]
    pub fn get(&self, request: &Request<'_>) -> Option<&T> {
        self.known.get(request.key().as_slice())
    }

    /// Keep a value for the header lines of a request, if they are few; return values that are dropped for it.
    ///
    /// All are dropped together: one in use is back with its next request.
    #[must_use]
    pub fn insert(&mut self, request: &Request<'_>, value: T) -> Vec<T> {
        let key = request.key();
        if key.len() > LARGEST {
            return vec![value];
        }
        let mut dropped = Vec::new();
        if self.known.len() >= MOST {
            dropped.extend(self.known.drain().map(|(_, value)| value));
        }
        dropped.extend(self.known.insert(key.into_boxed_slice(), value));
        dropped
    }

    /// Return the number of blocks.
    #[must_use]
    pub fn len(&self) -> usize {
        self.known.len()
    }

    /// Whether there is no block.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.known.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::request::split;

    #[test]
    fn requests_with_the_same_lines_share_a_value() {
        let mut heads = Heads::default();
        let one = split(b"PUT /a HTTP/1.1\r\nA: b\r\nContent-Length: 1\r\n\r\n1").unwrap();
        assert!(heads.is_empty() && heads.get(&one).is_none());
        assert!(heads.insert(&one, 7).is_empty());
        let other = split(b"POST /b HTTP/1.1\r\nContent-Length: 2\r\nA: b\r\n\r\n22").unwrap();
        assert_eq!(heads.get(&other), Some(&7));
        assert_eq!(heads.get(&split(b"PUT /a HTTP/1.1\r\nA: b\r\n\r\n").unwrap()), None);
        assert_eq!(heads.get(&split(b"PUT /a HTTP/1.1\r\nA: c\r\nContent-Length: 1\r\n\r\n1").unwrap()), None);
    }

    #[test]
    fn their_number_and_their_size_are_bounded() {
        let mut heads = Heads::default();
        let mut dropped = 0;
        for number in 0..=MOST {
            let data = format!("GET /a HTTP/1.1\r\nA: {number}\r\n\r\n");
            dropped += heads.insert(&split(data.as_bytes()).unwrap(), number).len();
        }
        assert_eq!((heads.len(), dropped), (1, MOST));
        let long = format!("GET /a HTTP/1.1\r\nA: {}\r\n\r\n", "b".repeat(LARGEST));
        assert_eq!(heads.insert(&split(long.as_bytes()).unwrap(), 0).len(), 1);
        assert_eq!(heads.len(), 1);
    }
}
