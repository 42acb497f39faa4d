//! Go's limits for well-formed patterns (Go `regexp/syntax/parse.go`): counts of repeats, the size of the
//! program, its height and the ranges of its classes. They follow from the syntax tree; nothing is expanded.

use std::collections::BTreeMap;

use regex_syntax::ast::{
    AssertionKind, Ast, ClassSetItem, ErrorKind, Flag, Flags, FlagsItemKind, GroupKind, Repetition, RepetitionKind,
    RepetitionRange, Span, Visitor, parse::ParserBuilder, visit,
};
use regex_syntax::hir::{Class, HirKind};

/// The most repeats of the innermost part of nested repeats.
const MAX_REPEAT: u64 = 1000;
const MAX_HEIGHT: u64 = 1000;
/// The most instructions of a program (`maxSize`).
pub(crate) const MAX_SIZE: u64 = (128 << 20) / 40;
/// The most ends of ranges in all classes (`maxRunes`).
const MAX_RUNES: u64 = (128 << 20) / 4;
/// The error of a group that Go does not have.
const PERL: &str = "invalid or unsupported Perl syntax";
/// The deepest nesting for the parser; groups that do not capture have no height in Go.
const NEST_LIMIT: u32 = 5000;

/// The error of a pattern, and the part that it concerns unless that is the whole.
pub(crate) struct Fault {
    pub what: &'static str,
    pub part: Option<String>,
}

impl Fault {
    fn whole(what: &'static str) -> Self {
        Self { what, part: None }
    }

    fn part(what: &'static str, part: &str) -> Self {
        Self { what, part: Some(part.into()) }
    }
}

/// Parse a translated pattern within Go's limits, in a time that is linear in its length.
pub(crate) fn parse(text: &str) -> Result<Ast, Fault> {
    let ast = ParserBuilder::new().nest_limit(NEST_LIMIT).build().parse(text).map_err(|e| syntax(text, &e))?;
    visit(&ast, Limits { text, nodes: Vec::new(), runes: 0, classes: BTreeMap::new() })?;
    Ok(ast)
}

/// Return Go's message for an error of the parser, as far as the kinds of error agree.
fn syntax(text: &str, error: &regex_syntax::ast::Error) -> Fault {
    let span = error.span();
    // From the group that the error is in up to its character; of a sign without a flag that is the next one.
    let group = || {
        let end = span.end.offset.saturating_add(usize::from(*error.kind() == ErrorKind::FlagDanglingNegation));
        let from = text.get(..span.start.offset.saturating_add(2).min(text.len()))?.rfind("(?")?;
        text.get(from..end).or_else(|| text.get(from..))
    };
    let group = || group().unwrap_or_default();
    Fault::whole(match error.kind() {
        ErrorKind::UnsupportedLookAround if group().contains('<') => {
            // Go reads a name there.
            let rest = text.get(span.start.offset..).unwrap_or_default();
            return Fault::part("invalid named capture", rest.split_inclusive('>').next().unwrap_or_default());
        }
        ErrorKind::UnsupportedLookAround
        | ErrorKind::FlagUnrecognized
        | ErrorKind::FlagRepeatedNegation { .. }
        | ErrorKind::FlagDanglingNegation
        | ErrorKind::FlagUnexpectedEof => return Fault::part(PERL, group()),
        ErrorKind::EscapeUnexpectedEof => return Fault::part("trailing backslash at end of expression", ""),
        ErrorKind::ClassRangeInvalid => {
            let part = text.get(span.start.offset..span.end.offset).unwrap_or_default();
            return Fault::part("invalid character class range", part);
        }
        ErrorKind::GroupUnclosed if text.ends_with("(?") => return Fault::part(PERL, "(?"),
        ErrorKind::GroupUnclosed => "missing closing )",
        ErrorKind::GroupUnopened => "unexpected )",
        ErrorKind::ClassUnclosed => "missing closing ]",
        ErrorKind::ClassRangeLiteral => "invalid character class range",
        ErrorKind::RepetitionMissing => "missing argument to repetition operator",
        ErrorKind::RepetitionCountInvalid | ErrorKind::DecimalInvalid => {
            let at = error.span().start.offset;
            let from = text.get(..=at).and_then(|before| before.rfind('{'));
            let part = from.and_then(|from| text.get(from..)).and_then(|rest| rest.split_inclusive('}').next());
            return Fault { what: "invalid repeat count", part: part.map(String::from) };
        }
        ErrorKind::GroupNameInvalid | ErrorKind::GroupNameEmpty | ErrorKind::GroupNameDuplicate { .. } => {
            "invalid named capture"
        }
        ErrorKind::NestLimitExceeded(_) => "expression nests too deeply",
        _ => "invalid escape sequence",
    })
}

/// The properties of a part as Go would compile it.
#[derive(Clone, Copy)]
struct Node {
    kind: Kind,
    size: u64,
    height: u64,
    /// The repeats of its innermost part.
    repeats: u64,
}

#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Literal,
    Concat,
    Alternation,
    Other,
}

struct Limits<'a> {
    text: &'a str,
    nodes: Vec<Node>,
    runes: u64,
    /// The ends of ranges of each class so far.
    classes: BTreeMap<&'a str, u64>,
}

impl<'a> Limits<'a> {
    fn part(&self, span: &Span) -> &'a str {
        self.text.get(span.start.offset..span.end.offset).unwrap_or_default()
    }

    fn class(&mut self, span: &Span) -> Result<(), Fault> {
        let name = self.part(span);
        let runes = if let Some(runes) = self.classes.get(name) {
            *runes
        } else {
            let hir = regex_syntax::parse(name).map_err(|_| Fault::part("invalid character class range", name))?;
            let runes = match hir.kind() {
                HirKind::Class(Class::Unicode(c)) => (c.ranges().len() as u64).saturating_mul(2),
                _ => 1,
            };
            self.classes.insert(name, runes);
            runes
        };
        self.runes = self.runes.saturating_add(runes);
        if self.runes > MAX_RUNES { Err(Fault::whole("expression too large")) } else { Ok(()) }
    }

    /// Refuse the flags that Go does not have.
    fn check_flags(&self, flags: &Flags) -> Result<(), Fault> {
        let foreign = |kind: &FlagsItemKind| {
            matches!(kind, FlagsItemKind::Flag(Flag::Unicode | Flag::CRLF | Flag::IgnoreWhitespace))
        };
        let Some(item) = flags.items.iter().find(|item| foreign(&item.kind)) else { return Ok(()) };
        // The flags follow `(?`.
        let part = self.text.get(flags.span.start.offset.saturating_sub(2)..item.span.end.offset);
        Err(Fault::part(PERL, part.unwrap_or_default()))
    }

    fn repetition(&mut self, r: &Repetition) -> Result<Node, Fault> {
        let sub = self.pop();
        if let Ast::Repetition(inner) = &*r.ast {
            // In Perl that is an error, or means something else.
            let part = self.text.get(inner.op.span.start.offset..r.op.span.end.offset).unwrap_or_default();
            return Err(Fault::part("invalid nested repetition operator", part));
        }
        let (min, max) = match &r.op.kind {
            RepetitionKind::ZeroOrMore => return Ok(sub.above(2)),
            RepetitionKind::ZeroOrOne | RepetitionKind::OneOrMore => return Ok(sub.above(1)),
            RepetitionKind::Range(RepetitionRange::Exactly(n)) => (*n, Some(*n)),
            RepetitionKind::Range(RepetitionRange::AtLeast(n)) => (*n, None),
            RepetitionKind::Range(RepetitionRange::Bounded(min, max)) => (*min, Some(*max)),
        };
        let count = u64::from(max.unwrap_or(min));
        let part = self.part(&r.op.span);
        if count > MAX_REPEAT {
            let part = part.trim_end_matches('?');
            return Err(Fault::part("invalid repeat count", part));
        }
        let repeats = if max == Some(0) { 1 } else { sub.repeats.saturating_mul(count.max(1)) };
        if count > 1 && repeats > MAX_REPEAT {
            return Err(Fault::part("invalid repeat count", part));
        }
        let copies = sub.size.saturating_mul(count);
        let size = match max {
            None if min == 0 => sub.size.saturating_add(2),
            None => copies.saturating_add(1),
            Some(max) => copies.saturating_add(u64::from(max.saturating_sub(min))),
        };
        Ok(Node { size: size.max(1), repeats, ..sub.above(0) })
    }

    fn several(&mut self, count: usize, kind: Kind) -> Node {
        let subs = self.nodes.split_off(self.nodes.len().saturating_sub(count));
        let literal = kind == Kind::Concat && subs.iter().all(|n| n.kind == Kind::Literal);
        // A sequence in a sequence is one.
        let height = subs.iter().map(|n| n.height.saturating_sub(u64::from(n.kind == kind))).max().unwrap_or(0);
        let between = if kind == Kind::Alternation { count.saturating_sub(1) as u64 } else { 0 };
        Node {
            kind: if literal { Kind::Literal } else { kind },
            size: subs.iter().fold(between, |sum, n| sum.saturating_add(n.size)),
            height: if literal { height } else { height.saturating_add(1) },
            repeats: subs.iter().map(|n| n.repeats).max().unwrap_or(1),
        }
    }

    fn pop(&mut self) -> Node {
        self.nodes.pop().unwrap_or(Node::leaf(Kind::Other))
    }
}

impl Node {
    const fn leaf(kind: Kind) -> Self {
        Self { kind, size: 1, height: 1, repeats: 1 }
    }

    fn above(self, size: u64) -> Self {
        let (size, height) = (self.size.saturating_add(size), self.height.saturating_add(1));
        Self { kind: Kind::Other, size, height, ..self }
    }
}

impl Visitor for Limits<'_> {
    type Output = ();
    type Err = Fault;

    fn finish(self) -> Result<(), Fault> {
        Ok(())
    }

    fn visit_post(&mut self, ast: &Ast) -> Result<(), Fault> {
        let node = match ast {
            Ast::Literal(_) => Node::leaf(Kind::Literal),
            Ast::Empty(_) | Ast::Dot(_) | Ast::Assertion(_) | Ast::ClassPerl(_) | Ast::ClassBracketed(_) => {
                Node::leaf(Kind::Other)
            }
            Ast::ClassUnicode(c) => {
                self.class(&c.span)?;
                Node::leaf(Kind::Other)
            }
            Ast::Flags(set) => {
                self.check_flags(&set.flags)?;
                Node { size: 0, height: 0, ..Node::leaf(Kind::Literal) }
            }
            Ast::Group(group) => match &group.kind {
                GroupKind::NonCapturing(flags) => {
                    if !is_boundary(&group.ast) {
                        self.check_flags(flags)?;
                    }
                    self.pop()
                }
                _ => self.pop().above(2),
            },
            Ast::Repetition(r) => self.repetition(r)?,
            Ast::Alternation(a) => self.several(a.asts.len(), Kind::Alternation),
            Ast::Concat(c) => self.several(c.asts.len(), Kind::Concat),
        };
        if node.size > MAX_SIZE {
            return Err(Fault::whole("expression too large"));
        }
        if node.height > MAX_HEIGHT {
            return Err(Fault::whole("expression nests too deeply"));
        }
        self.nodes.push(node);
        Ok(())
    }

    fn visit_class_set_item_pre(&mut self, item: &ClassSetItem) -> Result<(), Fault> {
        if let ClassSetItem::Unicode(c) = item { self.class(&c.span) } else { Ok(()) }
    }
}

/// Report whether it is the translation of `\b` or `\B`.
fn is_boundary(ast: &Ast) -> bool {
    matches!(ast, Ast::Assertion(a)
        if matches!(a.kind, AssertionKind::WordBoundary | AssertionKind::NotWordBoundary))
}
