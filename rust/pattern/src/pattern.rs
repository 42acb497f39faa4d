//! Regular expressions in Go's syntax (RE2), compiled when they are first needed.

#![allow(clippy::arithmetic_side_effects, reason = "it counts the bytes of a pattern")]
#![allow(clippy::string_slice, reason = "a set begins where its bracket was written")]

use std::fmt;
use std::sync::OnceLock;

use regex::{Regex, RegexBuilder};
use regex_syntax::hir::{Look, translate::Translator};

use crate::limits;
use crate::machine::Program;

/// The most states that are compiled to an automaton, which is fast and costs time and memory by them.
const SMALL: usize = 2_000;
/// The largest automaton, in bytes.
const SIZE_LIMIT: usize = 16 << 20;

/// One pattern.
pub struct Pattern {
    text: Box<str>,
    compiled: OnceLock<Option<Matcher>>,
}

enum Matcher {
    Automaton(Regex),
    Program(Program),
}

impl fmt::Debug for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.text.fmt(f)
    }
}

impl Pattern {
    /// Return a pattern that is compiled later.
    pub fn new(text: &str) -> Self {
        Self { text: text.into(), compiled: OnceLock::new() }
    }

    /// Return the pattern as it was written.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Report whether a text matches somewhere; false too for an invalid pattern.
    pub fn matches(&self, text: &str) -> bool {
        match self.matcher() {
            Some(Matcher::Automaton(regex)) => regex.is_match(text),
            Some(Matcher::Program(program)) => program.matches(text),
            None => false,
        }
    }

    /// Return the parts of a text that match, one after another; `None` for an invalid pattern, and for one that is too
    /// large to be searched for.
    pub fn parts<'p, 't>(&'p self, text: &'t str) -> Option<impl Iterator<Item = &'t str> + use<'p, 't>> {
        match self.matcher() {
            Some(Matcher::Automaton(regex)) => Some(regex.find_iter(text).map(|found| found.as_str())),
            _ => None,
        }
    }

    fn matcher(&self) -> Option<&Matcher> {
        self.compiled.get_or_init(|| compile(&self.text)).as_ref()
    }
}

/// Return why a text is not a regular expression, with Go's message as far as the kinds of error agree. Nothing is
/// compiled.
pub fn problem(text: &str) -> Option<String> {
    let fault = limits::parse(&translate(text)).err()?;
    Some(format!("error parsing regexp: {}: `{}`", fault.what, fault.part.as_deref().unwrap_or(text)))
}

fn compile(text: &str) -> Option<Matcher> {
    let text = translate(text);
    let ast = limits::parse(&text).ok()?;
    let hir = Translator::new().translate(&text, &ast).ok()?;
    let program = Program::new(&hir)?;
    // The automaton also finds `\B` within a character, and then misses matches behind it.
    if program.states() <= SMALL
        && !hir.properties().look_set().contains(Look::WordAsciiNegate)
        && let Ok(regex) = RegexBuilder::new(&text).size_limit(SIZE_LIMIT).build()
    {
        return Some(Matcher::Automaton(regex));
    }
    Some(Matcher::Program(program))
}

/// Translate to the syntax of the crate: Go's classes of Perl are those of ASCII, its sets do not nest, and `\Q...\E`
/// quotes.
fn translate(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 16);
    let mut chars = text.chars().peekable();
    let mut set = false;
    let mut set_start = false;
    // The start of the present set.
    let mut from = 0;
    while let Some(c) = chars.next() {
        let first = std::mem::take(&mut set_start);
        match c {
            '\\' => match chars.next() {
                Some('Q') => copy_quoted(&mut chars, &mut out),
                Some('d') => out.push_str(if set { "0-9" } else { "[0-9]" }),
                Some('D') => out.push_str("[^0-9]"),
                Some('w') => out.push_str(if set { "0-9A-Za-z_" } else { "[0-9A-Za-z_]" }),
                Some('W') => out.push_str("[^0-9A-Za-z_]"),
                Some('s') => out.push_str(if set { r"\t\n\x0c\r " } else { r"[\t\n\x0c\r ]" }),
                Some('S') => out.push_str(r"[^\t\n\x0c\r ]"),
                Some('b') if !set => out.push_str(r"(?-u:\b)"),
                Some('B') if !set => out.push_str(r"(?-u:\B)"),
                Some(c @ ('/' | '<' | '>')) => out.push(c),
                Some(next) => out.extend(['\\', next]),
                None => out.push('\\'),
            },
            '[' if set && chars.peek() == Some(&':') => out.push('['),
            '[' if set => out.push_str(r"\["),
            '[' => {
                set = true;
                set_start = true;
                from = out.len();
                out.push('[');
                if chars.peek() == Some(&'^') {
                    chars.next();
                    out.push('^');
                }
            }
            ']' if set && first => out.push_str(r"\]"),
            ']' if set && out.ends_with(':') && in_class(&out[from..]) => out.push(']'),
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

/// Report whether the last class of POSIX (`[:alpha:]`) of an unfinished set is not closed yet.
fn in_class(set: &str) -> bool {
    set.rsplit_once("[:").is_some_and(|(_, class)| !class.is_empty() && !class.contains(":]"))
}

fn copy_quoted(chars: &mut std::iter::Peekable<std::str::Chars<'_>>, out: &mut String) {
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
    use proptest::prelude::*;
    use regex::Regex;
    use regex_syntax::hir::translate::Translator;

    use super::{Pattern, Program, limits, problem, translate};

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
            (r"^\<a\>$", "<a>", true),
            (r"\B|a|ж", "_ж_ж_", true),
        ];
        for (pattern, text, expected) in cases {
            assert_eq!(Pattern::new(pattern).matches(text), expected, "{pattern} {text}");
        }
        assert_eq!(problem("(").as_deref(), Some("error parsing regexp: missing closing ): `(`"));
        assert_eq!(problem("a"), None);
        assert!(!Pattern::new("(").matches("("));
    }

    #[test]
    fn parts_of_a_text() {
        let parts = |pattern: &str, text| Pattern::new(pattern).parts(text).map(Iterator::collect::<Vec<&str>>);
        assert_eq!(parts(r":[\w][\w.-]{0,127}(\/)?", "a:5000/b:v1"), Some(vec![":5000/", ":v1"]));
        assert_eq!(parts(r"\d+", "1٣2"), Some(vec!["1", "2"]));
        // Go 1.26: an empty match behind another one does not count.
        assert_eq!(parts("a*", "baab"), Some(vec!["", "aa", ""]));
        assert_eq!(parts("(", "("), None);
        assert_eq!(parts(r"\pL{1000}", "a"), None);
    }

    /// Expected results from Go 1.26, `regexp/syntax.Parse(_, syntax.Perl)`.
    #[test]
    fn limits_of_go() {
        let deep = |open: &str, n: usize, close: &str| format!("{}a{}", open.repeat(n), close.repeat(n));
        let too = |what: &str, text: &str| Some(format!("error parsing regexp: expression {what}: `{text}`"));
        let fault = |what: &str, part: &str| Some(format!("error parsing regexp: {what}: `{part}`"));
        let perl = |part: &str| fault("invalid or unsupported Perl syntax", part);
        let repeat = |part: &str| Some(format!("error parsing regexp: invalid repeat count: `{part}`"));
        let cases = [
            ("a{1000}".into(), None),
            ("a{1001}".into(), repeat("{1001}")),
            ("a{1001}?".into(), repeat("{1001}")),
            ("a{2,1}".into(), repeat("{2,1}")),
            ("(a{9999999999})".into(), repeat("{9999999999}")),
            ("(a{100}){10}".into(), None),
            ("(a{100}){11}".into(), repeat("{11}")),
            ("(a{100}){11}?".into(), repeat("{11}?")),
            ("((a{100}){0}){11}".into(), None),
            ("(a{0,100}b{9,}){11}".into(), repeat("{11}")),
            (r"\pL{1000}".into(), None),
            ("(?ix:a)".into(), Some("error parsing regexp: invalid or unsupported Perl syntax: `(?ix`".into())),
            ("x(?=y)".into(), perl("(?=")),
            ("(?!x)".into(), perl("(?!")),
            ("(?#c)".into(), perl("(?#")),
            ("a(?i--s:x)".into(), perl("(?i--")),
            ("(?-)x".into(), perl("(?-)")),
            ("(?".into(), perl("(?")),
            ("a(?i-".into(), perl("(?i-")),
            ("a(?<=x)b".into(), fault("invalid named capture", "(?<=x)b")),
            ("(?<!x>y)b".into(), fault("invalid named capture", "(?<!x>")),
            ("a**".into(), fault("invalid nested repetition operator", "**")),
            ("a{2}*?b".into(), fault("invalid nested repetition operator", "{2}*?")),
            ("(a+)+".into(), None),
            ("a\\".into(), fault("trailing backslash at end of expression", "")),
            ("x[b-a]".into(), fault("invalid character class range", "b-a")),
            (r"\p{Nope}".into(), Some(r"error parsing regexp: invalid character class range: `\p{Nope}`".into())),
            (deep("(", 999, ")"), None),
            (deep("(", 1000, ")"), too("nests too deeply", &deep("(", 1000, ")"))),
            (deep("(?:a", 1500, ")"), None),
            (format!("(?:{}){{1000}}", "ab".repeat(1677)), None),
            (
                format!("(?:{}){{1000}}", "ab".repeat(1678)),
                too("too large", &format!("(?:{}){{1000}}", "ab".repeat(1678))),
            ),
        ];
        for (text, expected) in cases {
            assert_eq!(problem(&text), expected);
        }
        let classes = r"\pL".repeat(27_000);
        assert_eq!(problem(&classes), too("too large", &classes));
    }

    #[test]
    #[allow(clippy::disallowed_methods, reason = "it measures work")]
    fn a_large_class_is_not_compiled() {
        let timed = |_| {
            let begun = std::time::Instant::now();
            assert_eq!(problem(r"^\pL{1000}$"), None);
            begun.elapsed()
        };
        // The best of a few, since other tests run beside it.
        assert!((0..5).map(timed).min().is_some_and(|t| t.as_millis() < 5));
        let begun = std::time::Instant::now();
        let pattern = Pattern::new(r"^\pL{1000}$");
        assert!(pattern.matches(&"ж".repeat(1000)));
        assert!(!pattern.matches(&"ж".repeat(999)));
        assert!(!pattern.matches(&"ж".repeat(1001)));
        assert!(!Pattern::new(r"\pL{1000}").matches(&"ж".repeat(999)));
        assert!(Pattern::new(r"\pL{1000}").matches(&format!("1{}1", "ж".repeat(1000))));
        assert!(begun.elapsed().as_millis() < 500, "{:?}", begun.elapsed());
    }

    /// Return a strategy for patterns of a few parts.
    fn patterns() -> impl Strategy<Value = String> {
        let leaf = prop::sample::select(vec![
            "a",
            "b",
            "ж",
            "_",
            "\n",
            ".",
            "[ab]",
            "[^a]",
            r"\pL",
            r"\b",
            r"\B",
            "^",
            "$",
            r"\A",
            r"\z",
            r"\w",
            r"\D",
            "(?i:A)",
            "(?m:^)",
            "(?m:$)",
            "(?s:.)",
            "",
            "[[:alpha:]ж]",
            "ba",
        ])
        .prop_map(String::from);
        leaf.prop_recursive(5, 24, 4, |inner| {
            let operators = vec!["*", "+", "?", "*?", "{2}", "{0}", "{0,2}", "{1,3}", "{2,}", "{0,}"];
            prop_oneof![
                prop::collection::vec(inner.clone(), 1..4).prop_map(|all| all.concat()),
                prop::collection::vec(inner.clone(), 2..4).prop_map(|all| format!("({})", all.join("|"))),
                (inner, prop::sample::select(operators)).prop_map(|(sub, op)| format!("(?:{sub}){op}")),
            ]
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(1500))]

        #[test]
        fn a_program_matches_as_an_automaton(pattern in patterns(), texts in prop::collection::vec("[abж_A1\n]{0,8}", 6)) {
            let pattern = translate(&pattern);
            let ast = limits::parse(&pattern).ok().unwrap();
            let program = Program::new(&Translator::new().translate(&pattern, &ast).unwrap()).unwrap();
            let regex = Regex::new(&pattern).unwrap();
            // In other texts the automaton does not match `\B` as Go does.
            for text in texts.into_iter().filter(|t| t.is_ascii() || !pattern.contains(r"\B")) {
                prop_assert_eq!(program.matches(&text), regex.is_match(&text), "{} {:?}", pattern, text);
            }
        }
    }
}
