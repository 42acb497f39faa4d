//! JSON inside strings: of managed fields, as `k:{"name":"a"}`, and of annotations.

#![allow(clippy::arithmetic_side_effects, reason = "places and counts are bounded by what is in memory")]
#![allow(clippy::indexing_slicing, reason = "places come from the list that they lead into")]
#![allow(clippy::string_slice, reason = "it is cut at characters of ASCII that were found there")]

use std::borrow::Cow;

use hydrofoil_text::go_json_string;

use crate::{Map, Value, compact, go};

/// The limit on the nesting of a value inside a string: real ones are flat, so this is generous.
const MAX_DEPTH: usize = 32;

/// Parse a string that is one JSON value.
pub fn parse(text: &str) -> Option<Value> {
    let mut reader = Reader::new(text);
    let value = reader.value(0)?;
    reader.is_done().then_some(value)
}

/// Append a value as Go's encoder writes it, members in their order.
pub fn write(out: &mut String, value: &Value) {
    match value {
        Value::Null => out.push_str("null"),
        Value::Bool(b) => out.push_str(if *b { "true" } else { "false" }),
        Value::Int(n) => out.push_str(&n.to_string()),
        Value::Float(f) => out.push_str(&go::json_float(f.get())),
        Value::Str(s) => write_str(out, s),
        Value::Raw(text) => out.push_str(&compact(text)),
        Value::Array(items) => {
            out.push('[');
            for (i, item) in items.iter().enumerate() {
                if i > 0 {
                    out.push(',');
                }
                write(out, item);
            }
            out.push(']');
        }
        Value::Object(map) => {
            out.push('{');
            for (i, (key, value)) in map.iter().enumerate() {
                if i > 0 {
                    out.push(',');
                }
                write_str(out, key);
                out.push(':');
                write(out, value);
            }
            out.push('}');
        }
    }
}

/// Report whether Go's encoder writes a string as it is, between quotes.
pub fn is_plain(text: &str) -> bool {
    let plain = |byte: &u8| matches!(byte, 0x20..=0x7f) && !matches!(byte, b'"' | b'\\' | b'<' | b'>' | b'&');
    text.as_bytes().iter().all(plain)
}

/// Append a string as Go's encoder writes it.
pub fn write_str(out: &mut String, text: &str) {
    if is_plain(text) {
        out.push('"');
        out.push_str(text);
        out.push('"');
        return;
    }
    go_json_string(text, out);
}

/// A parser of JSON.
pub struct Reader<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Reader<'a> {
    /// Return a parser at the beginning of a text.
    pub fn new(text: &'a str) -> Self {
        Self { text, at: 0 }
    }

    /// Report whether only spaces are left.
    pub fn is_done(&mut self) -> bool {
        self.skip();
        self.at == self.text.len()
    }

    fn skip(&mut self) {
        while let Some(b' ' | b'\t' | b'\n' | b'\r') = self.text.as_bytes().get(self.at) {
            self.at += 1;
        }
    }

    /// Consume the given text after spaces and report whether it was there.
    pub fn take(&mut self, text: &str) -> bool {
        self.skip();
        let comes = self.text.as_bytes()[self.at..].starts_with(text.as_bytes());
        self.at += if comes { text.len() } else { 0 };
        comes
    }

    /// Parse a value at a depth.
    pub fn value(&mut self, depth: usize) -> Option<Value> {
        if depth > MAX_DEPTH {
            return None;
        }
        self.skip();
        match self.text.as_bytes().get(self.at)? {
            b'"' => self.string().map(|text| Value::from(&*text)),
            b'{' => self.object(depth),
            b'[' => self.list(depth),
            b't' => self.take("true").then_some(Value::Bool(true)),
            b'f' => self.take("false").then_some(Value::Bool(false)),
            b'n' => self.take("null").then_some(Value::Null),
            _ => self.number(),
        }
    }

    fn object(&mut self, depth: usize) -> Option<Value> {
        self.at += 1;
        let mut map = Map::new();
        if self.take("}") {
            return Some(Value::Object(map));
        }
        loop {
            self.skip();
            let key = self.string()?;
            if !self.take(":") {
                return None;
            }
            let value = self.value(depth + 1)?;
            map.set(&*key, value);
            if self.take("}") {
                return Some(Value::Object(map));
            }
            if !self.take(",") {
                return None;
            }
        }
    }

    fn list(&mut self, depth: usize) -> Option<Value> {
        self.at += 1;
        let mut items = Vec::new();
        if self.take("]") {
            return Some(Value::Array(items));
        }
        loop {
            items.push(self.value(depth + 1)?);
            if self.take("]") {
                return Some(Value::Array(items));
            }
            if !self.take(",") {
                return None;
            }
        }
    }

    fn number(&mut self) -> Option<Value> {
        let rest = &self.text[self.at..];
        let end = rest.find(|c| !matches!(c, '0'..='9' | '-' | '+' | '.' | 'e' | 'E')).unwrap_or(rest.len());
        self.at += end;
        let digits = &rest[..end];
        let whole = digits.strip_prefix('-').unwrap_or(digits).as_bytes();
        if !whole.first().is_some_and(u8::is_ascii_digit) || matches!(whole, [b'0', b'0'..=b'9', ..]) {
            return None;
        }
        if let Ok(n) = digits.parse() {
            return Some(Value::Int(n));
        }
        digits.parse().ok().and_then(Value::float)
    }

    /// Parse a string, after spaces.
    pub fn string(&mut self) -> Option<Cow<'a, str>> {
        self.skip();
        let whole = self.text;
        let rest = whole[self.at..].strip_prefix('"')?;
        let plain = rest.bytes().position(|byte| matches!(byte, b'"' | b'\\'))?;
        if rest.as_bytes()[plain] == b'"' {
            self.at += plain + 2;
            return Some(Cow::Borrowed(&rest[..plain]));
        }
        let mut out = String::new();
        let mut chars = whole[self.at..].char_indices();
        chars.next();
        while let Some((i, c)) = chars.next() {
            match c {
                '"' => {
                    self.at += i + 1;
                    return Some(Cow::Owned(out));
                }
                '\\' => match chars.next()?.1 {
                    'n' => out.push('\n'),
                    'r' => out.push('\r'),
                    't' => out.push('\t'),
                    'b' => out.push('\x08'),
                    'f' => out.push('\x0c'),
                    'u' => {
                        let mut code = 0;
                        for _ in 0..4 {
                            code = code * 16 + chars.next()?.1.to_digit(16)?;
                        }
                        // Lone surrogates become the replacement character: no key of the server has them.
                        out.push(char::from_u32(code).unwrap_or('\u{fffd}'));
                    }
                    c => out.push(c),
                },
                c => out.push(c),
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::{parse, write};

    #[test]
    fn reads_what_it_writes() {
        for text in [r#"{"port":80,"protocol":"TCP"}"#, r#""a\"\\\n\u003cé""#, "[1,-2,true,null,1.5]", "{}", "[]"] {
            let mut out = String::new();
            write(&mut out, &parse(text).expect("it is JSON"));
            assert_eq!(out, text);
        }
    }

    #[test]
    fn refuses_what_is_not_json() {
        let deep = "[".repeat(100_000);
        for text in
            ["", "{", "[1", "\"a", r#"{"a"}"#, r"{a:1}", "1 2", "tru", "+1", "01", "-", "1e999", r#""\u12""#, &deep]
        {
            assert_eq!(parse(text), None, "{text:.20}");
        }
    }
}
