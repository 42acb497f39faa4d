//! Just enough of JSON to report whether a text is an object, with Go's message when it is not.

#![allow(clippy::arithmetic_side_effects, reason = "it counts what an object of a few megabytes has")]

use hydrofoil_text::quoted;

/// Return Go's error for a text that is no JSON.
pub fn syntax_problem(text: &[u8]) -> Option<String> {
    let mut p = Parser { text, at: 0 };
    if let Err(problem) = p.value(0) {
        return Some(problem);
    }
    p.space();
    p.peek().map(|b| format!("invalid character {} after top-level value", byte_text(b)))
}

/// Return the error of `json.Unmarshal` into a map, if any.
pub fn object_problem(text: &[u8]) -> Option<String> {
    if let Some(problem) = syntax_problem(text) {
        return Some(problem);
    }
    let kind = match text.iter().find(|b| !matches!(b, b' ' | b'\t' | b'\n' | b'\r')) {
        Some(b'{' | b'n') => return None,
        Some(b'[') => "array",
        Some(b'"') => "string",
        Some(b't' | b'f') => "bool",
        _ => "number",
    };
    Some(format!("json: cannot unmarshal {kind} into Go value of type map[string]interface {{}}"))
}

struct Parser<'a> {
    text: &'a [u8],
    at: usize,
}

fn byte_text(b: u8) -> String {
    match b {
        b'\'' => "'\\''".to_owned(),
        b'"' => "'\"'".to_owned(),
        // A byte is shown as the character of that number.
        b => format!("'{}'", quoted(char::from(b).encode_utf8(&mut [0; 2])).trim_matches('"')),
    }
}

impl Parser<'_> {
    fn peek(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }

    fn space(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }

    fn fail(&self, context: &str) -> String {
        self.peek().map_or_else(
            || "unexpected end of JSON input".to_owned(),
            |b| format!("invalid character {} {context}", byte_text(b)),
        )
    }

    /// Fail within a number or a word, which Go ends with a space at the end of the text.
    fn fail_within(&self, context: &str) -> String {
        format!("invalid character {} {context}", byte_text(self.peek().unwrap_or(b' ')))
    }

    fn value(&mut self, depth: usize) -> Result<(), String> {
        self.space();
        if depth > 10_000 {
            return Err("exceeded max depth".to_owned());
        }
        match self.peek() {
            Some(b'{') => self.container(b'}', depth, true),
            Some(b'[') => self.container(b']', depth, false),
            Some(b'"') => self.string(),
            Some(b't') => self.word("true"),
            Some(b'f') => self.word("false"),
            Some(b'n') => self.word("null"),
            Some(b'-' | b'0'..=b'9') => self.number(),
            _ => Err(self.fail("looking for beginning of value")),
        }
    }

    fn container(&mut self, end: u8, depth: usize, keyed: bool) -> Result<(), String> {
        self.at += 1;
        self.space();
        if self.peek() == Some(end) {
            self.at += 1;
            return Ok(());
        }
        loop {
            if keyed {
                self.space();
                if self.peek() != Some(b'"') {
                    return Err(self.fail("looking for beginning of object key string"));
                }
                self.string()?;
                self.space();
                if self.peek() != Some(b':') {
                    return Err(self.fail("after object key"));
                }
                self.at += 1;
            }
            self.value(depth + 1)?;
            self.space();
            match self.peek() {
                Some(b',') => self.at += 1,
                Some(b) if b == end => {
                    self.at += 1;
                    return Ok(());
                }
                _ => return Err(self.fail(if keyed { "after object key:value pair" } else { "after array element" })),
            }
        }
    }

    fn string(&mut self) -> Result<(), String> {
        self.at += 1;
        loop {
            match self.peek() {
                Some(b'"') => {
                    self.at += 1;
                    return Ok(());
                }
                Some(b'\\') => self.at += 2,
                Some(0..=0x1f) => return Err(self.fail("in string literal")),
                Some(_) => self.at += 1,
                None => return Err(self.fail("")),
            }
        }
    }

    fn number(&mut self) -> Result<(), String> {
        if self.peek() == Some(b'-') {
            self.at += 1;
        }
        match self.peek() {
            Some(b'0') => self.at += 1,
            Some(b'1'..=b'9') => self.digits(),
            _ => return Err(self.fail_within("in numeric literal")),
        }
        if self.peek() == Some(b'.') {
            self.at += 1;
            if !self.peek().is_some_and(|b| b.is_ascii_digit()) {
                return Err(self.fail_within("after decimal point in numeric literal"));
            }
            self.digits();
        }
        if matches!(self.peek(), Some(b'e' | b'E')) {
            self.at += 1;
            if matches!(self.peek(), Some(b'+' | b'-')) {
                self.at += 1;
            }
            if !self.peek().is_some_and(|b| b.is_ascii_digit()) {
                return Err(self.fail_within("in exponent of numeric literal"));
            }
            self.digits();
        }
        Ok(())
    }

    fn digits(&mut self) {
        while self.peek().is_some_and(|b| b.is_ascii_digit()) {
            self.at += 1;
        }
    }

    fn word(&mut self, word: &str) -> Result<(), String> {
        for expected in word.bytes() {
            if self.peek() != Some(expected) {
                let context = format!("in literal {word} (expecting {})", byte_text(expected));
                return Err(self.fail_within(&context));
            }
            self.at += 1;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::object_problem;

    #[test]
    fn problems() {
        assert_eq!(object_problem(b"{\"a\":[1,null]}"), None);
        assert_eq!(object_problem(b"").as_deref(), Some("unexpected end of JSON input"));
        assert_eq!(object_problem(b"x").as_deref(), Some("invalid character 'x' looking for beginning of value"));
        assert!(object_problem(b"[]").is_some());
    }
}
