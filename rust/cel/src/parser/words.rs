//! The tokens that messages list as expected.

use crate::token::{Kind as Word, Token};

/// The tokens that start an expression, in the order of the grammar.
const STARTS: [&str; 15] = [
    "'['",
    "'{'",
    "'('",
    "'.'",
    "'-'",
    "'!'",
    "'true'",
    "'false'",
    "'null'",
    "NUM_FLOAT",
    "NUM_INT",
    "NUM_UINT",
    "STRING",
    "BYTES",
    "IDENTIFIER",
];
/// Tokens that may also be at the start of an expression, and before which of `STARTS` messages list them.
const BESIDE: [(&str, usize); 5] = [("]", 1), ("}", 2), (")", 3), (",", 4), ("?", 6)];

/// Report whether a token starts an expression.
pub(super) fn begins(token: Token<'_>) -> bool {
    match token.kind {
        Word::Sign => matches!(token.text, "[" | "{" | "(" | "." | "-" | "!" | "true" | "false" | "null"),
        Word::End | Word::Escaped => false,
        _ => true,
    }
}

/// Return the tokens that start an expression and the other valid ones, as messages list them.
pub(super) fn starts(beside: &[&str]) -> String {
    let mut out: Vec<String> = Vec::new();
    for (i, start) in STARTS.iter().enumerate() {
        let signs = BESIDE.iter().filter(|(sign, at)| *at == i && beside.contains(sign));
        out.extend(signs.map(|(sign, _)| format!("'{sign}'")));
        out.push((*start).to_owned());
    }
    out.join(", ")
}

/// Report whether a token is a binary operator.
pub(super) fn is_operator(token: Token<'_>) -> bool {
    const OPERATORS: [&str; 13] = ["==", "!=", "<=", ">=", "&&", "||", "<", ">", "+", "*", "/", "%", "in"];
    token.kind == Word::Sign && OPERATORS.contains(&token.text)
}
