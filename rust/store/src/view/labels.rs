//! Label selectors: upstream's grammar and messages (apimachinery `pkg/labels/selector.go`).

#![allow(clippy::arithmetic_side_effects, reason = "it counts objects and bytes that are in memory")]
#![allow(clippy::indexing_slicing, reason = "places come from the structure that they lead through")]
#![allow(clippy::string_slice, reason = "it is cut at characters of ASCII that were found there")]

use hydrofoil_text::quoted;
use hydrofoil_types::SmolStr;

/// The most values of a set that a list looks for by their hashes.
const FEW: usize = 16;

const QUALIFIED: &str = "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";
const VALUE: &str = "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";
const SUBDOMAIN: &str = "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";

/// Requirements that must all hold for the labels of an object.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LabelSelector {
    requirements: Vec<Requirement>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Requirement {
    key: SmolStr,
    test: Test,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Test {
    Exists,
    Absent,
    In(Vec<SmolStr>),
    NotIn(Vec<SmolStr>),
    Greater(i64),
    Less(i64),
}

impl LabelSelector {
    /// Parse a selector; the error is upstream's message.
    pub fn parse(text: &str) -> Result<Self, String> {
        Parser { tokens: lex(text), at: 0 }.requirements().map(|requirements| Self { requirements })
    }

    /// Return the requirements by key, as access reviews have them: a comparison of numbers has no operator there.
    pub fn requirements(&self) -> Vec<(&str, &'static str, &[SmolStr])> {
        let mut all: Vec<_> = self
            .requirements
            .iter()
            .map(|r| match &r.test {
                Test::Exists => (r.key.as_str(), "Exists", &[][..]),
                Test::Absent => (r.key.as_str(), "DoesNotExist", &[][..]),
                Test::In(values) => (r.key.as_str(), "In", &values[..]),
                Test::NotIn(values) => (r.key.as_str(), "NotIn", &values[..]),
                Test::Greater(_) | Test::Less(_) => (r.key.as_str(), "", &[][..]),
            })
            .collect();
        all.sort_by_key(|(key, ..)| *key);
        all
    }

    /// Report whether it selects everything.
    pub fn is_empty(&self) -> bool {
        self.requirements.is_empty()
    }

    /// Return the key of a label that the selector requires, and its few values, if any.
    pub(crate) fn required_label(&self) -> Option<(&SmolStr, &[SmolStr])> {
        let sets = self.requirements.iter().filter_map(|r| match &r.test {
            Test::In(set) if set.len() <= FEW => Some((&r.key, &set[..])),
            _ => None,
        });
        sets.min_by_key(|(_, values)| values.len())
    }

    /// Report whether labels, sorted by key, satisfy it.
    pub fn matches(&self, labels: &[(SmolStr, SmolStr)]) -> bool {
        self.requirements.iter().all(|r| {
            let value = labels.binary_search_by(|(k, _)| k.cmp(&r.key)).ok().map(|i| &labels[i].1);
            match (&r.test, value) {
                (Test::Exists, v) => v.is_some(),
                (Test::Absent, v) => v.is_none(),
                // The values are sorted.
                (Test::In(set), Some(v)) => set.binary_search(v).is_ok(),
                (Test::NotIn(set), Some(v)) => set.binary_search(v).is_err(),
                (Test::NotIn(_), None) => true,
                (Test::Greater(n), Some(v)) => v.parse::<i64>().is_ok_and(|v| v > *n),
                (Test::Less(n), Some(v)) => v.parse::<i64>().is_ok_and(|v| v < *n),
                (Test::In(_) | Test::Greater(_) | Test::Less(_), None) => false,
            }
        })
    }
}

/// Report whether a requirement on a label is valid (`labels.NewRequirement`), for the operators of access reviews.
pub fn is_requirement(key: &str, operator: &str, values: &[&str]) -> bool {
    let counted = match operator {
        "In" | "NotIn" => !values.is_empty(),
        "Exists" | "DoesNotExist" => values.is_empty(),
        _ => false,
    };
    counted && qualified_name(key).is_none() && values.iter().all(|value| label_value(value).is_none())
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Word,
    Symbol,
    End,
}

fn lex(text: &str) -> Vec<(Kind, String)> {
    let special = |c: char| matches!(c, '=' | '!' | '(' | ')' | ',' | '>' | '<');
    let space = |c: char| matches!(c, ' ' | '\t' | '\r' | '\n');
    let mut tokens = Vec::new();
    let mut rest = text;
    loop {
        rest = rest.trim_start_matches(space);
        let Some(first) = rest.chars().next() else {
            tokens.push((Kind::End, String::new()));
            return tokens;
        };
        let (kind, len) = if special(first) {
            // The longest of the known symbols is matched.
            let long = ["==", "!="].iter().any(|s| rest.starts_with(s));
            (Kind::Symbol, if long { 2 } else { 1 })
        } else {
            (Kind::Word, rest.find(|c| special(c) || space(c)).unwrap_or(rest.len()))
        };
        tokens.push((kind, rest[..len].to_owned()));
        rest = &rest[len..];
    }
}

struct Parser {
    tokens: Vec<(Kind, String)>,
    at: usize,
}

impl Parser {
    fn look(&self) -> (Kind, &str) {
        self.tokens.get(self.at).map_or((Kind::End, ""), |(k, s)| (*k, s))
    }

    fn next(&mut self) -> (Kind, String) {
        let token = self.tokens.get(self.at).cloned().unwrap_or((Kind::End, String::new()));
        self.at += 1;
        token
    }

    fn requirements(&mut self) -> Result<Vec<Requirement>, String> {
        let mut out = Vec::new();
        loop {
            match self.look() {
                (Kind::End, _) => return Ok(out),
                (Kind::Word, _) | (Kind::Symbol, "!") => {}
                (_, found) => return Err(format!("found '{found}', expected: !, identifier, or 'end of string'")),
            }
            out.push(self.requirement().map_err(|e| format!("unable to parse requirement: {e}"))?);
            match self.next() {
                (Kind::End, _) => return Ok(out),
                (Kind::Symbol, s) if s == "," => match self.look() {
                    (Kind::Word, _) | (Kind::Symbol, "!") => {}
                    (_, found) => return Err(format!("found '{found}', expected: identifier after ','")),
                },
                (_, found) => return Err(format!("found '{found}', expected: ',' or 'end of string'")),
            }
        }
    }

    fn requirement(&mut self) -> Result<Requirement, String> {
        let mut token = self.next();
        let negated = token == (Kind::Symbol, "!".to_owned());
        if negated {
            token = self.next();
        }
        let (Kind::Word, key) = token else { return Err(format!("found '{}', expected: identifier", token.1)) };
        if let Some(problem) = qualified_name(&key) {
            // Upstream's parser of selectors has no field path here.
            return Err(format!("<nil>: Invalid value: {}: {problem}", quoted(&key)));
        }
        let ends = matches!(self.look(), (Kind::End, _) | (Kind::Symbol, ","));
        let key = SmolStr::from(key);
        if negated {
            return Ok(Requirement { key, test: Test::Absent });
        }
        if ends {
            return Ok(Requirement { key, test: Test::Exists });
        }
        let operator = self.next().1;
        let values = match operator.as_str() {
            "in" | "notin" => self.values()?,
            "=" | "==" | "!=" | ">" | "<" => vec![self.exact()?],
            found => return Err(format!("found '{found}', expected: in, notin, =, ==, !=, gt, lt")),
        };
        let bound = matches!(operator.as_str(), ">" | "<").then(|| values[0].parse::<i64>().ok());
        let mut problems = Vec::new();
        if bound == Some(None) {
            let why = "for 'Gt', 'Lt' operators, the value must be an integer";
            problems.push(format!("values[0]: Invalid value: {}: {why}", quoted(&values[0])));
        }
        for (i, value) in values.iter().enumerate() {
            if let Some(problem) = label_value(value) {
                problems.push(format!("values[{i}][{key}]: Invalid value: {}: {problem}", quoted(value)));
            }
        }
        if problems.len() > 1 {
            return Err(format!("[{}]", problems.join(", ")));
        }
        if let Some(problem) = problems.pop() {
            return Err(problem);
        }
        if let Some(Some(n)) = bound {
            return Ok(Requirement { key, test: if operator == ">" { Test::Greater(n) } else { Test::Less(n) } });
        }
        let negative = matches!(operator.as_str(), "notin" | "!=");
        Ok(Requirement { key, test: if negative { Test::NotIn(values) } else { Test::In(values) } })
    }

    fn exact(&mut self) -> Result<SmolStr, String> {
        if let (Kind::End, _) | (Kind::Symbol, ",") = self.look() {
            return Ok(SmolStr::default());
        }
        match self.next() {
            (Kind::Word, word) => Ok(word.into()),
            (_, found) => Err(format!("found '{found}', expected: identifier")),
        }
    }

    fn values(&mut self) -> Result<Vec<SmolStr>, String> {
        let (_, open) = self.next();
        if open != "(" {
            return Err(format!("found '{open}' expected: '('"));
        }
        let mut set = std::collections::BTreeSet::new();
        match self.look() {
            (Kind::Word, _) | (Kind::Symbol, ",") => {}
            (Kind::Symbol, ")") => {
                self.at += 1;
                return Ok(vec![SmolStr::default()]);
            }
            (_, found) => return Err(format!("found '{found}', expected: ',', ')' or identifier")),
        }
        loop {
            match self.next() {
                (Kind::Word, word) => {
                    set.insert(SmolStr::from(word));
                    match self.look() {
                        (Kind::Symbol, ",") => {}
                        (Kind::Symbol, ")") => break,
                        (_, found) => return Err(format!("found '{found}', expected: ',' or ')'")),
                    }
                }
                (Kind::Symbol, s) if s == "," => {
                    if set.is_empty() {
                        set.insert(SmolStr::default());
                    }
                    match self.look() {
                        (Kind::Symbol, ")") => {
                            set.insert(SmolStr::default());
                            break;
                        }
                        (Kind::Symbol, ",") => {
                            self.at += 1;
                            set.insert(SmolStr::default());
                        }
                        _ => {}
                    }
                }
                (_, found) => return Err(format!("found '{found}', expected: ',', or identifier")),
            }
        }
        self.at += 1;
        Ok(set.into_iter().collect())
    }
}

fn word(text: &str) -> bool {
    let b = text.as_bytes();
    b.first().is_some_and(u8::is_ascii_alphanumeric)
        && b.last().is_some_and(u8::is_ascii_alphanumeric)
        && b.iter().all(|c| c.is_ascii_alphanumeric() || matches!(c, b'-' | b'_' | b'.'))
}

fn subdomain(text: &str) -> bool {
    text.split('.').all(|part| {
        let b = part.as_bytes();
        !b.is_empty()
            && b[0] != b'-'
            && b[b.len() - 1] != b'-'
            && b.iter().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || *c == b'-')
    })
}

fn qualified_name(key: &str) -> Option<String> {
    let name = match key.split('/').collect::<Vec<_>>()[..] {
        [name] => name,
        [prefix, name] => {
            if prefix.is_empty() {
                return Some("prefix part must be non-empty".to_owned());
            }
            if prefix.len() > 253 {
                return Some("prefix part must be no more than 253 bytes".to_owned());
            }
            if !subdomain(prefix) {
                return Some(format!("prefix part {SUBDOMAIN}"));
            }
            name
        }
        _ => {
            return Some(format!(
                "a valid label key {QUALIFIED} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')"
            ));
        }
    };
    let length = match name.len() {
        0 => Some("name part must be non-empty".to_owned()),
        64.. => Some("name part must be no more than 63 bytes".to_owned()),
        _ => None,
    };
    let form = (!word(name)).then(|| format!("name part {QUALIFIED}"));
    let texts: Vec<String> = length.into_iter().chain(form).collect();
    (!texts.is_empty()).then(|| texts.join("; "))
}

fn label_value(value: &str) -> Option<String> {
    if value.len() > 63 {
        Some("must be no more than 63 bytes".to_owned())
    } else {
        (!value.is_empty() && !word(value)).then(|| VALUE.to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::{LabelSelector, is_requirement};

    #[test]
    fn has_requirements_by_key() {
        let selector = parse("b notin (d,c),!e,a,f>5").unwrap();
        let all = selector.requirements();
        let operators: Vec<_> = all.iter().map(|(key, operator, values)| (*key, *operator, values.len())).collect();
        assert_eq!(operators, [("a", "Exists", 0), ("b", "NotIn", 2), ("e", "DoesNotExist", 0), ("f", "", 0)]);
        assert!(is_requirement("a/b", "In", &[""]) && is_requirement("a", "Exists", &[]));
        for (key, operator, values) in [
            ("a b", "Exists", &[][..]),
            ("a", "In", &[]),
            ("a", "Exists", &["b"]),
            ("a", "In", &["-"]),
            ("a", "Gt", &["1"]),
        ] {
            assert!(!is_requirement(key, operator, values), "{key} {operator}");
        }
    }

    fn parse(text: &str) -> Result<LabelSelector, String> {
        LabelSelector::parse(text)
    }

    #[test]
    fn selects() {
        let labels = [("app".into(), "web".into()), ("n".into(), "5".into())];
        for (text, selected) in [
            ("", true),
            ("app=web", true),
            ("app==web,n", true),
            ("app!=web", false),
            ("app in (db, web)", true),
            ("app notin (db)", true),
            ("none notin (db)", true),
            ("!none", true),
            ("!app", false),
            ("n>4", true),
            ("n<5", false),
            ("none=", false),
        ] {
            assert_eq!(parse(text).unwrap().matches(&labels), selected, "{text}");
        }
    }

    #[test]
    fn refuses_with_upstreams_texts() {
        for (text, message) in [
            ("!", "unable to parse requirement: found '', expected: identifier"),
            ("a=bad value", "found 'value', expected: ',' or 'end of string'"),
            ("bad key=x", "unable to parse requirement: found 'key', expected: in, notin, =, ==, !=, gt, lt"),
            ("a in (b", "unable to parse requirement: found '', expected: ',' or ')'"),
            ("a,,b", "found ',', expected: identifier after ','"),
            ("a=b=c", "found '=', expected: ',' or 'end of string'"),
            ("app in web", "unable to parse requirement: found 'web' expected: '('"),
            (
                "a>b",
                "unable to parse requirement: values[0]: Invalid value: \"b\": for 'Gt', 'Lt' operators, the value must be an integer",
            ),
        ] {
            assert_eq!(parse(text).unwrap_err(), message, "{text}");
        }
    }
}
