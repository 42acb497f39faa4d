//! The tokens of a text (go.yaml.in/yaml/v2 `scannerc.go`, a translation of libyaml's scanner).
//!
//! It follows upstream step by step: which texts are taken, where a token ends and which of two errors is found first
//! follow from the order of these steps and from nothing else.

mod block;
mod cursor;
mod fetch;
mod keys;
mod plain;
mod quoted;
mod tag;

use std::collections::VecDeque;

use rustc_hash::FxHashMap;

use super::fault::Fault;
use super::source::Source;
pub(super) use cursor::Mark;
use keys::SimpleKey;

/// A token of the grammar.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    StreamStart,
    StreamEnd,
    Version { major: u8, minor: u8 },
    TagDirective { handle: String, prefix: String },
    DocumentStart,
    DocumentEnd,
    BlockSequenceStart,
    BlockMappingStart,
    BlockEnd,
    FlowSequenceStart,
    FlowSequenceEnd,
    FlowMappingStart,
    FlowMappingEnd,
    BlockEntry,
    FlowEntry,
    Key,
    Value,
    Alias(String),
    Anchor(String),
    Tag { handle: String, suffix: String },
    Scalar { text: String, plain: bool },
}

/// A token, with the lines of its beginning and its end, counted from zero.
#[derive(Clone, Debug)]
pub(super) struct Token {
    pub kind: Kind,
    pub line: usize,
    pub end: usize,
}

/// A scanner of a text.
pub(super) struct Scanner<'a> {
    text: &'a str,
    at: usize,
    mark: Mark,
    /// The number of characters, and the error behind them, if there is one.
    limit: usize,
    broken: &'static str,
    /// The tokens that are not taken yet, and the number of those that were.
    tokens: VecDeque<Token>,
    taken: usize,
    available: bool,
    started: bool,
    /// The column of the innermost block; -1 outside of all.
    indent: isize,
    indents: Vec<isize>,
    flow: usize,
    key_allowed: bool,
    keys: Vec<SimpleKey>,
    /// The place in `keys` of the key that may begin at a token.
    key_at: FxHashMap<usize, usize>,
}

impl<'a> Scanner<'a> {
    pub fn new(source: &'a Source<'_>) -> Self {
        Self {
            text: &source.text,
            at: 0,
            mark: Mark::default(),
            limit: source.fault.map_or(usize::MAX, |_| source.text.chars().count()),
            broken: source.fault.unwrap_or(""),
            tokens: VecDeque::new(),
            taken: 0,
            available: false,
            started: false,
            indent: -1,
            indents: Vec::new(),
            flow: 0,
            key_allowed: true,
            keys: Vec::new(),
            key_at: FxHashMap::default(),
        }
    }

    /// Return the next token without taking it.
    pub fn peek(&mut self) -> Result<&Token, Fault> {
        if !self.available {
            self.fetch_more()?;
        }
        self.tokens.front().ok_or(Fault::reader(""))
    }

    /// Take the next token.
    pub fn take(&mut self) -> Result<Token, Fault> {
        self.peek()?;
        self.available = false;
        self.taken = self.taken.saturating_add(1);
        self.tokens.pop_front().ok_or(Fault::reader(""))
    }
}
