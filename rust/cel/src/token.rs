//! Tokens of an expression (cel-go `parser/gen/CEL.g4`, the lexer rules).

#![allow(
    clippy::arithmetic_side_effects,
    reason = "sizes and costs are bounded by the budget of a run; numbers of a rule are calculated with checks"
)]
#![allow(clippy::indexing_slicing, reason = "numbers of nodes, arguments and tokens are given out by the parser")]
#![allow(clippy::string_slice, reason = "it is cut at characters that were found there")]

use crate::source::Issue;

/// The kinds of tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Ident,
    /// An identifier between backticks.
    Escaped,
    Int,
    Uint,
    Float,
    String,
    Bytes,
    /// An operator or bracket; also `true`, `false`, `null` and `in`.
    Sign,
    End,
}

/// A token, its offset in characters, and its text.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Token<'s> {
    pub kind: Kind,
    pub at: usize,
    pub text: &'s str,
}

impl Token<'_> {
    pub fn is(&self, sign: &str) -> bool {
        self.kind == Kind::Sign && self.text == sign
    }

    /// Return its form in messages.
    pub fn text(&self) -> String {
        if self.kind == Kind::End { "'<EOF>'".to_owned() } else { format!("'{}'", self.text) }
    }
}

const SIGNS: [&str; 25] = [
    "==", "!=", "<=", ">=", "&&", "||", "<", ">", "[", "]", "{", "}", "(", ")", ".", ",", "-", "!", "?", ":", "+", "*",
    "/", "%", "in",
];

/// Split a source into tokens; characters that start none are reported and skipped.
pub(crate) fn split<'s>(source: &'s str, issues: &mut Vec<Issue>) -> Vec<Token<'s>> {
    let mut out = Vec::new();
    let (mut rest, mut at) = (source, 0);
    while let Some(first) = rest.chars().next() {
        let (kind, length) = if matches!(first, ' ' | '\t' | '\r' | '\n' | '\u{c}') {
            (None, 1)
        } else if rest.starts_with("//") {
            (None, rest.find('\n').unwrap_or(rest.len()))
        } else {
            word(rest).map_or_else(
                || {
                    let length = bad(rest);
                    let message = format!("Syntax error: token recognition error at: '{}'", &rest[..length]);
                    issues.push(Issue::new(at, message));
                    (None, length)
                },
                |(kind, length)| (Some(kind), length),
            )
        };
        let (text, after) = rest.split_at(length);
        if let Some(kind) = kind {
            out.push(Token { kind, at, text });
        }
        at += text.chars().count();
        rest = after;
    }
    out.push(Token { kind: Kind::End, at, text: "" });
    out
}

/// Return the length of an invalid token: the valid start, and the character that does not fit.
fn bad(rest: &str) -> usize {
    let through = |at: usize| rest[at..].chars().next().map_or(rest.len(), |c| at + c.len_utf8());
    let b = rest.as_bytes();
    match b[0] {
        b'=' | b'&' | b'|' => through(1),
        b'`' => through(1 + b[1..].iter().take_while(|b| is_escapable(**b)).count()),
        b'"' | b'\'' if b.get(1) == Some(&b[0]) && b.get(2) == Some(&b[0]) => unclosed_end(rest, 3, true),
        b'"' | b'\'' => unclosed_end(rest, 1, false),
        _ => through(0),
    }
}

/// Return the end of an unterminated literal, or of its first invalid escape.
fn unclosed_end(rest: &str, from: usize, lines: bool) -> usize {
    let mut at = from;
    while let Some(c) = rest[at..].chars().next() {
        match c {
            '\n' | '\r' if !lines => return at + 1,
            '\\' => {
                if let Some(length) = escape(&rest.as_bytes()[at..]) {
                    at += length;
                } else {
                    let end = at + 1 + digits(&rest.as_bytes()[at + 1..]);
                    return rest[end..].chars().next().map_or(rest.len(), |c| end + c.len_utf8());
                }
            }
            c => at += c.len_utf8(),
        }
    }
    rest.len()
}

/// Return the length of the valid start of an escape, without the backslash.
fn digits(b: &[u8]) -> usize {
    let run = |most: usize, fits: fn(&u8) -> bool| 1 + b[1..].iter().take(most).take_while(|b| fits(b)).count();
    match b.first() {
        Some(b'x' | b'X') => run(2, u8::is_ascii_hexdigit),
        Some(b'u') => run(4, u8::is_ascii_hexdigit),
        Some(b'U') => run(8, u8::is_ascii_hexdigit),
        Some(b'0'..=b'3') => run(2, |b| (b'0'..=b'7').contains(b)),
        _ => 0,
    }
}

/// Report whether a byte is allowed between backticks.
fn is_escapable(b: u8) -> bool {
    b.is_ascii_alphanumeric() || matches!(b, b'_' | b'.' | b'-' | b'/' | b' ')
}

fn word(rest: &str) -> Option<(Kind, usize)> {
    if let Some(length) = quoted_length(rest) {
        let bytes = rest[..length].find(['"', '\'']).is_some_and(|end| rest[..end].contains(['b', 'B']));
        return Some((if bytes { Kind::Bytes } else { Kind::String }, length));
    }
    let bytes = rest.as_bytes();
    if bytes[0].is_ascii_digit() || (bytes[0] == b'.' && bytes.get(1).is_some_and(u8::is_ascii_digit)) {
        return Some(number(bytes));
    }
    if bytes[0].is_ascii_alphabetic() || bytes[0] == b'_' {
        let length = bytes.iter().take_while(|b| b.is_ascii_alphanumeric() || **b == b'_').count();
        let sign = matches!(&rest[..length], "true" | "false" | "null" | "in");
        return Some((if sign { Kind::Sign } else { Kind::Ident }, length));
    }
    if bytes[0] == b'`' {
        let length = bytes[1..].iter().take_while(|b| is_escapable(**b)).count();
        return (length > 0 && bytes.get(length + 1) == Some(&b'`')).then_some((Kind::Escaped, length + 2));
    }
    SIGNS.iter().find(|s| rest.starts_with(**s)).map(|s| (Kind::Sign, s.len()))
}

fn number(b: &[u8]) -> (Kind, usize) {
    let digits = |from: usize| b[from.min(b.len())..].iter().take_while(|b| b.is_ascii_digit()).count();
    let unsigned =
        |at: usize| if matches!(b.get(at), Some(b'u' | b'U')) { (Kind::Uint, at + 1) } else { (Kind::Int, at) };
    if b[0] == b'0' && b.get(1) == Some(&b'x') {
        let length = b[2..].iter().take_while(|b| b.is_ascii_hexdigit()).count();
        if length > 0 {
            return unsigned(2 + length);
        }
    }
    let mut at = digits(0);
    let mut kind = Kind::Int;
    if b.get(at) == Some(&b'.') && digits(at + 1) > 0 {
        at += 1 + digits(at + 1);
        kind = Kind::Float;
    }
    if matches!(b.get(at), Some(b'e' | b'E')) {
        let sign = usize::from(matches!(b.get(at + 1), Some(b'+' | b'-')));
        let exponent = digits(at + 1 + sign);
        if exponent > 0 {
            at += 1 + sign + exponent;
            kind = Kind::Float;
        }
    }
    if kind == Kind::Int { unsigned(at) } else { (kind, at) }
}

/// Return the length of a literal in quotes with its prefix.
fn quoted_length(rest: &str) -> Option<usize> {
    let b = rest.as_bytes();
    let mut at = 0;
    let mut raw = false;
    while at < 2 && matches!(b.get(at), Some(b'r' | b'R' | b'b' | b'B')) {
        let r = matches!(b[at], b'r' | b'R');
        if at == 1 && r == matches!(b[0], b'r' | b'R') {
            return None;
        }
        raw |= r;
        at += 1;
    }
    let quote = *b.get(at).filter(|q| matches!(q, b'"' | b'\''))?;
    let triple = b.get(at + 1) == Some(&quote) && b.get(at + 2) == Some(&quote);
    at += if triple { 3 } else { 1 };
    loop {
        let here = *b.get(at)?;
        if here == quote && (!triple || (b.get(at + 1) == Some(&quote) && b.get(at + 2) == Some(&quote))) {
            return Some(at + if triple { 3 } else { 1 });
        }
        if !triple && matches!(here, b'\n' | b'\r') {
            return None;
        }
        at += if here == b'\\' && !raw { escape(&b[at..])? } else { 1 };
    }
}

/// Return the length of a valid escape.
fn escape(b: &[u8]) -> Option<usize> {
    let hex = |n: usize| (b.len() > n + 1 && b[2..2 + n].iter().all(u8::is_ascii_hexdigit)).then_some(2 + n);
    match b.get(1)? {
        b'a' | b'b' | b'f' | b'n' | b'r' | b't' | b'v' | b'"' | b'\'' | b'\\' | b'?' | b'`' => Some(2),
        b'x' | b'X' => hex(2),
        b'u' => hex(4),
        b'U' => hex(8),
        b'0'..=b'3' => (b.len() > 3 && b[2..4].iter().all(|d| (b'0'..=b'7').contains(d))).then_some(4),
        _ => None,
    }
}
