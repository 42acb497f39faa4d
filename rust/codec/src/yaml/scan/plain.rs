//! Scalars without quotes.

#![allow(clippy::arithmetic_side_effects, reason = "places in a body are bounded by its bytes")]

use super::super::fault::Fault;
use super::{Kind, Scanner};

/// The breaks and blanks between two parts of a scalar of several lines.
#[derive(Default)]
pub(super) struct Gap {
    pub blanks: String,
    pub first: String,
    pub more: String,
}

impl Gap {
    /// Append what is left of the breaks: one is a space, several lose the first.
    pub fn fold(&mut self, out: &mut String) {
        if self.first.starts_with('\n') {
            out.push_str(if self.more.is_empty() { " " } else { &self.more });
        } else {
            out.push_str(&self.first);
            out.push_str(&self.more);
        }
        self.first.clear();
        self.more.clear();
    }
}

impl Scanner<'_> {
    /// Read one blank or break between two parts of a scalar; `broken` is whether a break was read since the last part.
    /// Blanks count only before the first break.
    pub(super) fn read_gap(&mut self, gap: &mut Gap, broken: &mut bool) -> Result<(), Fault> {
        if !self.is_blank(0) {
            self.need(2)?;
            if *broken {
                self.read_line(&mut gap.more);
            } else {
                gap.blanks.clear();
                self.read_line(&mut gap.first);
                *broken = true;
            }
        } else if *broken {
            self.skip();
        } else {
            self.read(&mut gap.blanks);
        }
        self.need(1)
    }

    pub(super) fn plain(&mut self) -> Result<(), Fault> {
        self.save_key()?;
        self.key_allowed = false;
        let (line, mut end) = (self.mark.line, self.mark.line);
        let indent = self.indent + 1;
        let (mut text, mut gap, mut broken) = (String::new(), Gap::default(), false);
        loop {
            self.need(4)?;
            if self.is_boundary() || self.byte(0) == b'#' {
                break;
            }
            while !self.is_blank_or_end(0) && !self.ends_plain() {
                if broken {
                    gap.fold(&mut text);
                    broken = false;
                } else if !gap.blanks.is_empty() {
                    text.push_str(&gap.blanks);
                    gap.blanks.clear();
                }
                self.read(&mut text);
                self.read_run(&mut text, |byte| {
                    matches!(byte, b'!'..=b'~') && !matches!(byte, b':' | b',' | b'?' | b'[' | b']' | b'{' | b'}')
                });
                end = self.mark.line;
                self.need(2)?;
            }
            if !(self.is_blank(0) || self.is_break(0)) {
                break;
            }
            self.need(1)?;
            while self.is_blank(0) || self.is_break(0) {
                if broken && (self.mark.column as isize) < indent && self.byte(0) == b'\t' {
                    let what = "found a tab character that violates indentation";
                    return Err(Fault::scanner(what, self.mark.line, line));
                }
                self.read_gap(&mut gap, &mut broken)?;
            }
            if self.flow == 0 && (self.mark.column as isize) < indent {
                break;
            }
        }
        self.tokens.push_back(super::Token { kind: Kind::Scalar { text, plain: true }, line, end });
        if broken {
            self.key_allowed = true;
        }
        Ok(())
    }

    /// Report whether a character ends a scalar without quotes.
    fn ends_plain(&self) -> bool {
        match self.byte(0) {
            b':' => self.is_blank_or_end(1),
            b',' | b'?' | b'[' | b']' | b'{' | b'}' => self.flow > 0,
            _ => false,
        }
    }
}
