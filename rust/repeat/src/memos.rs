//! Values by what requests of one client for the objects of one collection, or for all of them, have in common.

use std::collections::HashMap;

use crate::heads::LARGEST;
use crate::request::Request;

/// The number of values that are kept: clients choose paths. All may be dropped, and counted, in one turn of the loop.
pub const MOST_MEMOS: usize = 1024;

/// Values by the key of their place.
type ByPlace<T> = HashMap<Box<[u8]>, T>;

/// A value for each combination of a connection's identity, header lines, path, and query of a GET: the path up to the
/// name of an object, or all of it.
///
/// Keys are compared whole; the hash is keyed, since clients choose them. Lines are looked up first, so that requests for
/// which there is nothing cost no more than that.
#[derive(Debug)]
pub struct Memos<T> {
    by_lines: HashMap<Box<[u8]>, ByPlace<T>>,
    size: usize,
}

impl<T> Default for Memos<T> {
    fn default() -> Self {
        Self { by_lines: HashMap::new(), size: 0 }
    }
}

impl<T> Memos<T> {
    /// Return the value for a request with an identity, and the name at the end of its path; no name if the value is for
    /// the whole path.
    #[must_use]
    pub fn get<'a>(&self, identity: u64, request: &Request<'a>) -> Option<(&T, &'a str)> {
        let place = Place::of(request).filter(|_| self.size > 0)?;
        let by_place = self.by_lines.get(lines(identity, request).as_slice())?;
        if let Some(value) = by_place.get(place.key().as_slice()) {
            return Some((value, place.name));
        }
        let whole = Place::whole(request)?;
        Some((by_place.get(whole.key().as_slice())?, whole.name))
    }

    /// Keep a value for requests like one, if that is short; return the values that are dropped for it. `whole`: it is for
    /// requests with the same path.
    ///
    /// All are dropped together: one in use is back with the next request.
    #[must_use]
    pub fn insert(&mut self, identity: u64, request: &Request<'_>, whole: bool, value: T) -> Vec<T> {
        let place = if whole { Place::whole(request) } else { Place::of(request) };
        let (lines, place) = (lines(identity, request), place.map(|place| place.key()));
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
}

/// What a GET without a body reads.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Place<'a> {
    /// The path up to the last slash, or all of it.
    above: &'a str,
    /// What follows the first question mark.
    query: &'a str,
    /// What is between them; empty for the whole path.
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

    fn whole(request: &Request<'a>) -> Option<Self> {
        let place = Self::of(request)?;
        let path = request.target.get(..place.above.len().saturating_add(1).saturating_add(place.name.len()))?;
        Some(Self { above: path, name: "", ..place })
    }

    /// All but the name. A path begins with a slash and ends in front of the first question mark, so that no two places
    /// have the same.
    fn key(&self) -> Vec<u8> {
        let kind = if self.name.is_empty() { "whole " } else { "" };
        [kind, self.above, "?", self.query].concat().into_bytes()
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
        assert!(memos.insert(1, &split(&one).unwrap(), false, 7).is_empty());
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
        assert_eq!(memos.insert(1, &split(delete).unwrap(), false, 8), [8]);
        assert_eq!(memos.insert(1, &split(&one).unwrap(), false, 9), [7]);
        assert_eq!(memos.clear(), [9]);
        assert_eq!(memos.get(1, &split(&one).unwrap()), None);
    }

    #[test]
    fn a_whole_path_is_none_above_a_name() {
        let mut memos = Memos::default();
        let (list, object) = (head("/a/b?c", ""), head("/a/b/x?c", ""));
        assert!(memos.insert(1, &split(&list).unwrap(), true, 1).is_empty());
        assert_eq!(memos.get(1, &split(&list).unwrap()), Some((&1, "")));
        assert_eq!(memos.get(1, &split(&object).unwrap()), None);
        assert!(memos.insert(1, &split(&object).unwrap(), false, 2).is_empty());
        assert_eq!(memos.get(1, &split(&list).unwrap()), Some((&1, "")));
        for target in ["/a/b", "/a/b/?c", "/a/c?c", "/a/b?d"] {
            assert_eq!(memos.get(1, &split(&head(target, "")).unwrap()), None, "{target}");
        }
    }

    #[test]
    fn their_number_and_their_size_are_bounded() {
        let mut memos = Memos::default();
        let mut dropped = 0;
        for number in 0..=MOST_MEMOS {
            let data = head(&format!("/a/{number}/c"), "");
            dropped += memos.insert(1, &split(&data).unwrap(), false, number).len();
        }
        assert_eq!((memos.clear().len(), dropped), (1, MOST_MEMOS));
        let long = head(&format!("/{}/c", "b".repeat(LARGEST)), "");
        assert_eq!(memos.insert(1, &split(&long).unwrap(), false, 0).len(), 1);
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
            let (whole, other_whole) = (Place::whole(&one).unwrap(), Place::whole(&other).unwrap());
            prop_assert_eq!(whole.key() == other_whole.key(), whole == other_whole);
            prop_assert!(whole.key() != there.key() && other_whole.key() != here.key());
            prop_assert_eq!(lines(1, &one) == lines(1, &other), one.lines.concat() == other.lines.concat());
        }
    }
}
