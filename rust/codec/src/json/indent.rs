//! Indented JSON, as Go's `json.Indent` writes it.

#![allow(clippy::arithmetic_side_effects, reason = "places in a body and depths are bounded by its bytes")]
#![allow(clippy::indexing_slicing, reason = "the cursor never passes the end of the body")]

/// Indent compact JSON by two spaces a level.
pub fn indent(text: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len() * 2);
    let mut depth = 0usize;
    let mut at = 0;
    while let Some(&byte) = text.get(at) {
        at += 1;
        match byte {
            b'"' => {
                let start = at - 1;
                while let Some(&c) = text.get(at) {
                    at += if c == b'\\' { 2 } else { 1 };
                    if c == b'"' {
                        break;
                    }
                }
                out.extend_from_slice(&text[start..at.min(text.len())]);
            }
            b'{' | b'[' => {
                out.push(byte);
                // There is nothing between the braces of an empty value.
                if text.get(at).is_some_and(|c| matches!(c, b'}' | b']')) {
                    out.push(text[at]);
                    at += 1;
                } else {
                    depth += 1;
                    line(&mut out, depth);
                }
            }
            b'}' | b']' => {
                depth = depth.saturating_sub(1);
                line(&mut out, depth);
                out.push(byte);
            }
            b',' => {
                out.push(byte);
                line(&mut out, depth);
            }
            b':' => out.extend_from_slice(b": "),
            b' ' | b'\n' | b'\r' | b'\t' => {}
            _ => out.push(byte),
        }
    }
    out
}

fn line(out: &mut Vec<u8>, depth: usize) {
    out.push(b'\n');
    out.extend(std::iter::repeat_n(b' ', depth * 2));
}

#[cfg(test)]
mod tests {
    #[test]
    fn indents() {
        let text = super::indent(br#"{"a":[1,{}],"b":"x,\"{"}"#);
        assert_eq!(text, b"{\n  \"a\": [\n    1,\n    {}\n  ],\n  \"b\": \"x,\\\"{\"\n}");
    }
}
