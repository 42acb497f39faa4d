//! JSON that is kept as given: members of the type `runtime.RawExtension`.

#![allow(clippy::arithmetic_side_effects, reason = "places and counts are bounded by what is in memory")]
#![allow(clippy::indexing_slicing, reason = "places come from the list that they lead into")]

use std::borrow::Cow;

/// Return the text as Go's encoder passes on the output of a type's own encoder: without white space, HTML characters
/// and line separators escaped (`appendCompact` of `encoding/json`). The text must be JSON.
pub fn compact(text: &str) -> Cow<'_, str> {
    let bytes = text.as_bytes();
    let mut out = Vec::new();
    let (mut start, mut quoted, mut at) = (0, false, 0);
    while let Some(&byte) = bytes.get(at) {
        let instead: Option<(&[u8], usize)> = match byte {
            b'\\' => {
                at += 2;
                continue;
            }
            b'"' => {
                quoted = !quoted;
                None
            }
            b' ' | b'\t' | b'\r' | b'\n' if !quoted => Some((b"", 1)),
            b'<' => Some((b"\\u003c", 1)),
            b'>' => Some((b"\\u003e", 1)),
            b'&' => Some((b"\\u0026", 1)),
            0xe2 => match bytes.get(at + 1..at + 3) {
                Some([0x80, 0xa8]) => Some((b"\\u2028", 3)),
                Some([0x80, 0xa9]) => Some((b"\\u2029", 3)),
                _ => None,
            },
            _ => None,
        };
        match instead {
            Some((written, length)) => {
                out.extend_from_slice(&bytes[start..at]);
                out.extend_from_slice(written);
                at += length;
                start = at;
            }
            None => at += 1,
        }
    }
    if start == 0 {
        return Cow::Borrowed(text);
    }
    out.extend_from_slice(&bytes[start..]);
    // Only whole characters were removed and inserted.
    String::from_utf8(out).map_or(Cow::Borrowed(text), Cow::Owned)
}

#[cfg(test)]
mod tests {
    use std::borrow::Cow;

    use super::compact;

    #[test]
    fn white_space_goes_and_html_is_escaped() {
        let given = "{ \"z\" : 1.50,\n\t\"a b\": \"<b> \\\" & \u{2028}\u{2029}é\u{e000}\", \"z\":[ ] }\r\n";
        let expected = "{\"z\":1.50,\"a b\":\"\\u003cb\\u003e \\\" \\u0026 \\u2028\\u2029é\u{e000}\",\"z\":[]}";
        assert_eq!(compact(given), expected);
        assert!(matches!(compact(expected), Cow::Borrowed(_)));
        assert_eq!(compact(" 1"), "1");
        assert_eq!(compact(""), "");
    }
}
