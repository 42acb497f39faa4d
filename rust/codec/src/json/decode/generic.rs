//! JSON without a schema: decoded as values, kept as text, or skipped.

#![allow(clippy::arithmetic_side_effects, reason = "places in a body and depths are bounded by its bytes")]
#![allow(clippy::indexing_slicing, reason = "the cursor never passes the end of the body")]

use hydrofoil_types::{Map, SmolStr, Value};

use super::Decoder;
use super::mismatch::Step;
use crate::DecodeError;
use crate::json::encode::encode_any;
use crate::json::lex::{Lexer, MAX_DEPTH};
use crate::json::scan;

impl Decoder<'_> {
    /// Decode any JSON value; members keep their order.
    pub(super) fn any(&mut self, depth: usize) -> Result<Value, DecodeError> {
        if depth > MAX_DEPTH {
            return Err(self.lex.unexpected_character("exceeded max depth"));
        }
        Ok(match self.lex.peek() {
            None => return Err(Lexer::eof()),
            Some(b'"') => Value::Str(self.lex.string()?),
            Some(b't') => {
                self.lex.literal("true")?;
                Value::Bool(true)
            }
            Some(b'f') => {
                self.lex.literal("false")?;
                Value::Bool(false)
            }
            Some(b'n') => {
                self.lex.literal("null")?;
                Value::Null
            }
            Some(b'-' | b'0'..=b'9') => {
                let (span, number) = self.lex.number()?;
                match number.value() {
                    Some(value) => value,
                    None => self.refuse(format!("json: cannot unmarshal number {span} into Go value of type float64")),
                }
            }
            Some(b'[') => {
                let mut items = Vec::new();
                self.items(|d, i| {
                    d.path.push(Step::Index(i));
                    items.push(d.any(depth + 1)?);
                    d.path.pop();
                    Ok(())
                })?;
                Value::Array(items)
            }
            Some(b'{') => {
                let mut members: Vec<(SmolStr, Value)> = Vec::new();
                self.members(|d, key| {
                    d.path.push(Step::Field(key.clone()));
                    let value = d.any(depth + 1)?;
                    d.path.pop();
                    members.push((key, value));
                    Ok(())
                })?;
                if distinct(&members) {
                    return Ok(Value::Object(Map::from_unique(members)));
                }
                self.unique(&mut members);
                Value::Object(Map::from_unique(members))
            }
            Some(_) => return Err(self.lex.unexpected_character("looking for beginning of value")),
        })
    }

    /// Return the next value unparsed if it is kept as text and this server wrote it.
    fn take_raw(&mut self) -> Option<Value> {
        let rest = &self.lex.text[self.lex.at..];
        let end = if self.stored { scan::value_end(rest)? } else { return None };
        let text = std::str::from_utf8(&rest[..end]).ok()?;
        self.lex.at += end;
        Some(Value::Raw(SmolStr::new(text)))
    }

    /// Decode any JSON and keep it as given, without a check for duplicate members.
    pub(super) fn decode_as_given(&mut self, depth: usize) -> Result<Value, DecodeError> {
        if let Some(kept) = self.take_raw() {
            return Ok(kept);
        }
        let start = self.lex.at;
        let strict = std::mem::take(&mut self.strict);
        let read = self.any(depth);
        self.strict = strict;
        read?;
        Ok(Value::Raw(SmolStr::new(String::from_utf8_lossy(&self.lex.text[start..self.lex.at]))))
    }

    /// Decode any JSON and keep it as canonical text.
    pub(super) fn canonical(&mut self, depth: usize) -> Result<Value, DecodeError> {
        if let Some(kept) = self.take_raw() {
            return Ok(kept);
        }
        let (strict, error) = (std::mem::take(&mut self.strict), self.type_error.take());
        let value = self.any(depth);
        self.strict = strict;
        // Upstream keeps the text and finds that it is no set.
        let broken = std::mem::replace(&mut self.type_error, error).is_some();
        let text = encode_any(&if broken { Value::Int(0) } else { value? });
        Ok(Value::Raw(SmolStr::new(String::from_utf8_lossy(&text))))
    }

    pub(super) fn members(
        &mut self,
        mut each: impl FnMut(&mut Self, SmolStr) -> Result<(), DecodeError>,
    ) -> Result<(), DecodeError> {
        self.lex.at += 1;
        if self.lex.peek() == Some(b'}') {
            self.lex.at += 1;
            return Ok(());
        }
        loop {
            if self.lex.peek() != Some(b'"') {
                return Err(self.lex.unexpected_character("looking for beginning of object key string"));
            }
            let key = self.lex.string()?;
            if self.lex.peek() != Some(b':') {
                return Err(self.lex.unexpected_character("after object key"));
            }
            self.lex.at += 1;
            each(self, key)?;
            match self.lex.peek() {
                Some(b',') => self.lex.at += 1,
                Some(b'}') => {
                    self.lex.at += 1;
                    return Ok(());
                }
                _ => return Err(self.lex.unexpected_character("after object key:value pair")),
            }
        }
    }

    pub(super) fn items(
        &mut self,
        mut each: impl FnMut(&mut Self, usize) -> Result<(), DecodeError>,
    ) -> Result<(), DecodeError> {
        self.lex.at += 1;
        if self.lex.peek() == Some(b']') {
            self.lex.at += 1;
            return Ok(());
        }
        for i in 0.. {
            each(self, i)?;
            match self.lex.peek() {
                Some(b',') => self.lex.at += 1,
                Some(b']') => {
                    self.lex.at += 1;
                    return Ok(());
                }
                _ => return Err(self.lex.unexpected_character("after array element")),
            }
        }
        Ok(())
    }

    /// Skip the value of an unknown field, whose numbers are not read.
    pub(super) fn skip(&mut self, depth: usize) -> Result<(), DecodeError> {
        let (strict, error) = (std::mem::take(&mut self.strict), self.type_error.take());
        let skipped = self.any(depth);
        (self.strict, self.type_error) = (strict, error);
        skipped.map(|_| ())
    }
}

fn distinct(members: &[(SmolStr, Value)]) -> bool {
    if members.len() <= 16 {
        return members.iter().enumerate().all(|(i, (k, _))| members[..i].iter().all(|(o, _)| o != k));
    }
    let mut keys: Vec<&SmolStr> = members.iter().map(|(k, _)| k).collect();
    keys.sort();
    keys.windows(2).all(|w| w[0] != w[1])
}
