//! Keys without a mark before them: they are known as such at the colon behind them.

#![allow(clippy::arithmetic_side_effects, reason = "places and counts are bounded by the bytes of a body")]
#![allow(clippy::indexing_slicing, reason = "there is a key for each level of flow, and one outside")]

use super::super::fault::Fault;
use super::{Kind, Mark, Scanner, Token};

/// The most levels of flow and of blocks.
const MAX_LEVELS: usize = 10_000;
const TOO_DEEP: &str = "exceeded max depth of 10000";
/// The most characters of a key (YAML 1.2).
const MAX_KEY: usize = 1024;

/// A token that may begin a key.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct SimpleKey {
    possible: bool,
    required: bool,
    token: usize,
    mark: Mark,
}

impl Scanner<'_> {
    /// Ensure that the first token in the queue cannot become part of a key.
    pub(super) fn fetch_more(&mut self) -> Result<(), Fault> {
        loop {
            if !self.tokens.is_empty() {
                let Some(place) = self.key_at.get(&self.taken).copied() else { break };
                if !self.is_valid(place)? {
                    break;
                }
            }
            self.fetch_next()?;
        }
        self.available = true;
        Ok(())
    }

    fn is_valid(&mut self, place: usize) -> Result<bool, Fault> {
        let Some(key) = self.keys.get_mut(place).filter(|key| key.possible) else { return Ok(false) };
        if key.mark.line < self.mark.line || key.mark.index + MAX_KEY < self.mark.index {
            if key.required {
                return Err(Fault::scanner("could not find expected ':'", self.mark.line, key.mark.line));
            }
            key.possible = false;
            return Ok(false);
        }
        Ok(true)
    }

    fn next_number(&self) -> usize {
        self.taken + self.tokens.len()
    }

    /// Note that the next token may begin a key.
    pub(super) fn save_key(&mut self) -> Result<(), Fault> {
        if self.key_allowed {
            let required = self.flow == 0 && self.indent == self.mark.column as isize;
            let key = SimpleKey { possible: true, required, token: self.next_number(), mark: self.mark };
            self.remove_key()?;
            let last = self.keys.len() - 1;
            self.keys[last] = key;
            self.key_at.insert(key.token, last);
        }
        Ok(())
    }

    /// Note that no token before the place begins a key.
    pub(super) fn remove_key(&mut self) -> Result<(), Fault> {
        let line = self.mark.line;
        let Some(key) = self.keys.last_mut().filter(|key| key.possible) else { return Ok(()) };
        if key.required {
            return Err(Fault::scanner("could not find expected ':'", line, key.mark.line));
        }
        key.possible = false;
        self.key_at.remove(&key.token);
        Ok(())
    }

    /// Take the key that ends at the place: the tokens of a key before it go into the queue.
    pub(super) fn take_key(&mut self) -> Result<bool, Fault> {
        let last = self.keys.len() - 1;
        if !self.is_valid(last)? {
            return Ok(false);
        }
        let key = self.keys[last];
        let line = key.mark.line;
        self.insert(Some(key.token), Token { kind: Kind::Key, line, end: line });
        self.roll_indent(key.mark, Some(key.token), Kind::BlockMappingStart)?;
        self.keys[last].possible = false;
        self.key_at.remove(&key.token);
        Ok(true)
    }

    pub(super) fn increase_flow(&mut self) -> Result<(), Fault> {
        self.keys.push(SimpleKey { token: self.next_number(), mark: self.mark, ..SimpleKey::default() });
        self.flow += 1;
        if self.flow > MAX_LEVELS {
            return Err(Fault::scanner(TOO_DEEP, self.mark.line, self.mark.line));
        }
        Ok(())
    }

    pub(super) fn decrease_flow(&mut self) {
        if self.flow > 0 {
            self.flow -= 1;
            if let Some(key) = self.keys.pop() {
                self.key_at.remove(&key.token);
            }
        }
    }

    /// Begin a block at a place if it is further right than the present one: before the token of a number, or last.
    pub(super) fn roll_indent(&mut self, mark: Mark, number: Option<usize>, kind: Kind) -> Result<(), Fault> {
        let column = mark.column as isize;
        if self.flow > 0 || self.indent >= column {
            return Ok(());
        }
        self.indents.push(self.indent);
        self.indent = column;
        if self.indents.len() > MAX_LEVELS {
            let key = self.keys.last().map_or(0, |key| key.mark.line);
            return Err(Fault::scanner(TOO_DEEP, self.mark.line, key));
        }
        self.insert(number, Token { kind, line: mark.line, end: mark.line });
        Ok(())
    }

    /// End the blocks that begin further right than a column.
    pub(super) fn unroll_indent(&mut self, column: isize) {
        while self.flow == 0 && self.indent > column {
            self.push(Kind::BlockEnd, self.mark.line);
            self.indent = self.indents.pop().unwrap_or(-1);
        }
    }

    /// Insert a token before that of a number; last without one, and where that is taken already: upstream forgets the
    /// key that an empty flow collection may be.
    fn insert(&mut self, number: Option<usize>, token: Token) {
        let place = number.and_then(|number| number.checked_sub(self.taken)).unwrap_or(self.tokens.len());
        self.tokens.insert(place.min(self.tokens.len()), token);
    }

    /// Append a token that began at a line and ends at the place.
    pub(super) fn push(&mut self, kind: Kind, line: usize) {
        self.tokens.push_back(Token { kind, line, end: self.mark.line });
    }

    /// Begin the stream.
    pub(super) fn start(&mut self) {
        self.keys.push(SimpleKey::default());
        self.started = true;
        self.push(Kind::StreamStart, self.mark.line);
    }
}
