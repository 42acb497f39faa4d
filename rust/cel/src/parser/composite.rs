//! Lists, maps and messages.

#![allow(
    clippy::arithmetic_side_effects,
    reason = "sizes and costs are bounded by the budget of a run; numbers of a rule are calculated with checks"
)]

use super::{Parsed, Parser, Stop};
use crate::ast::{Kind, Member};
use crate::token::Kind as Word;

impl Parser<'_> {
    /// Return the number of tokens between a name and the brace of a message, if one follows.
    pub(super) fn message_ahead(&self) -> Option<usize> {
        let mut words = 0;
        let word = |n: usize| self.tokens.get(self.at + n).copied();
        while word(words)?.is(".") && word(words + 1)?.kind == Word::Ident {
            words += 2;
        }
        word(words)?.is("{").then_some(words)
    }

    pub(super) fn message(&mut self, first: &str, words: usize) -> Parsed {
        let mut name = String::from(first);
        for _ in 0..words {
            name.push_str(self.next().text);
        }
        let open = self.next().at;
        let mut members = Vec::new();
        while self.take("}").is_none() {
            let optional = self.take("?").is_some();
            let field = self.next();
            if !matches!(field.kind, Word::Ident | Word::Escaped) {
                let expected = "{'}', ',', '?', IDENTIFIER, ESC_IDENTIFIER}";
                self.syntax(field.at, &format!("mismatched input {} expecting {expected}", field.text()));
                return Err(Stop);
            }
            let at = self.peek().at;
            self.expect(":")?;
            let value = self.expr()?;
            members.push(Member { name: field.text.trim_matches('`').into(), at, optional, value });
            if self.take(",").is_none() {
                self.expect("}")?;
                break;
            }
        }
        Ok(self.node(open, Kind::Message(name.into(), members)))
    }

    pub(super) fn list(&mut self, at: usize) -> Parsed {
        let mut items = Vec::new();
        while self.take("]").is_none() {
            let optional = self.take("?").is_some();
            if !items.is_empty() && !optional && self.peek().kind == Word::End {
                self.expect("]")?;
            }
            self.beside = if items.is_empty() && !optional { &["]", ",", "?"] } else { &[] };
            items.push((self.expr()?, optional));
            if self.take(",").is_none() {
                self.close("]")?;
                break;
            }
        }
        Ok(self.node(at, Kind::List(items)))
    }

    pub(super) fn map(&mut self, at: usize) -> Parsed {
        let mut entries = Vec::new();
        while self.take("}").is_none() {
            let optional = self.take("?").is_some();
            if !entries.is_empty() && !optional && self.peek().kind == Word::End {
                self.expect("}")?;
            }
            self.beside = if entries.is_empty() && !optional { &["}", ",", "?"] } else { &[] };
            let key = self.expr()?;
            self.expect(":")?;
            entries.push((key, self.expr()?, optional));
            if self.take(",").is_none() {
                self.close("}")?;
                break;
            }
        }
        Ok(self.node(at, Kind::Map(entries)))
    }
}
