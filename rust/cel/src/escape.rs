//! Names of fields as escaped in expressions (apiserver `pkg/cel/escaping.go`).

#![allow(clippy::string_slice, reason = "it is cut at characters that were found there")]

use smol_str::{SmolStr, format_smolstr};

const RESERVED: [&str; 21] = [
    "true",
    "false",
    "null",
    "in",
    "as",
    "break",
    "const",
    "continue",
    "else",
    "for",
    "function",
    "if",
    "import",
    "let",
    "loop",
    "package",
    "namespace",
    "return",
    "var",
    "void",
    "while",
];

/// Report whether a word is reserved in expressions, so that it is escaped as a name.
pub(crate) fn is_reserved(name: &str) -> bool {
    RESERVED.contains(&name)
}

/// Return the name in expressions; `None` if it cannot be written there.
pub fn escape(name: &str) -> Option<SmolStr> {
    if name.is_empty() || name.starts_with(|c: char| c.is_ascii_digit()) {
        return None;
    }
    if is_reserved(name) {
        return Some(format_smolstr!("__{name}__"));
    }
    let mut out = String::with_capacity(name.len());
    let mut rest = name;
    while let Some(c) = rest.chars().next() {
        let (piece, length) = match c {
            '_' if rest.starts_with("__") => ("__underscores__", 2),
            '.' => ("__dot__", 1),
            '-' => ("__dash__", 1),
            '/' => ("__slash__", 1),
            c if c.is_ascii_alphanumeric() || c == '_' => (&rest[..1], 1),
            _ => return None,
        };
        out.push_str(piece);
        rest = &rest[length..];
    }
    Some(out.into())
}
