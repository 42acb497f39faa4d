//! Values by what requests of one client for the objects of one collection have in common.

use std::collections::HashMap;

use crate::heads::LARGEST;
use crate::request::Request;

/// The number of values that are kept: clients choose paths.
pub const MOST_MEMOS: usize = 4096;

/// A value for each combination of a connection's identity, header lines, path up to the name, and query of a GET.
///
/// Keys are compared whole; the hash is keyed, since clients choose them. Lines are looked up first, so that requests for
/// which there is nothing cost no more than that.
#[derive(Debug)]
pub struct Memos<T> {
    by_lines: HashMap<Box<[u8]>, HashMap<Box<[u8]>, T>>,
    size: usize,
}

impl<T> Default for Memos<T> {
    fn default() -> Self {
        Self { by_lines: HashMap::new(), size: 0 }
    }
}

impl<T> Memos<T> {
    /// Return the value for a request with an identity, and the name at the end of its path.
    #[must_use]
    pub fn get<'a>(&self, identity: u64, request: &Request<'a>) -> Option<(&T, &'a str)> {
        let place = Place::of(request).filter(|_| self.size > 0)?;
        let by_place = self.by_lines.get(lines(identity, request).as_slice())?;
        Some((by_place.get(place.key().as_slice())?, place.name))
    }

    /// Keep a value for requests like one, if that is short; return the values that are dropped for it.
    ///
    /// All are dropped together: one in use is back with the next request.
    #[must_use]
    pub fn insert(&mut self, identity: u64, request: &Request<'_>, value: T) -> Vec<T> {
        let (lines, place) = (lines(identity, request), Place::of(request).map(|place| place.key()));
        let Some(place) = place.filter(|place| lines.len() <= LARGEST && place.len() <= LARGEST) else {
            return vec![value];
        };
        let mut dropped = if self.size >= MOST_MEMOS { self.clear() } else { Vec::new() };
        let before = self.by_lines.entry(lines.into_boxed_slice()).or_default().insert(place.into_boxed_slice(), value);
        self.size = self.size.saturating_add(usize::from(before.is_none()));
        dropped.extend(before);
        dropped
    }

    /// Drop and return all values.
    #[must_use]
    pub fn clear(&mut self) -> Vec<T> {
        self.size = 0;
        self.by_lines.drain().flat_map(|(_, by_place)| by_place.into_values()).collect()
    }

    /// Iterate over all values.
    pub fn values(&self) -> impl Iterator<Item = &T> {
        self.by_lines.values().flat_map(HashMap::values)
    }
}

/// Where a GET without a body reads an object.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Place<'a> {
    /// The path up to the last slash.
    above: &'a str,
    /// What follows the first question mark.
    query: &'a str,
    /// What is between them.
    name: &'a str,
}

impl<'a> Place<'a> {
    fn of(request: &Request<'a>) -> Option<Self> {
        if request.method != "GET" || request.length.is_some() {
            return None;
        }
        let (path, query) = request.target.split_once('?').unwrap_or((request.target, ""));
        let (above, name) = path.rsplit_once('/')?;
        (!name.is_empty()).then_some(Self { above, query, name })
    }

    /// All but the name. A path ends in front of the first question mark, so that no two places have the same.
    fn key(&self) -> Vec<u8> {
        [self.above, "?", self.query].concat().into_bytes()
    }
}

/// Return the identity, in bytes of a fixed number, and the header lines behind it.
fn lines(identity: u64, request: &Request<'_>) -> Vec<u8> {
    let [front, back] = request.lines;
    [identity.to_le_bytes().as_slice(), front, back].concat()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::request::split;

    fn head(target: &str, lines: &str) -> Vec<u8> {
        format!("GET {target} HTTP/1.1\r\n{lines}\r\n").into_bytes()
    }

    #[test]
    fn requests_that_differ_in_the_name_share_a_value() {
        let mut memos = Memos::default();
        let (one, other) = (head("/a/b/c?d=e", "A: b\r\n"), head("/a/b/x?d=e", "A: b\r\n"));
        assert!(memos.insert(1, &split(&one).unwrap(), 7).is_empty());
        assert_eq!(memos.get(1, &split(&other).unwrap()), Some((&7, "x")));
        for (identity, target, lines) in [
            (2, "/a/b/x?d=e", "A: b\r\n"),
            (1, "/a/b/x", "A: b\r\n"),
            (1, "/a/b/x?d=f", "A: b\r\n"),
            (1, "/a/b/?d=e", "A: b\r\n"),
            (1, "/a/b/c/x?d=e", "A: b\r\n"),
            (1, "/b/x?d=e", "A: b\r\n"),
            (1, "/a/b/x?d=e", "A: c\r\n"),
            (1, "/a/b/x?d=e", ""),
            (1, "/a/b/x?d=e", "A: b\r\nContent-Length: 0\r\n"),
        ] {
            let data = head(target, lines);
            assert_eq!(memos.get(identity, &split(&data).unwrap()), None, "{target} {lines}");
        }
        let delete = b"DELETE /a/b/x?d=e HTTP/1.1\r\nA: b\r\n\r\n";
        assert_eq!(memos.get(1, &split(delete).unwrap()), None);
        assert_eq!(memos.insert(1, &split(delete).unwrap(), 8), [8]);
        assert_eq!(memos.insert(1, &split(&one).unwrap(), 9), [7]);
        assert_eq!(memos.clear(), [9]);
        assert_eq!(memos.get(1, &split(&one).unwrap()), None);
    }

    #[test]
    fn their_number_and_their_size_are_bounded() {
        let mut memos = Memos::default();
        let mut dropped = 0;
        for number in 0..=MOST_MEMOS {
            let data = head(&format!("/a/{number}/c"), "");
            dropped += memos.insert(1, &split(&data).unwrap(), number).len();
        }
        assert_eq!((memos.values().count(), dropped), (1, MOST_MEMOS));
        let long = head(&format!("/{}/c", "b".repeat(LARGEST)), "");
        assert_eq!(memos.insert(1, &split(&long).unwrap(), 0).len(), 1);
    }

    proptest! {
        #[test]
        fn equal_keys_are_of_requests_that_differ_in_the_name_only(
            one in "GET /[a/?=]{0,6}[bc] HTTP/1.1\r\n([aA]: [/?a]{0,3}\r\n){0,2}\r\n",
            other in "GET /[a/?=]{0,6}[bc] HTTP/1.1\r\n([aA]: [/?a]{0,3}\r\n){0,2}\r\n",
        ) {
            let (one, other) = (split(one.as_bytes()), split(other.as_bytes()));
            let (Some(one), Some(other)) = (one, other) else { return Ok(()) };
            let (Some(here), Some(there)) = (Place::of(&one), Place::of(&other)) else { return Ok(()) };
            let renamed = Place { name: here.name, ..there };
            prop_assert_eq!(here.key() == there.key(), here == renamed);
            prop_assert_eq!(lines(1, &one) == lines(1, &other), one.lines.concat() == other.lines.concat());
        }
    }
}
