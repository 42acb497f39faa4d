//! Programs for large patterns: a few instructions over characters, in the order of the pattern.

use std::collections::BTreeMap;

use regex_syntax::hir::{Class, Hir, HirKind, Look, Visitor, visit};

use crate::limits::MAX_SIZE;

/// Every part begins at its first instruction and ends by continuing behind its last. Addresses are relative, so that a
/// part is repeated by copying it.
#[derive(Clone, Copy)]
pub(crate) enum Inst {
    Char(char),
    Class(u32),
    Look(Look),
    /// Continue both at the next instruction and at this offset.
    Split(i32),
    Jump(i32),
}

/// The first and the last characters of a class, in order.
pub(crate) type Ranges = Box<[(char, char)]>;

/// Return the instructions of a pattern and the classes they name; `None` for a pattern that is larger than Go allows.
pub(crate) fn build(hir: &Hir) -> Option<(Vec<Inst>, Vec<Ranges>)> {
    let Builder { code, classes, .. } = visit(hir, Builder::default()).ok()?;
    let mut classes: Vec<(Ranges, u32)> = classes.into_iter().collect();
    classes.sort_unstable_by_key(|(_, at)| *at);
    Some((code, classes.into_iter().map(|(ranges, _)| ranges).collect()))
}

/// The error for a program that is larger than Go allows.
struct TooLarge;

#[derive(Default)]
struct Builder {
    code: Vec<Inst>,
    classes: BTreeMap<Ranges, u32>,
    open: Vec<Open>,
}

/// A part whose instructions are being added.
enum Open {
    Repetition { start: usize },
    Alternation { split: usize, jumps: Vec<usize>, left: usize },
}

impl Builder {
    fn push(&mut self, inst: Inst) -> Result<usize, TooLarge> {
        let at = self.code.len();
        // A branch needs two instructions here and one in Go.
        if at as u64 > 2 * MAX_SIZE {
            return Err(TooLarge);
        }
        self.code.push(inst);
        Ok(at)
    }

    /// Direct a branch to the instruction that is added next.
    fn land(&mut self, at: usize) {
        let there = distance(at, self.code.len());
        if let Some(Inst::Split(to) | Inst::Jump(to)) = self.code.get_mut(at) {
            *to = there;
        }
    }

    fn class(&mut self, ranges: Ranges) -> Result<(), TooLarge> {
        let next = self.classes.len() as u32;
        let class = *self.classes.entry(ranges).or_insert(next);
        self.push(Inst::Class(class)).map(|_| ())
    }

    /// Add the copies that a repetition needs besides the first one.
    fn repeat(&mut self, start: usize, min: u32, max: Option<u32>) -> Result<(), TooLarge> {
        if max == Some(0) {
            self.code.truncate(start);
            return Ok(());
        }
        let first = self.code.len();
        // The first one of none or more is behind a branch already.
        let branch = usize::from(min == 0);
        let unit = first.saturating_sub(start).saturating_add(1);
        let copies = max.unwrap_or(min).max(1).saturating_sub(1) as usize;
        if unit.saturating_mul(copies).saturating_add(first) as u64 > 2 * MAX_SIZE {
            return Err(TooLarge);
        }
        let body = start.saturating_add(branch)..first;
        let mut branches: Vec<usize> = if min == 0 { vec![start] } else { Vec::new() };
        let mut last = body.start;
        for n in 1..=copies {
            if n >= min as usize {
                branches.push(self.push(Inst::Split(0))?);
            }
            last = self.code.len();
            self.code.extend_from_within(body.clone());
        }
        match max {
            None if min == 0 => {
                let at = self.code.len();
                self.push(Inst::Jump(distance(at, start)))?;
            }
            None => {
                let at = self.code.len();
                self.push(Inst::Split(distance(at, last)))?;
            }
            Some(_) => {}
        }
        for at in branches {
            self.land(at);
        }
        Ok(())
    }
}

/// Return how far it is from one instruction to another; a program is far smaller than its range.
fn distance(from: usize, to: usize) -> i32 {
    (to as i32).wrapping_sub(from as i32)
}

impl Visitor for Builder {
    type Output = Self;
    type Err = TooLarge;

    fn finish(self) -> Result<Self, TooLarge> {
        Ok(self)
    }

    fn visit_pre(&mut self, hir: &Hir) -> Result<(), TooLarge> {
        match hir.kind() {
            HirKind::Repetition(r) => {
                self.open.push(Open::Repetition { start: self.code.len() });
                if r.min == 0 {
                    self.push(Inst::Split(0))?;
                }
            }
            HirKind::Alternation(subs) => {
                let split = self.push(Inst::Split(0))?;
                self.open.push(Open::Alternation { split, jumps: Vec::new(), left: subs.len().saturating_sub(1) });
            }
            _ => {}
        }
        Ok(())
    }

    fn visit_alternation_in(&mut self) -> Result<(), TooLarge> {
        let Some(Open::Alternation { split, mut jumps, left }) = self.open.pop() else { return Ok(()) };
        jumps.push(self.push(Inst::Jump(0))?);
        self.land(split);
        let left = left.saturating_sub(1);
        let split = if left > 0 { self.push(Inst::Split(0))? } else { split };
        self.open.push(Open::Alternation { split, jumps, left });
        Ok(())
    }

    fn visit_post(&mut self, hir: &Hir) -> Result<(), TooLarge> {
        match hir.kind() {
            HirKind::Literal(literal) => {
                for c in String::from_utf8_lossy(&literal.0).chars() {
                    self.push(Inst::Char(c))?;
                }
            }
            HirKind::Class(Class::Unicode(class)) => {
                self.class(class.ranges().iter().map(|r| (r.start(), r.end())).collect())?;
            }
            HirKind::Class(Class::Bytes(class)) => {
                self.class(class.ranges().iter().map(|r| (r.start().into(), r.end().into())).collect())?;
            }
            HirKind::Look(look) => {
                self.push(Inst::Look(*look))?;
            }
            HirKind::Repetition(r) => {
                if let Some(Open::Repetition { start }) = self.open.pop() {
                    self.repeat(start, r.min, r.max)?;
                }
            }
            HirKind::Alternation(_) => {
                if let Some(Open::Alternation { jumps, .. }) = self.open.pop() {
                    for at in jumps {
                        self.land(at);
                    }
                }
            }
            HirKind::Empty | HirKind::Capture(_) | HirKind::Concat(_) => {}
        }
        Ok(())
    }
}
