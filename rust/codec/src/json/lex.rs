//! The lexical level of JSON: a cursor over bytes with Go's error messages.

#![allow(clippy::arithmetic_side_effects, reason = "places in a body and depths are bounded by its bytes")]
#![allow(clippy::indexing_slicing, reason = "the cursor never passes the end of the body")]

use hydrofoil_types::{SmolStr, Value};

use crate::DecodeError;

/// The maximum nesting of values: enough for any schema, and safe for the stack.
pub(super) const MAX_DEPTH: usize = 1000;

pub(super) struct Lexer<'a> {
    pub(super) text: &'a [u8],
    pub(super) at: usize,
}

/// A number as written: an integer if it has no fraction or exponent; a float beyond the range is infinite.
pub(super) enum Number {
    Int(i64),
    Float(f64),
}

impl Number {
    /// Return the number as a value; `None` beyond the range of floats.
    pub(super) fn value(&self) -> Option<Value> {
        match self {
            Self::Int(n) => Some(Value::Int(*n)),
            Self::Float(f) => Value::float(*f),
        }
    }
}

impl<'a> Lexer<'a> {
    pub(super) fn new(text: &'a [u8]) -> Self {
        Self { text, at: 0 }
    }

    pub(super) fn skip_space(&mut self) {
        while let Some(b' ' | b'\t' | b'\n' | b'\r') = self.text.get(self.at) {
            self.at += 1;
        }
    }

    /// Return the next byte that is not white space, without consuming it.
    pub(super) fn peek(&mut self) -> Option<u8> {
        self.skip_space();
        self.text.get(self.at).copied()
    }

    pub(super) fn eof() -> DecodeError {
        DecodeError::Syntax("unexpected end of JSON input".to_owned())
    }

    /// Return `invalid character 'x' CONTEXT`, or the error of an early end of the input.
    pub(super) fn unexpected_character(&self, context: &str) -> DecodeError {
        let Some(&byte) = self.text.get(self.at) else { return Self::eof() };
        let shown = match byte {
            b'\'' => r"'\''".to_owned(),
            b'"' => "'\"'".to_owned(),
            b'\\' => r"'\\'".to_owned(),
            b'\n' => r"'\n'".to_owned(),
            b'\r' => r"'\r'".to_owned(),
            b'\t' => r"'\t'".to_owned(),
            0..=0x1f | 0x7f => format!(r"'\x{byte:02x}'"),
            // Go quotes the byte as a code point.
            _ => format!("'{}'", char::from(byte)),
        };
        DecodeError::Syntax(format!("invalid character {shown} {context}"))
    }

    pub(super) fn literal(&mut self, word: &'static str) -> Result<(), DecodeError> {
        for (i, expected) in word.bytes().enumerate() {
            if self.text.get(self.at) != Some(&expected) {
                return Err(self.unexpected_character(&if i == 0 {
                    "looking for beginning of value".to_owned()
                } else {
                    format!("in literal {word} (expecting '{}')", char::from(expected))
                }));
            }
            self.at += 1;
        }
        Ok(())
    }

    /// Return the span of a number and its value.
    pub(super) fn number(&mut self) -> Result<(&'a str, Number), DecodeError> {
        let start = self.at;
        if self.text.get(self.at) == Some(&b'-') {
            self.at += 1;
        }
        match self.text.get(self.at) {
            Some(b'0') => self.at += 1,
            Some(b'1'..=b'9') => self.digits(),
            _ => return Err(self.unexpected_character("in numeric literal")),
        }
        let mut integer = true;
        if self.text.get(self.at) == Some(&b'.') {
            integer = false;
            self.at += 1;
            if !matches!(self.text.get(self.at), Some(b'0'..=b'9')) {
                return Err(self.unexpected_character("after decimal point in numeric literal"));
            }
            self.digits();
        }
        if let Some(b'e' | b'E') = self.text.get(self.at) {
            integer = false;
            self.at += 1;
            if let Some(b'+' | b'-') = self.text.get(self.at) {
                self.at += 1;
            }
            if !matches!(self.text.get(self.at), Some(b'0'..=b'9')) {
                return Err(self.unexpected_character("in exponent of numeric literal"));
            }
            self.digits();
        }
        let span = std::str::from_utf8(&self.text[start..self.at]).expect("a number is ASCII");
        let value = match integer.then(|| span.parse().ok()).flatten() {
            Some(n) => Number::Int(n),
            None => Number::Float(span.parse().unwrap_or(0.0)),
        };
        Ok((span, value))
    }

    fn digits(&mut self) {
        while let Some(b'0'..=b'9') = self.text.get(self.at) {
            self.at += 1;
        }
    }

    /// Return a string; the cursor is on its opening quote.
    pub(super) fn string(&mut self) -> Result<SmolStr, DecodeError> {
        self.at += 1;
        let start = self.at;
        let plain = self.text[start..].iter().position(|b| matches!(b, b'"' | b'\\' | 0..=0x1f));
        let end = start + plain.ok_or_else(Self::eof)?;
        if self.text[end] == b'"' {
            self.at = end + 1;
            return Ok(text(&self.text[start..end]));
        }
        let mut out = self.text[start..end].to_vec();
        self.at = end;
        loop {
            match self.text.get(self.at) {
                None => return Err(Self::eof()),
                Some(b'"') => {
                    self.at += 1;
                    return Ok(text(&out));
                }
                Some(b'\\') => self.escape(&mut out)?,
                Some(0..=0x1f) => return Err(self.unexpected_character("in string literal")),
                Some(&byte) => {
                    out.push(byte);
                    self.at += 1;
                }
            }
        }
    }

    fn escape(&mut self, out: &mut Vec<u8>) -> Result<(), DecodeError> {
        self.at += 1;
        let byte = match self.text.get(self.at) {
            Some(b'n') => b'\n',
            Some(b't') => b'\t',
            Some(b'r') => b'\r',
            Some(b'b') => 8,
            Some(b'f') => 12,
            Some(&c @ (b'"' | b'\\' | b'/')) => c,
            Some(b'u') => {
                self.at += 1;
                let mut code = self.hex()?;
                if (0xd800..0xdc00).contains(&code) && self.text[self.at..].starts_with(b"\\u") {
                    let back = self.at;
                    self.at += 2;
                    let low = self.hex()?;
                    if (0xdc00..0xe000).contains(&low) {
                        code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
                    } else {
                        self.at = back;
                    }
                }
                let c = char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER);
                out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
                return Ok(());
            }
            _ => return Err(self.unexpected_character("in string escape code")),
        };
        out.push(byte);
        self.at += 1;
        Ok(())
    }

    fn hex(&mut self) -> Result<u32, DecodeError> {
        let mut code = 0;
        for _ in 0..4 {
            let digit = self.text.get(self.at).and_then(|b| char::from(*b).to_digit(16));
            code = code * 16 + digit.ok_or_else(|| self.unexpected_character("in \\u hexadecimal character escape"))?;
            self.at += 1;
        }
        Ok(code)
    }
}

/// Return bytes as text, each invalid sequence replaced as Go does.
fn text(bytes: &[u8]) -> SmolStr {
    match std::str::from_utf8(bytes) {
        Ok(s) => SmolStr::new(s),
        Err(_) => SmolStr::from(String::from_utf8_lossy(bytes)),
    }
}
