//! Errors of YAML text in the words of upstream's parser (go.yaml.in/yaml, a translation of libyaml).

use crate::DecodeError;

/// Return the error that the parser found at a line, counted from one.
pub(super) fn fault(line: usize, info: &str) -> DecodeError {
    let (what, scanned) = words(info);
    // Upstream counts lines from zero, adds one for errors in tokens, and does not show the first line.
    let line = if scanned && line > 1 {
        line
    } else if scanned {
        0
    } else {
        line.saturating_sub(1)
    };
    let at = if line == 0 || unplaced(what) { String::new() } else { format!("line {line}: ") };
    DecodeError::Syntax(format!("error converting YAML to JSON: yaml: {at}{what}"))
}

/// Return upstream's words, and whether the error is in a token and not in the order of tokens.
fn words(info: &str) -> (&str, bool) {
    const START: &str = "found character that cannot start any token";
    const CONTROL: &str = "control characters are not allowed";
    const PAIR: &str = "did not find expected ',' or '}'";
    for (begin, what, scanned) in [
        ("tabs disallowed", START, true),
        ("unexpected character", START, true),
        ("plain scalar cannot start", START, true),
        ("found unprintable character", CONTROL, true),
        ("recursion limit exceeded", "exceeded max depth of 10000", false),
        ("misplaced bracket", "did not find expected key", false),
        ("invalid trailing content", PAIR, false),
        ("while parsing a flow sequence, expected", "did not find expected ',' or ']'", false),
    ] {
        if info.starts_with(begin) {
            return (what, scanned);
        }
    }
    let what = info.strip_prefix("while ").and_then(|context| context.split_once(", ")).map_or(info, |(_, what)| what);
    let what = if what.ends_with("hexadecimal number") { "did not find expected hexdecimal number" } else { what };
    (what, !info.starts_with("while parsing") || info.contains("quoted scalar"))
}

fn unplaced(what: &str) -> bool {
    what.starts_with("control characters") || what.starts_with("exceeded max depth")
}

#[cfg(test)]
mod tests {
    use super::super::read::parse;

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
        ] {
            let found = parse(text.as_bytes()).unwrap_err().to_string();
            assert_eq!(found, format!("error converting YAML to JSON: yaml: {message}"), "{text}");
        }
    }
}
