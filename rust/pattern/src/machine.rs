//! A matcher for large patterns that does not compile them to bytes: a program over characters, its threads in step
//! (a Pike machine). A class is kept once however often it is repeated.

use regex_syntax::hir::{Hir, Look};

use crate::program::{Inst, Ranges, build};

/// The most steps of one match, about half a second: a text that needs more does not match.
const MAX_STEPS: usize = 1 << 27;

/// A program; behind its last instruction the pattern has matched.
pub(crate) struct Program {
    code: Box<[Inst]>,
    classes: Box<[Ranges]>,
    /// It matches from the beginning of a text only.
    anchored: bool,
    /// The bytes of the shortest text that matches; absent when no text does.
    shortest: Option<usize>,
    /// The bytes of the longest text that matches, if there is one.
    longest: Option<usize>,
}

impl Program {
    /// Return the program of a pattern; `None` for one that is larger than Go allows.
    pub fn new(hir: &Hir) -> Option<Self> {
        let (code, classes) = build(hir)?;
        let about = hir.properties();
        let anchored = about.look_set_prefix().contains(Look::Start);
        let whole = anchored && about.look_set_suffix().contains(Look::End);
        Some(Self {
            code: code.into(),
            classes: classes.into(),
            anchored,
            shortest: about.minimum_len(),
            longest: about.maximum_len().filter(|_| whole),
        })
    }

    /// Return about how many states of an automaton over bytes it is worth.
    pub fn states(&self) -> usize {
        let state = |inst: &Inst| match inst {
            Inst::Char(c) => c.len_utf8(),
            Inst::Class(class) => match self.classes.get(*class as usize) {
                Some(ranges) if ranges.last().is_some_and(|(_, last)| !last.is_ascii()) => {
                    ranges.len().saturating_add(8)
                }
                _ => 1,
            },
            _ => 1,
        };
        self.code.iter().map(state).fold(0, usize::saturating_add)
    }

    /// Report whether a text matches somewhere, in a time of its length by that of the program.
    pub fn matches(&self, text: &str) -> bool {
        if self.shortest.is_none_or(|n| text.len() < n) || self.longest.is_some_and(|n| text.len() > n) {
            return false;
        }
        let mut run = Run {
            program: self,
            seen: vec![0; self.code.len()],
            classes: vec![(0, false); self.classes.len()],
            open: Vec::new(),
            steps: 0,
        };
        let (mut from, mut now) = (vec![0], Vec::new());
        let (mut before, mut round) = (None, 0_u32);
        let mut chars = text.chars();
        loop {
            let next = chars.next();
            round = round.saturating_add(1);
            for at in from.drain(..) {
                if run.follow(at, round, (before, next), &mut now) {
                    return true;
                }
            }
            let Some(c) = next else { return false };
            for at in now.drain(..) {
                if run.takes(at, c, round) {
                    from.push(at.saturating_add(1));
                }
            }
            if !self.anchored {
                from.push(0);
            }
            if from.is_empty() || run.steps > MAX_STEPS {
                return false;
            }
            before = next;
        }
    }
}

/// The state of one match.
struct Run<'a> {
    program: &'a Program,
    /// The round in which each instruction was reached last.
    seen: Vec<u32>,
    /// The round in which each class was tested last, and the result.
    classes: Vec<(u32, bool)>,
    open: Vec<usize>,
    steps: usize,
}

impl Run<'_> {
    /// Add the instructions that read a character and are reached from one without any; report whether the end is.
    fn follow(&mut self, at: usize, round: u32, around: (Option<char>, Option<char>), now: &mut Vec<usize>) -> bool {
        self.open.push(at);
        while let Some(at) = self.open.pop() {
            let (Some(inst), Some(seen)) = (self.program.code.get(at), self.seen.get_mut(at)) else { return true };
            if std::mem::replace(seen, round) == round {
                continue;
            }
            self.steps = self.steps.saturating_add(1);
            match inst {
                Inst::Char(_) | Inst::Class(_) => now.push(at),
                Inst::Look(look) if !holds(*look, around) => {}
                Inst::Look(_) => self.open.push(at.saturating_add(1)),
                Inst::Split(there) => {
                    self.open.extend([at.saturating_add(1), at.saturating_add_signed(*there as isize)]);
                }
                Inst::Jump(there) => self.open.push(at.saturating_add_signed(*there as isize)),
            }
        }
        false
    }

    fn takes(&mut self, at: usize, c: char, round: u32) -> bool {
        match self.program.code.get(at) {
            Some(Inst::Char(own)) => *own == c,
            Some(Inst::Class(class)) => {
                let class = *class as usize;
                let (Some(known), Some(ranges)) = (self.classes.get_mut(class), self.program.classes.get(class)) else {
                    return false;
                };
                if known.0 != round {
                    let after = ranges.partition_point(|(first, _)| *first <= c);
                    let last = after.checked_sub(1).and_then(|i| ranges.get(i));
                    *known = (round, last.is_some_and(|(_, last)| c <= *last));
                }
                known.1
            }
            _ => false,
        }
    }
}

/// Report whether an assertion holds between two characters; of those about words Go has the ones of ASCII.
fn holds(look: Look, (before, next): (Option<char>, Option<char>)) -> bool {
    let word = |c: Option<char>| c.is_some_and(|c| c.is_ascii_alphanumeric() || c == '_');
    match look {
        Look::Start => before.is_none(),
        Look::End => next.is_none(),
        Look::StartLF => before.is_none_or(|c| c == '\n'),
        Look::EndLF => next.is_none_or(|c| c == '\n'),
        Look::WordAscii => word(before) != word(next),
        Look::WordAsciiNegate => word(before) == word(next),
        _ => false,
    }
}
