//! Errors of YAML text in the words of upstream's parser (go.yaml.in/yaml/v2, a translation of libyaml).

use crate::DecodeError;

/// The step that found an error: upstream counts lines differently in each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    Reader,
    Scanner,
    Parser,
}

/// The first error of a text. Lines count from zero.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Fault {
    step: Step,
    what: &'static str,
    /// The line of the error, and that of the token or collection that was being read.
    line: usize,
    context: usize,
}

impl Fault {
    /// An error of the characters, which has no line.
    pub fn reader(what: &'static str) -> Self {
        Self { step: Step::Reader, what, line: 0, context: 0 }
    }

    /// An error in a token.
    pub fn scanner(what: &'static str, line: usize, context: usize) -> Self {
        Self { step: Step::Scanner, what, line, context }
    }

    /// An error in the order of tokens.
    pub fn parser(what: &'static str, line: usize, context: usize) -> Self {
        Self { step: Step::Parser, what, line, context }
    }

    /// Return the line of the error, counted from one.
    pub fn line(&self) -> usize {
        self.line.saturating_add(1)
    }

    /// Return the error as upstream words it (`decode.go`, `parser.fail`): it adds one to the lines of tokens only, and
    /// leaves out the first.
    pub fn error(&self) -> DecodeError {
        let line = match (self.line, self.step) {
            (0, _) => self.context,
            (line, Step::Scanner) => line.saturating_add(1),
            (line, _) => line,
        };
        let at = if line == 0 { String::new() } else { format!("line {line}: ") };
        yaml(&format!("{at}{}", self.what))
    }
}

/// Return an error of the YAML library.
pub(super) fn yaml(what: &str) -> DecodeError {
    conversion(&format!("yaml: {what}"))
}

/// Return an error of the conversion to JSON.
pub(super) fn conversion(what: &str) -> DecodeError {
    DecodeError::Syntax(format!("error converting YAML to JSON: {what}"))
}

#[cfg(test)]
mod tests {
    use super::super::parse;

    #[test]
    fn speaks_as_upstream() {
        for (text, message) in [
            ("a: 1\nb:\n\tc: d", "line 3: found character that cannot start any token"),
            ("a: @x", "found character that cannot start any token"),
            ("a: 1\nb: @x", "line 2: found character that cannot start any token"),
            ("a: 1\nb: c: d", "line 2: mapping values are not allowed in this context"),
            ("a: 1\nb: [c", "line 2: did not find expected ',' or ']'"),
            ("{", "line 1: did not find expected node content"),
            ("a: 1\nb: {c: d}}", "line 1: did not find expected key"),
            ("a: 1\nb: 'x", "line 2: found unexpected end of stream"),
            ("a: 1\nb: \"\\q\"", "line 2: found unknown escape character"),
            ("{\"a\" \"b\"}", "did not find expected ',' or '}'"),
            ("a: 1\nb: \u{1}", "control characters are not allowed"),
            ("a: 1\nb: \"\\x1g\"", "line 2: did not find expected hexdecimal number"),
        ] {
            let found = parse(text.as_bytes()).unwrap_err().to_string();
            assert_eq!(found, format!("error converting YAML to JSON: yaml: {message}"), "{text}");
        }
    }
}
