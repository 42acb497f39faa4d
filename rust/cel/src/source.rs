//! The text of an expression, and its issues as cel-go prints them (cel-go `common/error.go`).

#![allow(
    clippy::arithmetic_side_effects,
    reason = "sizes and costs are bounded by the budget of a run; numbers of a rule are calculated with checks"
)]

use std::fmt::Write as _;

/// An issue at an offset in characters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Issue {
    /// The offset.
    pub at: usize,
    /// The message.
    pub message: String,
}

impl Issue {
    /// Return an issue.
    pub fn new(at: usize, message: impl Into<String>) -> Self {
        Self { at, message: message.into() }
    }
}

/// Return the issues with their source lines, in the order of the source: `ERROR: <input>:1:6: ...`. Of many, those
/// found first are shown.
pub fn render(source: &str, issues: &[Issue]) -> String {
    const MOST: usize = 100;
    let mut sorted: Vec<&Issue> = issues.iter().take(MOST).collect();
    sorted.sort_by_key(|issue| issue.at);
    let mut texts: Vec<String> = sorted.into_iter().map(|issue| one(source, issue)).collect();
    if let Some(more @ 1..) = issues.len().checked_sub(MOST) {
        texts.push(format!("{more} more errors were truncated"));
    }
    texts.join("\n")
}

fn one(source: &str, issue: &Issue) -> String {
    // Longer lines are not shown.
    const LONGEST: usize = 16384;
    if source.is_empty() {
        // Upstream has no position in an empty source.
        return format!("ERROR: <input>:1:0: {}", issue.message);
    }
    let (mut line, mut column) = (1, 0);
    for c in source.chars().take(issue.at) {
        column += 1;
        if c == '\n' {
            line += 1;
            column = 0;
        }
    }
    let mut out = format!("ERROR: <input>:{line}:{}: {}", column + 1, issue.message);
    let shown = source.split('\n').nth(line - 1).unwrap_or("");
    if shown.len() > LONGEST {
        return out;
    }
    let shown = shown.replace('\t', " ");
    let _ = write!(out, "\n | {shown}\n | ");
    let mut chars = shown.chars();
    for c in chars.by_ref().take(column) {
        out.push(if c.is_ascii() { '.' } else { '\u{ff0e}' });
    }
    out.push(if chars.next().is_none_or(|c| c.is_ascii()) { '^' } else { '\u{ff3e}' });
    out
}
