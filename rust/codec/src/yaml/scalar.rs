//! How a text is written: plain, quoted or as a block, and where it is folded (go-yaml v2, `encode.go`, `emitterc.go`).

use std::cmp::Ordering;
use std::fmt::Write as _;

/// Lines are folded at the first space beyond this column.
const WIDTH: usize = 80;

/// Whether a reader takes the plain text for something else than a text (`resolve.go`).
pub(super) fn means_otherwise(text: &str) -> bool {
    matches!(
        text,
        "" | "~"
            | "null"
            | "Null"
            | "NULL"
            | "y"
            | "Y"
            | "n"
            | "N"
            | "yes"
            | "Yes"
            | "YES"
            | "no"
            | "No"
            | "NO"
            | "true"
            | "True"
            | "TRUE"
            | "false"
            | "False"
            | "FALSE"
            | "on"
            | "On"
            | "ON"
            | "off"
            | "Off"
            | "OFF"
            | ".nan"
            | ".NaN"
            | ".NAN"
            | ".inf"
            | ".Inf"
            | ".INF"
            | "+.inf"
            | "+.Inf"
            | "+.INF"
            | "-.inf"
            | "-.Inf"
            | "-.INF"
    ) || text.starts_with(|c: char| c.is_ascii_digit() || matches!(c, '+' | '-' | '.'))
        && (is_number(text) || is_time(text) || is_base_60(text))
}

fn is_number(text: &str) -> bool {
    let clean = if text.starts_with('.') { text.to_owned() } else { text.replace('_', "") };
    let digits = clean.strip_prefix(['+', '-']).unwrap_or(&clean);
    let all = |digits: &str, radix| !digits.is_empty() && u64::from_str_radix(digits, radix).is_ok();
    let prefixed =
        [("0x", 16), ("0X", 16), ("0o", 8), ("0O", 8), ("0b", 2), ("0B", 2)].into_iter().any(|(prefix, radix)| {
            digits.strip_prefix(prefix).is_some_and(|rest| !rest.starts_with('+') && all(rest, radix))
        });
    prefixed || is_float(digits)
}

/// `1`, `1.`, `1.5`, `.5`, each with an exponent or without one.
fn is_float(text: &str) -> bool {
    let (mantissa, exponent) = match text.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(exponent)),
        None => (text, None),
    };
    let numeric = |digits: &str| digits.bytes().all(|b| b.is_ascii_digit());
    let (whole, part) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let some = !whole.is_empty() || !part.is_empty();
    let exponent = exponent.is_none_or(|e| {
        let digits = e.strip_prefix(['+', '-']).unwrap_or(e);
        !digits.is_empty() && numeric(digits)
    });
    some && numeric(whole) && numeric(part) && exponent
}

/// `2001-1-2`, and with a time of day after `T`, `t` or a space.
fn is_time(text: &str) -> bool {
    let Some((year, rest)) = text.split_once('-') else { return false };
    let Some((month, rest)) = rest.split_once('-') else { return false };
    let (day, clock) = match rest.find(['T', 't', ' ']) {
        Some(at) => (&rest[..at], Some((&rest[at..=at], &rest[at + 1..]))),
        None => (rest, None),
    };
    let (Some(year), Some(month), Some(day)) = (number(year, 4, 4), number(month, 1, 2), number(day, 1, 2)) else {
        return false;
    };
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let days = match month {
        2 if leap => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        1..=12 => 31,
        _ => return false,
    };
    (1..=days).contains(&day) && clock.is_none_or(|(mark, clock)| is_clock(clock, mark != " "))
}

fn is_clock(text: &str, zoned: bool) -> bool {
    let text = match (zoned, text.strip_suffix('Z'), text.rfind(['+', '-'])) {
        (false, ..) => text,
        (true, Some(text), _) => text,
        (true, None, Some(at)) => {
            let Some((hours, minutes)) = text[at + 1..].split_once(':') else { return false };
            if number(hours, 2, 2).is_none_or(|h| h > 24) || number(minutes, 2, 2).is_none_or(|m| m > 60) {
                return false;
            }
            &text[..at]
        }
        _ => return false,
    };
    let mut parts = text.splitn(3, ':');
    let (Some(hour), Some(minute), Some(second)) = (parts.next(), parts.next(), parts.next()) else { return false };
    let (second, fraction) = second.split_once('.').unwrap_or((second, "0"));
    number(hour, 1, 2).is_some_and(|h| h < 24)
        && number(minute, 1, 2).is_some_and(|m| m < 60)
        && number(second, 1, 2).is_some_and(|s| s < 60)
        && !fraction.is_empty()
        && fraction.bytes().all(|b| b.is_ascii_digit())
}

fn number(digits: &str, least: usize, most: usize) -> Option<u32> {
    let fits = (least..=most).contains(&digits.len()) && digits.bytes().all(|b| b.is_ascii_digit());
    fits.then(|| digits.parse().ok()).flatten()
}

/// `1:30:00`: a number to readers of YAML 1.1.
fn is_base_60(text: &str) -> bool {
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    let mut parts = digits.split(':');
    let first = parts.next().unwrap_or("");
    let rest: Vec<&str> = parts.collect();
    let Some((last, middle)) = rest.split_last() else { return false };
    let sixty = |part: &str| number(part, 1, 2).is_some_and(|n| part.len() == 1 || n < 60);
    let (last, fraction) = last.split_once('.').unwrap_or((last, ""));
    first.starts_with(|c: char| c.is_ascii_digit())
        && first.bytes().all(|b| b.is_ascii_digit() || b == b'_')
        && middle.iter().all(|part| sixty(part))
        && sixty(last)
        && fraction.bytes().all(|b| b.is_ascii_digit() || b == b'_')
}

/// Which styles can hold a text.
struct Allowed {
    plain: bool,
    single: bool,
    block: bool,
}

fn is_break(c: char) -> bool {
    matches!(c, '\n' | '\r' | '\u{85}' | '\u{2028}' | '\u{2029}')
}

/// Characters beyond the basic plane count as not printable there.
fn is_printable(c: char) -> bool {
    matches!(c, '\n' | ' '..='~' | '\u{a0}'..='\u{d7ff}' | '\u{e000}'..='\u{fefe}' | '\u{ff00}'..='\u{fffd}')
}

fn analyzed(text: &str) -> Allowed {
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

/// Whether a text has lines.
pub(super) fn has_breaks(text: &str) -> bool {
    text.contains(is_break)
}

/// A text in the style that go-yaml chooses; `indent` is where its further lines begin, and a key has none.
pub(super) fn write(out: &mut String, text: &str, indent: usize, key: bool) {
    let allowed = analyzed(text);
    let lines = has_breaks(text);
    if key && lines || !lines && means_otherwise(text) {
        return double(out, text, indent, key);
    }
    if text.contains('\n') {
        return if allowed.block { literal(out, text, indent) } else { double(out, text, indent, key) };
    }
    if allowed.plain {
        folded(out, text, indent, key, false);
    } else if allowed.single {
        out.push('\'');
        folded(out, text, indent, key, true);
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

/// Plain or single-quoted text. Of line breaks it has the two of Unicode at most, after which lines begin as others do.
fn folded(out: &mut String, text: &str, indent: usize, key: bool, quoted: bool) {
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
            escaped(out, c);
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

fn escaped(out: &mut String, c: char) {
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

/// A block; the last line break is left to the caller, as after any other value.
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

/// The order of keys: what is no letter comes first, and digits count as the number that they make (`sorter.go`).
pub(super) fn order(a: &str, b: &str) -> Ordering {
    let shared: usize = a.chars().zip(b.chars()).take_while(|(x, y)| x == y).map(|(x, _)| x.len_utf8()).sum();
    let (before, a, b) = (&a[..shared], &a[shared..], &b[shared..]);
    let (Some(x), Some(y)) = (a.chars().next(), b.chars().next()) else { return a.len().cmp(&b.len()) };
    match (x.is_alphabetic(), y.is_alphabetic()) {
        (true, true) => return x.cmp(&y),
        (true, false) => return Ordering::Greater,
        (false, true) => return Ordering::Less,
        (false, false) => {}
    }
    // A zero in the middle of a number counts as a digit of it.
    let inside =
        (x == '0' || y == '0') && before.chars().rev().take_while(char::is_ascii_digit).any(|digit| digit != '0');
    let value = |text: &str| {
        let digits = text.chars().map_while(|c| c.to_digit(10));
        let start = (i64::from(inside), 0_usize);
        digits.fold(start, |(n, len), d| (n.wrapping_mul(10).wrapping_add(i64::from(d)), len + 1))
    };
    value(a).cmp(&value(b)).then(x.cmp(&y))
}

/// A number as Go's `%g` writes it.
pub(super) fn float(number: f64) -> String {
    if number.is_nan() {
        return ".nan".to_owned();
    }
    if number.is_infinite() {
        return if number > 0.0 { ".inf" } else { "-.inf" }.to_owned();
    }
    let text = format!("{number:e}");
    let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    if number != 0.0 && !(-4..6).contains(&exponent) {
        let sign = if exponent < 0 { '-' } else { '+' };
        return format!("{digits}e{sign}{:02}", exponent.abs());
    }
    number.to_string()
}

#[cfg(test)]
mod tests {
    use super::{float, order, write};

    fn written(text: &str) -> String {
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
            assert_eq!(written(text), wanted, "{text:?}");
        }
    }

    #[test]
    fn long_texts_are_folded_at_the_first_space_beyond_the_width() {
        let long = format!("{} {} tail", "x".repeat(60), "y".repeat(30));
        assert_eq!(written(&long), format!("{} {}\n  tail", "x".repeat(60), "y".repeat(30)));
        let quoted = format!("{} {}: tail", "x".repeat(60), "y".repeat(30));
        assert_eq!(written(&quoted), format!("'{} {}:\n  tail'", "x".repeat(60), "y".repeat(30)));
    }

    #[test]
    fn keys_come_in_natural_order() {
        let mut keys = ["a10", "a2", "B", "b", ".", "f:x", "a", "a01", "_"];
        keys.sort_by(|a, b| order(a, b));
        assert_eq!(keys, [".", "_", "B", "a", "a01", "a2", "a10", "b", "f:x"]);
    }

    #[test]
    fn numbers_are_those_of_go() {
        for (number, wanted) in
            [(1.5, "1.5"), (0.0, "0"), (1e6, "1e+06"), (123_456.5, "123456.5"), (1e-5, "1e-05"), (-2.0, "-2")]
        {
            assert_eq!(float(number), wanted);
        }
    }
}
