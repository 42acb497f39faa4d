//! The characters of a document, as upstream's reader takes them (go.yaml.in/yaml/v2 `readerc.go`).

#![allow(clippy::arithmetic_side_effects, reason = "places in a body are bounded by its bytes")]
#![allow(clippy::indexing_slicing, reason = "windows never pass the end of the body")]

use std::borrow::Cow;

/// The bytes that upstream reads and checks at once: an error in them precedes what is wrong in the tokens before.
const WINDOW: usize = 512;
const CONTROL: &str = "control characters are not allowed";

/// A text without its byte order mark.
pub(super) struct Source<'a> {
    pub text: Cow<'a, str>,
    /// The error of the bytes after the text, met by a scanner that needs more characters than there are.
    pub fault: Option<&'static str>,
}

#[derive(Clone, Copy)]
enum Encoding {
    Utf8,
    Utf16(fn([u8; 2]) -> u16),
}

impl<'a> Source<'a> {
    pub fn of(bytes: &'a [u8]) -> Self {
        let (encoding, mark) = match bytes {
            [0xff, 0xfe, ..] => (Encoding::Utf16(u16::from_le_bytes), 2),
            [0xfe, 0xff, ..] => (Encoding::Utf16(u16::from_be_bytes), 2),
            [0xef, 0xbb, 0xbf, ..] => (Encoding::Utf8, 3),
            _ => (Encoding::Utf8, 0),
        };
        if matches!(encoding, Encoding::Utf8)
            && let Ok(text) = std::str::from_utf8(&bytes[mark..])
            && is_clean(text)
        {
            return Self { text: Cow::Borrowed(text), fault: None };
        }
        let (text, fault) = windows(bytes, mark, encoding);
        Self { text: Cow::Owned(text), fault }
    }
}

fn is_clean(text: &str) -> bool {
    let plain = |byte: u8| matches!(byte, b' '..=b'~' | b'\n' | b'\t' | b'\r');
    text.bytes().all(plain) || text.chars().all(is_allowed)
}

fn is_allowed(c: char) -> bool {
    matches!(c, '\t' | '\n' | '\r' | ' '..='~' | '\u{85}' | '\u{a0}'..='\u{fffd}' | '\u{10000}'..)
}

/// Decode window by window; return the characters before the window that has an error.
fn windows(bytes: &[u8], mark: usize, encoding: Encoding) -> (String, Option<&'static str>) {
    let mut out = String::with_capacity(bytes.len());
    let (mut at, mut end) = (mark, bytes.len().min(WINDOW));
    loop {
        let before = out.len();
        while at < end {
            match character(&bytes[at..end], encoding) {
                Ok((c, width)) if is_allowed(c) => {
                    out.push(c);
                    at += width;
                }
                Ok(_) => return cut(out, before, CONTROL),
                Err(Broken::Wrong(what)) => return cut(out, before, what),
                Err(Broken::Short(what)) if end == bytes.len() => return (out, Some(what)),
                Err(Broken::Short(_)) => break,
            }
        }
        if at == bytes.len() {
            return (out, None);
        }
        end = bytes.len().min(at + WINDOW);
    }
}

fn cut(mut out: String, length: usize, what: &'static str) -> (String, Option<&'static str>) {
    out.truncate(length);
    (out, Some(what))
}

enum Broken {
    /// The character continues behind the window.
    Short(&'static str),
    Wrong(&'static str),
}

fn character(bytes: &[u8], encoding: Encoding) -> Result<(char, usize), Broken> {
    match encoding {
        Encoding::Utf8 => utf8(bytes),
        Encoding::Utf16(unit) => utf16(bytes, unit),
    }
}

fn utf8(bytes: &[u8]) -> Result<(char, usize), Broken> {
    let first = bytes[0];
    let (width, least) = match first {
        0..=0x7f => return Ok((char::from(first), 1)),
        0xc0..=0xdf => (2, 0x80),
        0xe0..=0xef => (3, 0x800),
        0xf0..=0xf7 => (4, 0x1_0000),
        _ => return Err(Broken::Wrong("invalid leading UTF-8 octet")),
    };
    let Some(rest) = bytes.get(1..width) else { return Err(Broken::Short("incomplete UTF-8 octet sequence")) };
    let mut code = u32::from(first) & (0x7f >> width);
    for byte in rest {
        if byte & 0xc0 != 0x80 {
            return Err(Broken::Wrong("invalid trailing UTF-8 octet"));
        }
        code = code << 6 | u32::from(byte & 0x3f);
    }
    if code < least {
        return Err(Broken::Wrong("invalid length of a UTF-8 sequence"));
    }
    char::from_u32(code).map(|c| (c, width)).ok_or(Broken::Wrong("invalid Unicode character"))
}

fn utf16(bytes: &[u8], unit: fn([u8; 2]) -> u16) -> Result<(char, usize), Broken> {
    let at = |from: usize| bytes.get(from..)?.first_chunk::<2>().map(|pair| u32::from(unit(*pair)));
    let Some(high) = at(0) else { return Err(Broken::Short("incomplete UTF-16 character")) };
    match high {
        0xdc00..=0xdfff => Err(Broken::Wrong("unexpected low surrogate area")),
        0xd800..=0xdbff => match at(2) {
            None => Err(Broken::Short("incomplete UTF-16 surrogate pair")),
            Some(low @ 0xdc00..=0xdfff) => {
                let code = 0x1_0000 + ((high & 0x3ff) << 10) + (low & 0x3ff);
                Ok((char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER), 4))
            }
            Some(_) => Err(Broken::Wrong("expected low surrogate area")),
        },
        _ => Ok((char::from_u32(high).unwrap_or(char::REPLACEMENT_CHARACTER), 2)),
    }
}

#[cfg(test)]
mod tests {
    use super::Source;

    #[test]
    fn marks_are_no_part_of_the_text() {
        for bytes in [&b"\xef\xbb\xbfa"[..], b"\xff\xfea\0", b"\xfe\xff\0a", b"a"] {
            let source = Source::of(bytes);
            assert_eq!((&*source.text, source.fault), ("a", None));
        }
        assert_eq!(Source::of(b"\xff\xfe\x3d\xd8\x00\xde").text, "\u{1f600}");
    }

    #[test]
    fn what_is_no_character_ends_the_window_before() {
        for (bytes, fault) in [
            (&b"a\x01"[..], "control characters are not allowed"),
            (b"a\x7f", "control characters are not allowed"),
            (b"a\xc2\x80", "control characters are not allowed"),
            (b"a\xff", "invalid leading UTF-8 octet"),
            (b"a\xc3(", "invalid trailing UTF-8 octet"),
            (b"a\xc0\x80", "invalid length of a UTF-8 sequence"),
            (b"a\xed\xa0\x80", "invalid Unicode character"),
            (b"\xff\xfe\x00\xdc", "unexpected low surrogate area"),
        ] {
            let source = Source::of(bytes);
            assert_eq!((&*source.text, source.fault), ("", Some(fault)));
        }
        let source = Source::of(b"a\xc3");
        assert_eq!((&*source.text, source.fault), ("a", Some("incomplete UTF-8 octet sequence")));
        let far = [vec![b'a'; 600], vec![1]].concat();
        assert_eq!(Source::of(&far).text.len(), 512);
    }
}
