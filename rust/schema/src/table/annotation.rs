//! JSON inside an annotation. This crate knows no encodings, and what is read here is small and rare, so that
//! a reader of a page does.

use hydrofoil_types::{Map, Value};

/// Nothing that is read nests nearly as deep.
const DEEPEST: usize = 32;

/// The value of a JSON text; `None` when it is none.
pub(super) fn parse(text: &str) -> Option<Value> {
    let mut reader = Reader { rest: text };
    let value = reader.value(0)?;
    reader.space();
    reader.rest.is_empty().then_some(value)
}

struct Reader<'a> {
    rest: &'a str,
}

impl Reader<'_> {
    fn space(&mut self) {
        self.rest = self.rest.trim_start_matches([' ', '\t', '\n', '\r']);
    }

    /// Takes a token, after space.
    fn take(&mut self, token: &str) -> Option<()> {
        self.space();
        self.rest = self.rest.strip_prefix(token)?;
        Some(())
    }

    fn value(&mut self, depth: usize) -> Option<Value> {
        self.space();
        match self.rest.chars().next()? {
            _ if depth > DEEPEST => None,
            '{' => self.object(depth),
            '[' => self.array(depth),
            '"' => self.text().map(Value::from),
            'n' => self.take("null").map(|()| Value::Null),
            't' => self.take("true").map(|()| Value::Bool(true)),
            'f' => self.take("false").map(|()| Value::Bool(false)),
            _ => self.number(),
        }
    }

    fn object(&mut self, depth: usize) -> Option<Value> {
        self.take("{")?;
        let mut map = Map::new();
        if self.take("}").is_some() {
            return Some(Value::Object(map));
        }
        loop {
            self.space();
            let key = self.text()?;
            self.take(":")?;
            map.set(key.as_str(), self.value(depth + 1)?);
            if self.take(",").is_none() {
                return self.take("}").map(|()| Value::Object(map));
            }
        }
    }

    fn array(&mut self, depth: usize) -> Option<Value> {
        self.take("[")?;
        let mut list = Vec::new();
        if self.take("]").is_some() {
            return Some(Value::Array(list));
        }
        loop {
            list.push(self.value(depth + 1)?);
            if self.take(",").is_none() {
                return self.take("]").map(|()| Value::Array(list));
            }
        }
    }

    fn number(&mut self) -> Option<Value> {
        let end = self.rest.find(|c: char| !matches!(c, '0'..='9' | '-' | '+' | '.' | 'e' | 'E'));
        let (number, rest) = self.rest.split_at(end.unwrap_or(self.rest.len()));
        self.rest = rest;
        number.parse().map(Value::Int).or_else(|_| number.parse().map(Value::Float)).ok()
    }

    fn text(&mut self) -> Option<String> {
        self.rest = self.rest.strip_prefix('"')?;
        let mut out = String::new();
        loop {
            let at = self.rest.find(['"', '\\'])?;
            out.push_str(&self.rest[..at]);
            let quote = self.rest[at..].starts_with('"');
            self.rest = &self.rest[at + 1..];
            if quote {
                return Some(out);
            }
            out.push(self.escaped()?);
        }
    }

    fn escaped(&mut self) -> Option<char> {
        let mut chars = self.rest.chars();
        let escape = chars.next()?;
        self.rest = chars.as_str();
        Some(match escape {
            'b' => '\u{8}',
            'f' => '\u{c}',
            'n' => '\n',
            'r' => '\r',
            't' => '\t',
            'u' => {
                let code = u32::from_str_radix(self.rest.get(..4)?, 16).ok()?;
                self.rest = &self.rest[4..];
                // Halves of pairs do not occur in names and numbers.
                char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER)
            }
            '"' | '\\' | '/' => escape,
            _ => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use hydrofoil_types::Value;

    use super::parse;

    #[test]
    fn reads_json() {
        let value = parse(r#" [{"type":"Pods","a":{"n":"x\u0041\n"},"b":[1,2.5,true,null]}, {}] "#).unwrap();
        let first = &value.as_array().unwrap()[0];
        assert_eq!(first.str_at(&["a", "n"]), "xA\n");
        assert_eq!(first.list_at(&["b"]), [Value::Int(1), Value::Float(2.5), Value::Bool(true), Value::Null]);
    }

    #[test]
    fn refuses_what_is_no_json() {
        let deep = "[".repeat(1000);
        for text in ["", "[", "{", r#"{"a"}"#, "[1,]", "[1] x", r#""\u12"#, r#""\ué""#, "-", "nul", deep.as_str()] {
            assert!(parse(text).is_none(), "{text}");
        }
    }
}
