//! Field selectors: upstream's grammar (apimachinery `pkg/fields/selector.go`).

#![allow(clippy::arithmetic_side_effects, reason = "it counts objects and bytes that are in memory")]
#![allow(clippy::string_slice, reason = "it is cut at characters of ASCII that were found there")]

use hydrofoil_types::{Fingerprint, SmolStr};

use crate::Version;

/// The target of a field selector.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FieldTarget {
    /// `metadata.name`.
    Name,
    /// `metadata.namespace`.
    Namespace,
    /// The value at an index of [`Version::fields`].
    Index(usize),
}

/// The view in which a selector reads objects that are converted before they are selected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shown {
    /// The fingerprint of stored JSON that needs no conversion: its values are those of [`Version::fields`].
    pub stored: Fingerprint,
    /// The view to which all others are converted.
    pub view: Fingerprint,
}

/// Terms that must all hold for the fields of an object.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FieldSelector {
    terms: Vec<(FieldTarget, bool, SmolStr)>,
    view: Option<Shown>,
}

impl FieldSelector {
    /// Parse a selector. `resolve` returns the target of a label, or the kind's error message.
    pub fn parse(text: &str, resolve: impl Fn(&str) -> Result<FieldTarget, String>) -> Result<Self, String> {
        let mut terms = Vec::new();
        for (label, equal, value) in field_terms(text)? {
            // A term without a label and a value always holds.
            if !(label.is_empty() && value.is_empty()) {
                terms.push((resolve(label)?, equal, value));
            }
        }
        Ok(Self { terms, view: None })
    }

    /// Return the same selector on objects in a view. Names and namespaces are equal in all views.
    #[must_use]
    pub fn seen_in(mut self, view: Option<Shown>) -> Self {
        self.view = view.filter(|_| self.terms.iter().any(|(target, ..)| matches!(target, FieldTarget::Index(_))));
        self
    }

    /// Report whether objects must be converted before they can be selected.
    pub fn is_viewed(&self) -> bool {
        self.view.is_some()
    }

    /// Report whether the values of an object are known.
    pub fn knows(&self, version: &Version) -> bool {
        self.view.is_none_or(|view| version.fingerprint() == view.stored || version.fields_in(view.view).is_some())
    }

    /// Report whether it selects everything.
    pub fn is_empty(&self) -> bool {
        self.terms.is_empty()
    }

    /// Report whether an object satisfies it; true if it may, as long as its values are unknown.
    pub fn matches(&self, version: &Version) -> bool {
        let converted;
        let fields = match self.view.filter(|view| version.fingerprint() != view.stored) {
            None => Some(version.fields()),
            Some(view) => {
                converted = version.fields_in(view.view);
                converted.as_deref()
            }
        };
        self.terms.iter().all(|(target, equal, value)| {
            let actual = match target {
                FieldTarget::Name => version.name(),
                FieldTarget::Namespace => version.namespace(),
                FieldTarget::Index(i) => match fields {
                    Some(fields) => fields.get(*i).map_or("", SmolStr::as_str),
                    None => return true,
                },
            };
            (actual == value.as_str()) == *equal
        })
    }

    /// Return the one value that the selector requires of a target, if any.
    pub fn required_value(&self, target: FieldTarget) -> Option<&str> {
        self.terms.iter().find(|(t, equal, _)| *t == target && *equal).map(|(_, _, v)| v.as_str())
    }

    /// Return the index and value of a required field of stored objects, if any.
    pub fn required_index(&self) -> Option<(usize, &SmolStr)> {
        if self.is_viewed() {
            return None;
        }
        self.terms.iter().find_map(|(t, equal, v)| match t {
            FieldTarget::Index(i) if *equal => Some((*i, v)),
            _ => None,
        })
    }
}

/// Return the terms of a selector, sorted as upstream sorts them: label, whether it is an equality, and value.
pub fn field_terms(text: &str) -> Result<Vec<(&str, bool, SmolStr)>, String> {
    let mut terms = Vec::new();
    let mut parts = pieces(text);
    parts.sort_unstable();
    for term in parts {
        if term.is_empty() {
            continue;
        }
        let found = term
            .char_indices()
            .find_map(|(i, _)| ["!=", "==", "="].iter().find(|op| term[i..].starts_with(**op)).map(|op| (i, *op)));
        let Some((at, op)) = found else {
            return Err(format!("invalid selector: '{text}'; can't understand '{term}'"));
        };
        terms.push((&term[..at], op != "!=", unescape(&term[at + op.len()..])?));
    }
    Ok(terms)
}

/// Split a text at commas that are not escaped.
fn pieces(text: &str) -> Vec<&str> {
    let mut out = Vec::new();
    let mut start = 0;
    let mut escaped = false;
    for (i, c) in text.char_indices() {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            ',' => {
                out.push(&text[start..i]);
                start = i + 1;
            }
            _ => {}
        }
    }
    out.push(&text[start..]);
    out
}

fn unescape(value: &str) -> Result<SmolStr, String> {
    if !value.contains(['\\', ',', '=']) {
        return Ok(value.into());
    }
    let mut out = String::with_capacity(value.len());
    let mut chars = value.chars();
    while let Some(c) = chars.next() {
        match c {
            '\\' => match chars.next() {
                Some(c @ ('\\' | ',' | '=')) => out.push(c),
                Some(c) => return Err(format!("invalid field selector: invalid escape sequence: \\{c}")),
                None => return Err("invalid field selector: invalid escape sequence: \\".to_owned()),
            },
            ',' | '=' => return Err(format!("invalid field selector: unescaped character in value: {}", u32::from(c))),
            c => out.push(c),
        }
    }
    Ok(out.into())
}

#[cfg(test)]
mod tests {
    use super::{FieldSelector, FieldTarget};

    #[test]
    fn refuses_with_upstreams_texts() {
        let parse = |text| FieldSelector::parse(text, |_| Ok(FieldTarget::Name)).unwrap_err();
        assert_eq!(parse("nonsense"), "invalid selector: 'nonsense'; can't understand 'nonsense'");
        assert_eq!(parse("a=\\x"), "invalid field selector: invalid escape sequence: \\x");
        assert_eq!(parse("a=b=c"), "invalid field selector: unescaped character in value: 61");
        assert_eq!(parse("b,a"), "invalid selector: 'b,a'; can't understand 'a'");
        assert!(FieldSelector::parse("=", |_| Err(String::new())).is_ok_and(|all| all.is_empty()));
    }
}
