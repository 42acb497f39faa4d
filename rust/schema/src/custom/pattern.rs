//! Regular expressions in Go's syntax (RE2), compiled when they are first needed.

use std::fmt;
use std::sync::OnceLock;

use regex::{Regex, RegexBuilder};

/// The largest compiled pattern, in bytes.
const SIZE_LIMIT: usize = 16 << 20;

/// One pattern of a schema.
pub struct Pattern {
    text: Box<str>,
    compiled: OnceLock<Option<Regex>>,
}

impl fmt::Debug for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.text.fmt(f)
    }
}

impl Pattern {
    /// A pattern that is compiled later.
    pub fn new(text: &str) -> Self {
        Self { text: text.into(), compiled: OnceLock::new() }
    }

    /// The pattern as it was written.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Whether a text matches somewhere; false too for a pattern that is none.
    pub fn matches(&self, text: &str) -> bool {
        self.compiled.get_or_init(|| compile(&self.text)).as_ref().is_some_and(|r| r.is_match(text))
    }
}

/// Why a text is no regular expression, in Go's words as far as the kinds of error agree.
pub(crate) fn problem(text: &str) -> Option<String> {
    use regex_syntax::ast::ErrorKind;

    let Err(error) = regex_syntax::parse(&translate(text)) else {
        return compile(text).is_none().then(|| format!("error parsing regexp: expression too large: `{text}`"));
    };
    let what = match &error {
        regex_syntax::Error::Parse(e) => match e.kind() {
            ErrorKind::GroupUnclosed => "missing closing )",
            ErrorKind::GroupUnopened => "unexpected )",
            ErrorKind::ClassUnclosed => "missing closing ]",
            ErrorKind::ClassRangeInvalid | ErrorKind::ClassRangeLiteral => "invalid character class range",
            ErrorKind::RepetitionMissing => "missing argument to repetition operator",
            ErrorKind::RepetitionCountInvalid => "invalid repeat count",
            ErrorKind::EscapeUnexpectedEof => "trailing backslash at end of expression",
            ErrorKind::UnsupportedLookAround => "invalid or unsupported Perl syntax",
            ErrorKind::GroupNameInvalid | ErrorKind::GroupNameEmpty | ErrorKind::GroupNameDuplicate { .. } => {
                "invalid named capture"
            }
            _ => "invalid escape sequence",
        },
        _ => "invalid character class range",
    };
    Some(format!("error parsing regexp: {what}: `{text}`"))
}

fn compile(text: &str) -> Option<Regex> {
    RegexBuilder::new(&translate(text)).size_limit(SIZE_LIMIT).build().ok()
}

/// Go's classes of Perl are those of ASCII, its sets do not nest, and `\Q...\E` quotes.
fn translate(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 16);
    let mut chars = text.chars().peekable();
    let mut set = false;
    let mut set_start = false;
    while let Some(c) = chars.next() {
        let first = std::mem::take(&mut set_start);
        match c {
            '\\' => match chars.next() {
                Some('Q') => quoted(&mut chars, &mut out),
                Some('d') => out.push_str(if set { "0-9" } else { "[0-9]" }),
                Some('D') => out.push_str("[^0-9]"),
                Some('w') => out.push_str(if set { "0-9A-Za-z_" } else { "[0-9A-Za-z_]" }),
                Some('W') => out.push_str("[^0-9A-Za-z_]"),
                Some('s') => out.push_str(if set { r"\t\n\x0c\r " } else { r"[\t\n\x0c\r ]" }),
                Some('S') => out.push_str(r"[^\t\n\x0c\r ]"),
                Some('b') if !set => out.push_str(r"(?-u:\b)"),
                Some('B') if !set => out.push_str(r"(?-u:\B)"),
                Some('/') => out.push('/'),
                Some(next) => out.extend(['\\', next]),
                None => out.push('\\'),
            },
            '[' if set && chars.peek() == Some(&':') => out.push('['),
            '[' if set => out.push_str(r"\["),
            '[' => {
                set = true;
                set_start = true;
                out.push('[');
                if chars.peek() == Some(&'^') {
                    chars.next();
                    out.push('^');
                }
            }
            ']' if set && first => out.push_str(r"\]"),
            ']' if set && out.ends_with(':') && out.contains("[:") && !closed(&out) => out.push(']'),
            ']' => {
                set = false;
                out.push(']');
            }
            // Operators of sets that Go does not have.
            '&' | '~' if set => out.extend(['\\', c]),
            '-' if set && out.ends_with('-') => out.push_str(r"\-"),
            c => out.push(c),
        }
    }
    out
}

/// Whether the last class of POSIX (`[:alpha:]`) of an unfinished set is closed.
fn closed(out: &str) -> bool {
    let open = out.rfind("[:").unwrap_or(0);
    out[open + 2..].find(":]").is_some() || out[open + 2..].is_empty()
}

fn quoted(chars: &mut std::iter::Peekable<std::str::Chars<'_>>, out: &mut String) {
    let mut literal = String::new();
    while let Some(c) = chars.next() {
        if c == '\\' && chars.peek() == Some(&'E') {
            chars.next();
            break;
        }
        literal.push(c);
    }
    out.push_str(&regex::escape(&literal));
}

#[cfg(test)]
mod tests {
    use super::{Pattern, problem};

    #[test]
    fn syntax_of_go() {
        let cases = [
            (r"^(\d+|\*)(/\d+)?(\s+(\d+|\*)(/\d+)?){4}$", "* * * * */5", true),
            (r"^\d$", "٣", false),
            (r"^[\d]+$", "12", true),
            (r"^[[a]+$", "[a", true),
            (r"^[[:alpha:]_]+$", "a_b", true),
            (r"^[]a]+$", "]a", true),
            (r"^[a&&b]+$", "a&b", true),
            (r"\Qa.b\E", "a.b", true),
            (r"\Qa.b\E", "axb", false),
            (r"^a/b\/c$", "a/b/c", true),
            (r"^[^\s]+$", "a b", false),
        ];
        for (pattern, text, expected) in cases {
            assert_eq!(Pattern::new(pattern).matches(text), expected, "{pattern} {text}");
        }
        assert_eq!(problem("(").as_deref(), Some("error parsing regexp: missing closing ): `(`"));
        assert_eq!(problem("a"), None);
        assert!(!Pattern::new("(").matches("("));
    }
}
