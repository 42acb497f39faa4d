//! Strings in quotes, as Go writes them.

use std::fmt::Write as _;

/// Quote a string as Go's `%q` does.
pub fn quoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len().saturating_add(2));
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\u{7}' => out.push_str("\\a"),
            '\u{8}' => out.push_str("\\b"),
            '\u{c}' => out.push_str("\\f"),
            '\u{b}' => out.push_str("\\v"),
            c if (c as u32) < 0x20 || c as u32 == 0x7f => {
                let _ = write!(out, "\\x{:02x}", c as u32);
            }
            c if !printable(c) => {
                let _ = if c as u32 > 0xffff {
                    write!(out, "\\U{:08x}", c as u32)
                } else {
                    write!(out, "\\u{:04x}", c as u32)
                };
            }
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

/// Format a character as Go's `%#U` does: its number, and itself if it can be printed.
pub fn rune(c: char) -> String {
    let shown = if (c as u32) < 0x20 || c as u32 == 0x7f || !printable(c) { String::new() } else { format!(" '{c}'") };
    format!("U+{:04X}{shown}", c as u32)
}

/// Report whether Go's `unicode.IsPrint` holds for an assigned character: no control, format or non-ASCII space.
fn printable(c: char) -> bool {
    !matches!(
        c as u32,
        0x80..=0xa0
            | 0xad
            | 0x600..=0x605
            | 0x61c
            | 0x6dd
            | 0x70f
            | 0x1680
            | 0x180e
            | 0x2000..=0x200f
            | 0x2028..=0x202f
            | 0x205f..=0x206f
            | 0x3000
            | 0xe000..=0xf8ff
            | 0xfeff
            | 0xfff9..=0xfffb
            | 0xfffe..=0xffff
            | 0xe0000..=0xe0fff
            | 0xf0000..
    )
}

/// Append a string as Go's `json.Marshal` writes it: with HTML characters escaped.
pub fn go_json_string(text: &str, out: &mut String) {
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\u{8}' => out.push_str("\\b"),
            '\u{c}' => out.push_str("\\f"),
            '<' | '>' | '&' | '\u{2028}' | '\u{2029}' | '\0'..='\u{1f}' => {
                let _ = write!(out, "\\u{:04x}", c as u32);
            }
            c => out.push(c),
        }
    }
    out.push('"');
}

#[cfg(test)]
mod tests {
    use super::quoted;

    #[test]
    fn quotes_as_go_does() {
        for (text, wanted) in [
            ("a\"b\\", r#""a\"b\\""#),
            ("\n\t\u{7}\u{1}\u{7f}", r#""\n\t\a\x01\x7f""#),
            ("\u{a0}\u{10ffff}\u{e9}", "\"\\u00a0\\U0010ffff\u{e9}\""),
        ] {
            assert_eq!(quoted(text), wanted);
        }
    }
}
