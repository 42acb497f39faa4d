//! One whole request, in its parts (RFC 9112).

use memchr::memmem;

const LENGTH: &[u8] = b"content-length:";
/// The digits of the longest length: a larger body never arrives in one read.
const DIGITS: usize = 8;
const METHODS: [&str; 5] = ["GET", "POST", "PUT", "PATCH", "DELETE"];

/// A request that arrived whole.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Request<'a> {
    /// The method.
    pub method: &'static str,
    /// Path and query.
    pub target: &'a str,
    /// The header lines in front of that of the length, and behind it, each with its end.
    pub lines: [&'a [u8]; 2],
    /// The length of the body as it was sent; `None` if there is no such line.
    pub length: Option<&'a str>,
    /// The body.
    pub body: &'a [u8],
}

impl Request<'_> {
    /// The header lines without the length, which requests that are alike differ in. The first byte is whether there
    /// was one, so that no request without a length is taken for one with it.
    #[must_use]
    pub fn key(&self) -> Vec<u8> {
        let [front, back] = self.lines;
        let mut key = Vec::with_capacity(1 + front.len() + back.len());
        key.push(u8::from(self.length.is_some()));
        key.extend_from_slice(front);
        key.extend_from_slice(back);
        key
    }
}

/// Cut one whole request into its parts. `None` for anything else: a part of one, more than one, and every request line
/// that needs a closer look, such as one with an escape in its path or another version.
#[must_use]
pub fn split(data: &[u8]) -> Option<Request<'_>> {
    let method = METHODS.into_iter().find(|m| data.starts_with(m.as_bytes()) && data.get(m.len()) == Some(&b' '))?;
    let rest = data.get(method.len() + 1..)?;
    let plain = rest.iter().position(|&byte| !is_plain(byte))?;
    let (target, rest) = rest.split_at_checked(plain)?;
    let target = str::from_utf8(target).ok()?;
    if !target.starts_with('/') || target.split('?').next()?.contains('%') {
        return None;
    }
    let mut rest = rest.strip_prefix(b" HTTP/1.1\r\n")?;
    let (all, mut length) = (rest, None);
    loop {
        let end = memmem::find(rest, b"\r\n")?;
        let (line, next) = rest.split_at_checked(end + 2)?;
        if end == 0 {
            let head = all.get(..all.len() - rest.len())?;
            let (at, size, text) = length.map_or((head.len(), 0, None), |(at, size, text)| (at, size, Some(text)));
            let number = text.map_or(Some(0), |text: &str| text.parse().ok())?;
            let lines = [head.get(..at)?, head.get(at + size..)?];
            return (next.len() == number).then_some(Request { method, target, lines, length: text, body: next });
        }
        if line.get(..LENGTH.len()).is_some_and(|name| name.eq_ignore_ascii_case(LENGTH)) {
            let text = str::from_utf8(line.get(LENGTH.len()..end)?).ok()?.trim_matches([' ', '\t']);
            let digits = !text.is_empty() && text.len() <= DIGITS && text.bytes().all(|b| b.is_ascii_digit());
            if !digits || length.is_some() {
                return None;
            }
            length = Some((all.len() - rest.len(), line.len(), text));
        }
        rest = next;
    }
}

/// Whether a byte of a target is read alike by everybody.
const fn is_plain(byte: u8) -> bool {
    matches!(
        byte,
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'.' | b'_' | b'~' | b'/' | b':' | b'-' | b'?' | b'=' | b'&' | b','
            | b'%' | b'+' | b'!' | b'(' | b')'
    )
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn text(request: &Request<'_>) -> (String, String) {
        let [front, back] = request.lines.map(|lines| String::from_utf8_lossy(lines).into_owned());
        (front, back)
    }

    #[test]
    fn a_request_without_a_body_is_its_head() {
        let request = split(b"GET /api/v1?limit=5 HTTP/1.1\r\nHost: a\r\nAccept: b\r\n\r\n").unwrap();
        assert_eq!((request.method, request.target, request.length), ("GET", "/api/v1?limit=5", None));
        assert_eq!(text(&request), ("Host: a\r\nAccept: b\r\n".into(), String::new()));
        assert_eq!(split(b"DELETE / HTTP/1.1\r\n\r\n").unwrap().lines, [b"", b""]);
    }

    #[test]
    fn the_length_is_not_among_the_lines() {
        let request = split(b"POST /a HTTP/1.1\r\nHost: a\r\ncontent-LENGTH: \t4 \r\nB: c\r\n\r\nbody").unwrap();
        assert_eq!((request.length, request.body), (Some("4"), b"body".as_slice()));
        assert_eq!(text(&request), ("Host: a\r\n".into(), "B: c\r\n".into()));
        let alone = split(b"POST /a HTTP/1.1\r\nHost: a\r\nB: c\r\n\r\n").unwrap();
        assert_ne!(request.key(), alone.key());
        assert_eq!(request.key()[1..], alone.key()[1..]);
    }

    #[test]
    fn what_is_not_one_whole_plain_request_is_left_to_the_parser() {
        let lines: [&[u8]; 15] = [
            b"",
            b"GET /a HTTP/1.1\r\nHost: a\r\n",
            b"GET /a HTTP/1.1\r\nHost: a\r\n\r\nGET",
            b"POST /a HTTP/1.1\r\nContent-Length: 5\r\n\r\nbody",
            b"POST /a HTTP/1.1\r\nContent-Length: 3\r\n\r\nbody",
            b"POST /a HTTP/1.1\r\nContent-Length: 4\r\nContent-Length: 4\r\n\r\nbody",
            b"POST /a HTTP/1.1\r\nContent-Length: +4\r\n\r\nbody",
            b"POST /a HTTP/1.1\r\nContent-Length:\r\n\r\n",
            b"POST /a HTTP/1.1\r\nContent-Length: 000000004\r\n\r\nbody",
            b"GET /a HTTP/1.0\r\n\r\n",
            b"GET /a%2fb HTTP/1.1\r\n\r\n",
            b"GET http://a/ HTTP/1.1\r\n\r\n",
            b"GET /a#b HTTP/1.1\r\n\r\n",
            b"GETS /a HTTP/1.1\r\n\r\n",
            b"CONNECT a:1 HTTP/1.1\r\n\r\n",
        ];
        for data in lines {
            assert_eq!(split(data), None, "{}", String::from_utf8_lossy(data));
        }
    }

    proptest! {
        #[test]
        fn the_parts_of_any_input_are_the_input(data in "(GET|PUT) /[a-z%?=]{0,4} HTTP/1.1\r\n([a-zA-Z-]{1,3}:[ x]{0,3}\r\n|[cC]ontent-length: ?[0-4]\r\n){0,4}\r\n[a-z]{0,4}") {
            if let Some(request) = split(data.as_bytes()) {
                let [front, back] = request.lines;
                let lines: usize = front.len() + back.len();
                prop_assert_eq!(request.length.map_or(0, |text| text.parse().unwrap()), request.body.len());
                prop_assert!(data.as_bytes().ends_with(request.body));
                let line = format!("{} {} HTTP/1.1\r\n", request.method, request.target);
                prop_assert!(data.starts_with(&line));
                let cut = data.len() - line.len() - lines - request.body.len() - 2;
                prop_assert_eq!(cut == 0, request.length.is_none());
                prop_assert!(!back.is_empty() || front.is_empty() || front.ends_with(b"\r\n"));
            }
        }
    }
}
