//! Block scalars.

#![allow(clippy::arithmetic_side_effects, reason = "places in a body are bounded by its bytes")]

use super::super::fault::Fault;
use super::{Kind, Scanner, Token};

/// The treatment of the last line breaks.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Chomping {
    Strip,
    Clip,
    Keep,
}

impl Scanner<'_> {
    pub(super) fn block(&mut self, literal: bool) -> Result<(), Fault> {
        self.remove_key()?;
        self.key_allowed = true;
        let line = self.mark.line;
        self.skip();
        let (chomping, increment) = self.header(line)?;
        self.need(1)?;
        self.skip_blanks()?;
        self.skip_comment()?;
        if !self.is_break_or_end(0) {
            return Err(Fault::scanner("did not find expected comment or line break", self.mark.line, line));
        }
        if self.is_break(0) {
            self.need(2)?;
            self.skip_line();
        }
        let mut end = self.mark.line;
        let mut indent = if increment > 0 { self.indent.max(0) + increment } else { 0 };
        let (mut text, mut first, mut more) = (String::new(), String::new(), String::new());
        self.breaks(&mut indent, &mut more, line, &mut end)?;
        self.need(1)?;
        let mut leading = false;
        while self.mark.column as isize == indent && !self.is_end() {
            let blank = self.is_blank(0);
            if !literal && !leading && !blank && first.starts_with('\n') {
                // Lines are joined by a space.
                if more.is_empty() {
                    text.push(' ');
                }
            } else {
                text.push_str(&first);
            }
            first.clear();
            text.push_str(&more);
            more.clear();
            leading = blank;
            while !self.is_break_or_end(0) {
                self.read(&mut text);
                self.read_run(&mut text, |byte| matches!(byte, b' '..=b'~' | b'\t'));
                self.need(1)?;
            }
            self.need(2)?;
            if self.is_break(0) {
                self.read_line(&mut first);
            }
            self.breaks(&mut indent, &mut more, line, &mut end)?;
        }
        if chomping != Chomping::Strip {
            text.push_str(&first);
        }
        if chomping == Chomping::Keep {
            text.push_str(&more);
        }
        self.tokens.push_back(Token { kind: Kind::Scalar { text, plain: false }, line, end });
        Ok(())
    }

    /// Read the indicators of chomping and indentation, in either order.
    fn header(&mut self, line: usize) -> Result<(Chomping, isize), Fault> {
        self.need(1)?;
        if let Some(chomping) = self.chomping() {
            self.need(1)?;
            return Ok((chomping, self.indentation(line)?));
        }
        let increment = self.indentation(line)?;
        if increment == 0 {
            return Ok((Chomping::Clip, 0));
        }
        self.need(1)?;
        Ok((self.chomping().unwrap_or(Chomping::Clip), increment))
    }

    fn chomping(&mut self) -> Option<Chomping> {
        let found = match self.byte(0) {
            b'+' => Chomping::Keep,
            b'-' => Chomping::Strip,
            _ => return None,
        };
        self.skip();
        Some(found)
    }

    fn indentation(&mut self, line: usize) -> Result<isize, Fault> {
        match self.byte(0) {
            b'0' => Err(Fault::scanner("found an indentation indicator equal to 0", self.mark.line, line)),
            digit @ b'1'..=b'9' => {
                self.skip();
                Ok(isize::from(digit as i8 - b'0' as i8))
            }
            _ => Ok(0),
        }
    }

    /// Read indentation and line breaks; find the indentation of the scalar if it is not known.
    fn breaks(&mut self, indent: &mut isize, out: &mut String, line: usize, end: &mut usize) -> Result<(), Fault> {
        *end = self.mark.line;
        let mut most = 0;
        loop {
            self.need(1)?;
            let before = |this: &Self| *indent == 0 || (this.mark.column as isize) < *indent;
            while before(self) && self.byte(0) == b' ' {
                self.skip();
                self.need(1)?;
            }
            most = most.max(self.mark.column as isize);
            if before(self) && self.byte(0) == b'\t' {
                let what = "found a tab character where an indentation space is expected";
                return Err(Fault::scanner(what, self.mark.line, line));
            }
            if !self.is_break(0) {
                break;
            }
            self.need(2)?;
            self.read_line(out);
            *end = self.mark.line;
        }
        if *indent == 0 {
            *indent = most.max(self.indent + 1).max(1);
        }
        Ok(())
    }
}
