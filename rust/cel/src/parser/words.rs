//! What may stand where, as messages tell it.

use crate::token::{Kind as Word, Token};

/// What an expression can begin with, in the order of the grammar.
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
/// Signs that may stand where an expression begins, and before which of `STARTS` messages name them.
const BESIDE: [(&str, usize); 5] = [("]", 1), ("}", 2), (")", 3), (",", 4), ("?", 6)];

/// Whether an expression can begin so.
pub(super) fn begins(token: Token<'_>) -> bool {
    match token.kind {
        Word::Sign => matches!(token.text, "[" | "{" | "(" | "." | "-" | "!" | "true" | "false" | "null"),
        Word::End | Word::Escaped => false,
        _ => true,
    }
}

/// What an expression can begin with and what else may stand there, as messages list it.
pub(super) fn starts(beside: &[&str]) -> String {
    let mut out: Vec<String> = Vec::new();
    for (i, start) in STARTS.iter().enumerate() {
        let signs = BESIDE.iter().filter(|(sign, at)| *at == i && beside.contains(sign));
        out.extend(signs.map(|(sign, _)| format!("'{sign}'")));
        out.push((*start).to_owned());
    }
    out.join(", ")
}

/// Whether a word stands between two expressions.
pub(super) fn is_operator(token: Token<'_>) -> bool {
    const OPERATORS: [&str; 13] = ["==", "!=", "<=", ">=", "&&", "||", "<", ">", "+", "*", "/", "%", "in"];
    token.kind == Word::Sign && OPERATORS.contains(&token.text)
}
