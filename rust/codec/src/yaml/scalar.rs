//! The style of a string: plain, quoted or as a block, and the places of its folds (go-yaml v2, `encode.go`,
//! `emitterc.go`).

#![allow(clippy::arithmetic_side_effects, reason = "places in a body and depths are bounded by its bytes")]
#![allow(clippy::string_slice, reason = "it is cut at characters of ASCII that were found there")]

use std::fmt::Write as _;

use super::plain::{means_otherwise, word};

/// Lines are folded at the first space beyond this column.
const WIDTH: usize = 80;

/// The styles that can represent a string.
struct Allowed {
    plain: bool,
    single: bool,
    block: bool,
}

fn is_break(c: char) -> bool {
    matches!(c, '\n' | '\r' | '\u{85}' | '\u{2028}' | '\u{2029}')
}

/// Report whether go-yaml prints a character; those beyond the basic plane are escaped.
fn is_printable(c: char) -> bool {
    matches!(c, '\n' | ' '..='~' | '\u{a0}'..='\u{d7ff}' | '\u{e000}'..='\u{fefe}' | '\u{ff00}'..='\u{fffd}')
}

fn analyze(text: &str) -> Allowed {
    let mut indicator = text.starts_with("---") || text.starts_with("...");
    let (mut special, mut breaks, mut break_space, mut space_break) = (false, false, false, false);
    let (mut after_space, mut after_break, mut after_blank) = (false, false, true);
    let mut chars = text.chars().peekable();
    let mut first = true;
    while let Some(c) = chars.next() {
        let before_blank = chars.peek().is_none_or(|next| matches!(next, ' ' | '\t'));
        indicator |= match c {
            '#' | ',' | '[' | ']' | '{' | '}' | '&' | '*' | '!' | '|' | '>' | '\'' | '"' | '%' | '@' | '`' if first => {
                true
            }
            '?' | '-' if first => before_blank,
            ':' => before_blank,
            '#' => after_blank,
            _ => false,
        };
        special |= !is_printable(c);
        break_space |= c == ' ' && after_break;
        space_break |= is_break(c) && after_space;
        breaks |= is_break(c);
        after_space = c == ' ';
        after_break = is_break(c);
        after_blank = matches!(c, ' ' | '\t' | '\0') || is_break(c);
        first = false;
    }
    let edge = |c: Option<char>| c.is_some_and(|c| c == ' ' || is_break(c));
    let edged = edge(text.chars().next()) || edge(text.chars().next_back());
    Allowed {
        plain: !(indicator || edged || breaks || break_space || space_break || special),
        single: !(break_space || space_break || special),
        block: !(text.is_empty() || text.ends_with(' ') || space_break || special),
    }
}

/// Report whether a string is one word without another meaning: most names and values are.
fn is_simple(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphabetic())
        && text.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.' | b'/'))
        && word(text).is_none()
}

/// Report whether a string has line breaks.
pub(super) fn has_breaks(text: &str) -> bool {
    text.contains(is_break)
}

/// Append a string in the style that go-yaml chooses; `indent` is that of its further lines; a key has none.
pub(super) fn write(out: &mut String, text: &str, indent: usize, key: bool) {
    if is_simple(text) {
        return out.push_str(text);
    }
    let allowed = analyze(text);
    let lines = has_breaks(text);
    if key && lines || !lines && means_otherwise(text) {
        return double(out, text, indent, key);
    }
    if text.contains('\n') {
        return if allowed.block { literal(out, text, indent) } else { double(out, text, indent, key) };
    }
    if allowed.plain {
        fold_text(out, text, indent, key, false);
    } else if allowed.single {
        out.push('\'');
        fold_text(out, text, indent, key, true);
        out.push('\'');
    } else {
        double(out, text, indent, key);
    }
}

fn column(out: &str) -> usize {
    out[out.rfind('\n').map_or(0, |at| at + 1)..].chars().count()
}

fn fold(out: &mut String, indent: usize) {
    out.push('\n');
    out.extend(std::iter::repeat_n(' ', indent));
}

/// Append a plain or single-quoted string. Its only line breaks are the two of Unicode; the lines after them are
/// indented like others.
fn fold_text(out: &mut String, text: &str, indent: usize, key: bool, quoted: bool) {
    let mut at = column(out);
    let mut after_space = false;
    let mut chars = text.chars().peekable();
    let mut first = true;
    while let Some(c) = chars.next() {
        let next = chars.peek();
        let inner = !quoted || (!first && next.is_some());
        if at == 0 && !is_break(c) && c != ' ' {
            out.extend(std::iter::repeat_n(' ', indent));
            at = indent;
        }
        if is_break(c) {
            out.push(c);
            at = 0;
        } else if c == ' ' && !key && !after_space && at > WIDTH && inner && next != Some(&' ') {
            fold(out, indent);
            at = indent;
        } else {
            if c == '\'' && quoted {
                out.push('\'');
                at += 1;
            }
            out.push(c);
            at += 1;
        }
        after_space = c == ' ';
        first = false;
    }
}

fn double(out: &mut String, text: &str, indent: usize, key: bool) {
    let mut at = column(out) + 1;
    out.push('"');
    let mut after_space = false;
    let mut chars = text.chars().peekable();
    let mut first = true;
    while let Some(c) = chars.next() {
        if !is_printable(c) || is_break(c) || matches!(c, '"' | '\\') {
            let from = out.len();
            escape(out, c);
            at += out.len() - from;
        } else if c == ' ' && !key && !after_space && at > WIDTH && !first && chars.peek().is_some() {
            fold(out, indent);
            at = indent;
            if chars.peek() == Some(&' ') {
                out.push('\\');
                at += 1;
            }
        } else {
            out.push(c);
            at += 1;
        }
        after_space = c == ' ';
        first = false;
    }
    out.push('"');
}

fn escape(out: &mut String, c: char) {
    let short = match c {
        '\0' => '0',
        '\u{7}' => 'a',
        '\u{8}' => 'b',
        '\t' => 't',
        '\n' => 'n',
        '\u{b}' => 'v',
        '\u{c}' => 'f',
        '\r' => 'r',
        '\u{1b}' => 'e',
        '"' => '"',
        '\\' => '\\',
        '\u{85}' => 'N',
        '\u{a0}' => '_',
        '\u{2028}' => 'L',
        '\u{2029}' => 'P',
        _ => {
            let code = u32::from(c);
            let _ = match code {
                0..=0xff => write!(out, "\\x{code:02X}"),
                0x100..=0xffff => write!(out, "\\u{code:04X}"),
                _ => write!(out, "\\U{code:08X}"),
            };
            return;
        }
    };
    out.push('\\');
    out.push(short);
}

/// Append a block; the caller adds the last line break, as after any other value.
fn literal(out: &mut String, text: &str, indent: usize) {
    out.push('|');
    if text.starts_with(|c| c == ' ' || is_break(c)) {
        out.push('2');
    }
    let mut back = text.chars().rev();
    match (back.next().is_some_and(is_break), back.next()) {
        (false, _) => out.push('-'),
        (true, before) if before.is_none_or(is_break) => out.push('+'),
        _ => {}
    }
    let mut begins = true;
    out.push('\n');
    for c in text.strip_suffix('\n').unwrap_or(text).chars() {
        if is_break(c) {
            begins = true;
        } else if std::mem::take(&mut begins) {
            out.extend(std::iter::repeat_n(' ', indent));
        }
        out.push(c);
    }
}

#[cfg(test)]
mod tests {
    use super::write;

    fn write_scalar(text: &str) -> String {
        let mut out = "a: ".to_owned();
        write(&mut out, text, 2, false);
        out.split_off(3)
    }

    #[test]
    fn texts_have_the_style_of_go_yaml() {
        for (text, wanted) in [
            ("plain text", "plain text"),
            ("2026-11-21T17:00:00Z", "\"2026-11-21T17:00:00Z\""),
            ("2026-13-21", "2026-13-21"),
            ("yes", "\"yes\""),
            ("10", "\"10\""),
            ("0x1F", "\"0x1F\""),
            ("1e3", "\"1e3\""),
            ("1:30", "\"1:30\""),
            ("10.0.0.1", "10.0.0.1"),
            ("10m", "10m"),
            (".", "."),
            ("-", "'-'"),
            ("- x", "'- x'"),
            ("-x", "-x"),
            ("", "\"\""),
            ("a: b", "'a: b'"),
            ("it's", "it's"),
            ("'q'", "'''q'''"),
            ("a #b", "'a #b'"),
            ("a#b", "a#b"),
            (" lead", "' lead'"),
            ("*", "'*'"),
            ("tab\there", "\"tab\\there\""),
            ("bell\u{7}\u{1f600}", "\"bell\\a\\U0001F600\""),
            ("line\nline\n", "|\n  line\n  line"),
            ("line\nline", "|-\n  line\n  line"),
            ("line\n\n", "|+\n  line\n"),
            (" lead\nline", "|2-\n   lead\n  line"),
            ("trail \nline", "\"trail \\nline\""),
        ] {
            assert_eq!(write_scalar(text), wanted, "{text:?}");
        }
    }

    #[test]
    fn long_texts_are_folded_at_the_first_space_beyond_the_width() {
        let long = format!("{} {} tail", "x".repeat(60), "y".repeat(30));
        assert_eq!(write_scalar(&long), format!("{} {}\n  tail", "x".repeat(60), "y".repeat(30)));
        let quoted = format!("{} {}: tail", "x".repeat(60), "y".repeat(30));
        assert_eq!(write_scalar(&quoted), format!("'{} {}:\n  tail'", "x".repeat(60), "y".repeat(30)));
    }
}
