//! Declarations of functions (cel-go `common/stdlib`, `ext`; apiserver `pkg/cel/library`, as `pkg/cel/environment`
//! enables them for version 1.35). The overloads that a call may use decide its type and its cost.

#![allow(
    clippy::arithmetic_side_effects,
    reason = "sizes and costs are bounded by the budget of a run; numbers of a rule are calculated with checks"
)]
#![allow(clippy::string_slice, reason = "it is cut at characters that were found there")]

use std::collections::HashMap;
use std::sync::LazyLock;

/// A type in a declaration, with type parameters as letters.
#[derive(Clone, Debug)]
pub(crate) enum Sig {
    Plain(&'static str),
    Param(u8),
    Of(&'static str, Vec<Sig>),
}

/// An overload of a function.
#[derive(Debug)]
pub(crate) struct Overload {
    pub id: &'static str,
    /// Whether it is called as `a.f(b)`, with `a` as the first argument.
    pub member: bool,
    pub args: Vec<Sig>,
    pub result: Sig,
}

/// Return the overloads of a function, in upstream's order.
pub(crate) fn find(name: &str) -> Option<&'static [Overload]> {
    FUNCTIONS.get(name).map(Vec::as_slice)
}

static FUNCTIONS: LazyLock<HashMap<&'static str, Vec<Overload>>> = LazyLock::new(|| {
    let mut out: HashMap<&'static str, Vec<Overload>> = HashMap::new();
    for line in include_str!("declarations.txt").lines().filter(|l| !l.is_empty() && !l.starts_with('#')) {
        // name id (args) result; a dot before the brackets marks a member function
        let mut parts = line.splitn(3, ' ');
        let (Some(name), Some(id), Some(shape)) = (parts.next(), parts.next(), parts.next()) else { continue };
        let member = shape.starts_with('.');
        let shape = shape.trim_start_matches('.');
        let Some(close) = closing(shape) else { continue };
        let args = list(&shape[1..close]);
        let result = sig(shape[close + 1..].trim());
        out.entry(name).or_default().push(Overload { id, member, args, result });
    }
    out
});

/// Return the index of the bracket that closes the first one.
fn closing(text: &str) -> Option<usize> {
    let mut depth = 0;
    text.char_indices().find_map(|(i, c)| {
        depth += match c {
            '(' => 1,
            ')' => -1,
            _ => 0,
        };
        (depth == 0 && c == ')').then_some(i)
    })
}

fn list(text: &'static str) -> Vec<Sig> {
    let (mut out, mut depth, mut start) = (Vec::new(), 0, 0);
    for (i, c) in text.char_indices() {
        match c {
            '(' => depth += 1,
            ')' => depth -= 1,
            ',' if depth == 0 => {
                out.push(sig(text[start..i].trim()));
                start = i + 1;
            }
            _ => {}
        }
    }
    if !text[start..].trim().is_empty() {
        out.push(sig(text[start..].trim()));
    }
    out
}

fn sig(text: &'static str) -> Sig {
    if let [letter @ b'A'..=b'Z'] = text.as_bytes() {
        return Sig::Param(letter - b'A');
    }
    match text.split_once('(') {
        Some((name, rest)) => Sig::Of(name, list(rest.strip_suffix(')').unwrap_or(rest))),
        None => Sig::Plain(text),
    }
}
