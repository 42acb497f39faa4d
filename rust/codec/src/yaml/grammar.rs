//! The events of a stream of tokens (go.yaml.in/yaml/v2 `parserc.go`, a translation of libyaml's parser).

#![allow(clippy::arithmetic_side_effects, reason = "places in a body are bounded by its bytes")]

use super::fault::Fault;
use super::scan::{Kind, Scanner, Token};

/// An event of a document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Event {
    StreamStart,
    StreamEnd,
    DocumentStart,
    DocumentEnd,
    Alias(String),
    /// A scalar: `implicit` if its text may mean something else than itself.
    Scalar {
        anchor: Option<String>,
        tag: String,
        text: String,
        implicit: bool,
    },
    SequenceStart(Option<String>),
    SequenceEnd,
    MappingStart(Option<String>),
    MappingEnd,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    StreamStart,
    ImplicitDocumentStart,
    DocumentStart,
    DocumentContent,
    DocumentEnd,
    BlockNode,
    BlockSequence,
    IndentlessSequence,
    BlockKey,
    BlockValue,
    FlowSequence { first: bool },
    FlowPairKey,
    FlowPairValue,
    FlowPairEnd,
    FlowKey { first: bool },
    FlowValue,
    FlowNoValue,
    End,
}

/// A parser of a text.
pub(super) struct Parser<'a> {
    scanner: Scanner<'a>,
    state: State,
    states: Vec<State>,
    /// The lines on which the open collections begin.
    lines: Vec<usize>,
    /// The handles of tags with their prefixes.
    handles: Vec<(String, String)>,
}

/// An event and its line, counted from zero.
pub(super) type Found = Result<(Event, usize), Fault>;

/// An anchor, and the token of a tag with its line.
type Properties = (Option<String>, Option<(Kind, usize)>);

const EMPTY: Event = Event::Scalar { anchor: None, tag: String::new(), text: String::new(), implicit: true };

impl<'a> Parser<'a> {
    pub fn new(scanner: Scanner<'a>) -> Self {
        Self { scanner, state: State::StreamStart, states: Vec::new(), lines: Vec::new(), handles: Vec::new() }
    }

    /// Return the next event.
    pub fn next(&mut self) -> Found {
        match self.state {
            State::StreamStart => {
                let token = self.scanner.take()?;
                self.state = State::ImplicitDocumentStart;
                Ok((Event::StreamStart, token.line))
            }
            State::ImplicitDocumentStart => self.document_start(true),
            State::DocumentStart => self.document_start(false),
            State::DocumentContent => match self.scanner.peek()? {
                Token { kind: Kind::Version { .. } | Kind::TagDirective { .. }, line, .. }
                | Token { kind: Kind::DocumentStart | Kind::DocumentEnd | Kind::StreamEnd, line, .. } => {
                    let line = *line;
                    self.back();
                    Ok((EMPTY, line))
                }
                _ => self.node(true, false),
            },
            State::DocumentEnd => {
                let token = self.scanner.peek()?;
                let line = token.line;
                if token.kind == Kind::DocumentEnd {
                    self.scanner.take()?;
                }
                self.handles.clear();
                self.state = State::DocumentStart;
                Ok((Event::DocumentEnd, line))
            }
            State::BlockNode => self.node(true, false),
            State::BlockSequence => self.block_entry(),
            State::IndentlessSequence => self.indentless_entry(),
            State::BlockKey => self.block_key(),
            State::BlockValue => self.block_value(),
            State::FlowSequence { first } => self.flow_entry(first),
            State::FlowPairKey => self.flow_pair_key(),
            State::FlowPairValue => self.flow_pair_value(),
            State::FlowPairEnd => {
                let line = self.scanner.peek()?.line;
                self.state = State::FlowSequence { first: false };
                Ok((Event::MappingEnd, line))
            }
            State::FlowKey { first } => self.flow_key(first),
            State::FlowValue => self.flow_value(),
            State::FlowNoValue => self.no_value(State::FlowKey { first: false }),
            State::End => Ok((Event::StreamEnd, 0)),
        }
    }

    fn back(&mut self) {
        self.state = self.states.pop().unwrap_or(State::End);
    }

    /// Parse a node, and continue in a state.
    fn node_then(&mut self, state: State, block: bool, indentless: bool) -> Found {
        self.states.push(state);
        self.node(block, indentless)
    }

    /// Return an absent value on the line of the next token, and continue in a state.
    fn no_value(&mut self, state: State) -> Found {
        let line = self.scanner.peek()?.line;
        self.state = state;
        Ok((EMPTY, line))
    }

    /// Return an absent value on a line, and continue in a state.
    fn absent(&mut self, line: usize, state: State) -> (Event, usize) {
        self.state = state;
        (EMPTY, line)
    }

    /// Take the last token of a collection.
    fn end(&mut self, event: Event) -> Found {
        let token = self.scanner.take()?;
        self.back();
        self.lines.pop();
        Ok((event, token.line))
    }

    /// Return the error of a token in the innermost collection.
    fn unexpected_token(&mut self, what: &'static str) -> Found {
        let line = self.scanner.peek()?.line;
        Err(Fault::parser(what, line, self.lines.pop().unwrap_or(0)))
    }

    fn document_start(&mut self, implicit: bool) -> Found {
        while !implicit && self.scanner.peek()?.kind == Kind::DocumentEnd {
            self.scanner.take()?;
        }
        let token = self.scanner.peek()?;
        let line = token.line;
        match token.kind {
            Kind::StreamEnd => {
                self.state = State::End;
                self.scanner.take()?;
                return Ok((Event::StreamEnd, line));
            }
            Kind::Version { .. } | Kind::TagDirective { .. } | Kind::DocumentStart => {}
            _ if implicit => {
                self.directives()?;
                self.states.push(State::DocumentEnd);
                self.state = State::BlockNode;
                return Ok((Event::DocumentStart, line));
            }
            _ => {}
        }
        self.directives()?;
        let token = self.scanner.peek()?;
        if token.kind != Kind::DocumentStart {
            return Err(Fault::parser("did not find expected <document start>", token.line, 0));
        }
        self.states.push(State::DocumentEnd);
        self.state = State::DocumentContent;
        self.scanner.take()?;
        Ok((Event::DocumentStart, line))
    }

    fn directives(&mut self) -> Result<(), Fault> {
        let mut versions = 0;
        loop {
            let token = self.scanner.peek()?;
            let line = token.line;
            match &token.kind {
                Kind::Version { .. } if versions > 0 => {
                    return Err(Fault::parser("found duplicate %YAML directive", line, 0));
                }
                Kind::Version { major: 1, minor: 1 } => versions += 1,
                Kind::Version { .. } => return Err(Fault::parser("found incompatible YAML document", line, 0)),
                Kind::TagDirective { handle, prefix } => {
                    if self.handles.iter().any(|(known, _)| known == handle) {
                        return Err(Fault::parser("found duplicate %TAG directive", line, 0));
                    }
                    self.handles.push((handle.clone(), prefix.clone()));
                }
                _ => break,
            }
            self.scanner.take()?;
        }
        for (handle, prefix) in [("!", "!"), ("!!", "tag:yaml.org,2002:")] {
            if !self.handles.iter().any(|(known, _)| known == handle) {
                self.handles.push((handle.to_owned(), prefix.to_owned()));
            }
        }
        Ok(())
    }

    /// Take a tag and an anchor, in either order.
    fn properties(&mut self) -> Result<Properties, Fault> {
        let (mut anchor, mut tag) = (None, None);
        loop {
            match &self.scanner.peek()?.kind {
                Kind::Anchor(_) if anchor.is_none() => {
                    if let Kind::Anchor(name) = self.scanner.take()?.kind {
                        anchor = Some(name);
                    }
                }
                Kind::Tag { .. } if tag.is_none() => {
                    let token = self.scanner.take()?;
                    tag = Some((token.kind, token.line));
                }
                _ => return Ok((anchor, tag)),
            }
        }
    }

    fn node(&mut self, block: bool, indentless: bool) -> Found {
        if matches!(self.scanner.peek()?.kind, Kind::Alias(_)) {
            self.back();
            let token = self.scanner.take()?;
            let Kind::Alias(name) = token.kind else { return Ok((EMPTY, token.line)) };
            return Ok((Event::Alias(name), token.line));
        }
        let line = self.scanner.peek()?.line;
        let (anchor, tag) = self.properties()?;
        let tag = match tag {
            Some((Kind::Tag { handle, suffix }, at)) if !handle.is_empty() => {
                let prefix = self.handles.iter().find(|(known, _)| *known == handle).map(|(_, prefix)| prefix);
                let tag = prefix.map_or_else(String::new, |prefix| format!("{prefix}{suffix}"));
                if tag.is_empty() {
                    return Err(Fault::parser("found undefined tag handle", at, line));
                }
                tag
            }
            Some((Kind::Tag { suffix, .. }, _)) => suffix,
            _ => String::new(),
        };
        let token = self.scanner.peek()?;
        let at = token.line;
        let (event, state) = match token.kind {
            Kind::BlockEntry if indentless => (Event::SequenceStart(anchor), State::IndentlessSequence),
            Kind::Scalar { .. } => {
                let Kind::Scalar { text, plain } = self.scanner.take()?.kind else { return Ok((EMPTY, line)) };
                let implicit = plain && tag.is_empty() || tag == "!";
                self.back();
                return Ok((Event::Scalar { anchor, tag, text, implicit }, line));
            }
            Kind::FlowSequenceStart => (Event::SequenceStart(anchor), State::FlowSequence { first: true }),
            Kind::FlowMappingStart => (Event::MappingStart(anchor), State::FlowKey { first: true }),
            Kind::BlockSequenceStart if block => (Event::SequenceStart(anchor), State::BlockSequence),
            Kind::BlockMappingStart if block => (Event::MappingStart(anchor), State::BlockKey),
            _ if anchor.is_some() || !tag.is_empty() => {
                let implicit = tag.is_empty();
                self.back();
                return Ok((Event::Scalar { anchor, tag, text: String::new(), implicit }, line));
            }
            _ => return Err(Fault::parser("did not find expected node content", at, line)),
        };
        if !matches!(state, State::IndentlessSequence) {
            self.lines.push(at);
            self.scanner.take()?;
        }
        self.state = state;
        Ok((event, line))
    }

    fn block_entry(&mut self) -> Found {
        match self.scanner.peek()?.kind {
            Kind::BlockEntry => {
                let end = self.scanner.take()?.end;
                match self.scanner.peek()?.kind {
                    Kind::BlockEntry | Kind::BlockEnd => Ok(self.absent(end, State::BlockSequence)),
                    _ => self.node_then(State::BlockSequence, true, false),
                }
            }
            Kind::BlockEnd => self.end(Event::SequenceEnd),
            _ => self.unexpected_token("did not find expected '-' indicator"),
        }
    }

    fn indentless_entry(&mut self) -> Found {
        let token = self.scanner.peek()?;
        if token.kind != Kind::BlockEntry {
            let line = token.line;
            self.back();
            return Ok((Event::SequenceEnd, line));
        }
        let end = self.scanner.take()?.end;
        match self.scanner.peek()?.kind {
            Kind::BlockEntry | Kind::Key | Kind::Value | Kind::BlockEnd => {
                Ok(self.absent(end, State::IndentlessSequence))
            }
            _ => self.node_then(State::IndentlessSequence, true, false),
        }
    }

    fn block_key(&mut self) -> Found {
        match self.scanner.peek()?.kind {
            Kind::Key => {
                let end = self.scanner.take()?.end;
                match self.scanner.peek()?.kind {
                    Kind::Key | Kind::Value | Kind::BlockEnd => Ok(self.absent(end, State::BlockValue)),
                    _ => self.node_then(State::BlockValue, true, true),
                }
            }
            Kind::BlockEnd => self.end(Event::MappingEnd),
            _ => self.unexpected_token("did not find expected key"),
        }
    }

    fn block_value(&mut self) -> Found {
        if self.scanner.peek()?.kind != Kind::Value {
            return self.no_value(State::BlockKey);
        }
        let end = self.scanner.take()?.end;
        match self.scanner.peek()?.kind {
            Kind::Key | Kind::Value | Kind::BlockEnd => Ok(self.absent(end, State::BlockKey)),
            _ => self.node_then(State::BlockKey, true, true),
        }
    }

    /// Take the comma between two entries of a flow collection, or fail.
    fn comma(&mut self, first: bool, what: &'static str) -> Result<(), Fault> {
        if first {
            return Ok(());
        }
        if self.scanner.peek()?.kind != Kind::FlowEntry {
            return self.unexpected_token(what).map(|_| ());
        }
        self.scanner.take().map(|_| ())
    }

    fn flow_entry(&mut self, first: bool) -> Found {
        if self.scanner.peek()?.kind != Kind::FlowSequenceEnd {
            self.comma(first, "did not find expected ',' or ']'")?;
            match self.scanner.peek()?.kind {
                Kind::Key => {
                    let token = self.scanner.take()?;
                    self.state = State::FlowPairKey;
                    return Ok((Event::MappingStart(None), token.line));
                }
                Kind::FlowSequenceEnd => {}
                _ => return self.node_then(State::FlowSequence { first: false }, false, false),
            }
        }
        self.end(Event::SequenceEnd)
    }

    fn flow_pair_key(&mut self) -> Found {
        match self.scanner.peek()?.kind {
            Kind::Value | Kind::FlowEntry | Kind::FlowSequenceEnd => {
                // Upstream skips the token, so that a value behind an absent key is lost.
                let end = self.scanner.take()?.end;
                Ok(self.absent(end, State::FlowPairValue))
            }
            _ => self.node_then(State::FlowPairValue, false, false),
        }
    }

    fn flow_pair_value(&mut self) -> Found {
        let line = self.scanner.peek()?.line;
        if self.scanner.peek()?.kind == Kind::Value {
            self.scanner.take()?;
            match self.scanner.peek()?.kind {
                Kind::FlowEntry | Kind::FlowSequenceEnd => {}
                _ => return self.node_then(State::FlowPairEnd, false, false),
            }
        }
        Ok(self.absent(line, State::FlowPairEnd))
    }

    fn flow_key(&mut self, first: bool) -> Found {
        if self.scanner.peek()?.kind != Kind::FlowMappingEnd {
            self.comma(first, "did not find expected ',' or '}'")?;
            match self.scanner.peek()?.kind {
                Kind::Key => {
                    self.scanner.take()?;
                    return match self.scanner.peek()?.kind {
                        Kind::Value | Kind::FlowEntry | Kind::FlowMappingEnd => self.no_value(State::FlowValue),
                        _ => self.node_then(State::FlowValue, false, false),
                    };
                }
                Kind::FlowMappingEnd => {}
                _ => return self.node_then(State::FlowNoValue, false, false),
            }
        }
        self.end(Event::MappingEnd)
    }

    fn flow_value(&mut self) -> Found {
        if self.scanner.peek()?.kind == Kind::Value {
            self.scanner.take()?;
            match self.scanner.peek()?.kind {
                Kind::FlowEntry | Kind::FlowMappingEnd => {}
                _ => return self.node_then(State::FlowKey { first: false }, false, false),
            }
        }
        self.no_value(State::FlowKey { first: false })
    }
}
