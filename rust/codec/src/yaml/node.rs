//! The nodes of a document (go.yaml.in/yaml/v2 `decode.go`, `parser`).

#![allow(clippy::arithmetic_side_effects, reason = "places and depths are bounded by the bytes of a body")]

use hydrofoil_types::SmolStr;
use rustc_hash::FxHashMap;

use super::fault::yaml;
use super::grammar::{Event, Parser};
use crate::DecodeError;

/// The most levels of a document: fewer than upstream's 10,000, for the stack's sake.
const MAX_DEPTH: usize = 500;

/// The number of a node in its document.
pub(super) type Id = usize;

#[derive(Clone, Debug)]
pub(super) enum Kind {
    /// A scalar: `implicit` if its text may mean something else than itself.
    Scalar {
        tag: SmolStr,
        text: SmolStr,
        implicit: bool,
    },
    List(Vec<Id>),
    /// Keys and values in turn.
    Map(Vec<Id>),
    Alias {
        name: SmolStr,
        target: Id,
    },
}

#[derive(Clone, Debug)]
pub(super) struct Node {
    pub kind: Kind,
    /// The line on which it begins, counted from zero.
    pub line: usize,
}

/// A document.
pub(super) struct Document {
    pub nodes: Vec<Node>,
    pub root: Id,
}

/// Return the first document of a stream, if it has one.
pub(super) fn document(parser: Parser<'_>) -> Result<Option<Document>, DecodeError> {
    let mut composer = Composer { parser, nodes: Vec::new(), anchors: FxHashMap::default() };
    composer.next()?;
    if composer.next()?.0 == Event::StreamEnd {
        return Ok(None);
    }
    let (event, line) = composer.next()?;
    let root = composer.node(event, line, 0)?;
    composer.next()?;
    Ok(Some(Document { nodes: composer.nodes, root }))
}

struct Composer<'a> {
    parser: Parser<'a>,
    nodes: Vec<Node>,
    anchors: FxHashMap<SmolStr, Id>,
}

impl Composer<'_> {
    fn next(&mut self) -> Result<(Event, usize), DecodeError> {
        self.parser.next().map_err(|fault| fault.error())
    }

    fn add(&mut self, kind: Kind, line: usize, anchor: Option<String>) -> Id {
        self.nodes.push(Node { kind, line });
        let id = self.nodes.len() - 1;
        if let Some(anchor) = anchor {
            self.anchors.insert(anchor.into(), id);
        }
        id
    }

    fn node(&mut self, event: Event, line: usize, depth: usize) -> Result<Id, DecodeError> {
        if depth > MAX_DEPTH {
            return Err(yaml("exceeded max depth of 10000"));
        }
        Ok(match event {
            Event::Scalar { anchor, tag, text, implicit } => {
                self.add(Kind::Scalar { tag: tag.into(), text: text.into(), implicit }, line, anchor)
            }
            Event::Alias(name) => {
                let Some(target) = self.anchors.get(name.as_str()).copied() else {
                    return Err(yaml(&format!("unknown anchor '{name}' referenced")));
                };
                self.add(Kind::Alias { name: name.into(), target }, line, None)
            }
            Event::SequenceStart(anchor) => {
                let id = self.add(Kind::List(Vec::new()), line, anchor);
                let items = self.children(&Event::SequenceEnd, depth)?;
                self.put(id, Kind::List(items))
            }
            Event::MappingStart(anchor) => {
                let id = self.add(Kind::Map(Vec::new()), line, anchor);
                let members = self.children(&Event::MappingEnd, depth)?;
                self.put(id, Kind::Map(members))
            }
            Event::StreamStart
            | Event::StreamEnd
            | Event::DocumentStart
            | Event::DocumentEnd
            | Event::SequenceEnd
            | Event::MappingEnd => return Err(yaml("attempted to parse unknown event")),
        })
    }

    fn children(&mut self, end: &Event, depth: usize) -> Result<Vec<Id>, DecodeError> {
        let mut out = Vec::new();
        loop {
            let (event, line) = self.next()?;
            if event == *end {
                return Ok(out);
            }
            out.push(self.node(event, line, depth + 1)?);
        }
    }

    fn put(&mut self, id: Id, kind: Kind) -> Id {
        if let Some(node) = self.nodes.get_mut(id) {
            node.kind = kind;
        }
        id
    }
}
