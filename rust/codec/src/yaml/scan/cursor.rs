//! The place of a scanner in its text.

#![allow(clippy::arithmetic_side_effects, reason = "places in a body are bounded by its bytes")]

use super::super::fault::Fault;
use super::Scanner;

/// A place: the number of characters before it, its line and its column, all counted from zero.
#[derive(Clone, Copy, Debug, Default)]
pub(in super::super) struct Mark {
    pub index: usize,
    pub line: usize,
    pub column: usize,
}

impl Scanner<'_> {
    /// Return a byte from the place on; 0 behind the end, which no text has.
    #[inline]
    pub(super) fn byte(&self, ahead: usize) -> u8 {
        self.text.as_bytes().get(self.at + ahead).copied().unwrap_or(0)
    }

    /// Fail if the text is broken within as many characters.
    #[inline]
    pub(super) fn need(&self, characters: usize) -> Result<(), Fault> {
        if self.limit < self.mark.index.saturating_add(characters) {
            return Err(Fault::reader(self.broken));
        }
        Ok(())
    }

    pub(super) fn is_end(&self) -> bool {
        self.byte(0) == 0
    }

    pub(super) fn is_blank(&self, ahead: usize) -> bool {
        matches!(self.byte(ahead), b' ' | b'\t')
    }

    /// Report whether a line ends at a place: Unicode's two separators count as upstream has them.
    #[inline]
    pub(super) fn is_break(&self, ahead: usize) -> bool {
        match self.byte(ahead) {
            b'\r' | b'\n' => true,
            0xc2 => self.byte(ahead + 1) == 0x85,
            0xe2 => self.byte(ahead + 1) == 0x80 && matches!(self.byte(ahead + 2), 0xa8 | 0xa9),
            _ => false,
        }
    }

    pub(super) fn is_break_or_end(&self, ahead: usize) -> bool {
        self.byte(ahead) == 0 || self.is_break(ahead)
    }

    #[inline]
    pub(super) fn is_blank_or_end(&self, ahead: usize) -> bool {
        matches!(self.byte(ahead), b' ' | b'\t' | 0) || self.is_break(ahead)
    }

    /// Report whether a character may be in names of anchors, handles and directives.
    pub(super) fn is_word(&self) -> bool {
        matches!(self.byte(0), b'0'..=b'9' | b'A'..=b'Z' | b'a'..=b'z' | b'_' | b'-')
    }

    /// Report whether a document begins or ends at the place, which is the first of a line.
    pub(super) fn is_boundary(&self) -> bool {
        let three = |byte| (0..3).all(|ahead| self.byte(ahead) == byte);
        self.mark.column == 0 && (three(b'-') || three(b'.')) && self.is_blank_or_end(3)
    }

    fn width(&self) -> usize {
        match self.byte(0) {
            0..=0x7f => 1,
            0x80..=0xdf => 2,
            0xe0..=0xef => 3,
            _ => 4,
        }
    }

    pub(super) fn skip(&mut self) {
        self.at += self.width();
        self.mark.index += 1;
        self.mark.column += 1;
    }

    fn next_line(&mut self, bytes: usize, characters: usize) {
        self.at += bytes;
        self.mark.index += characters;
        self.mark.column = 0;
        self.mark.line += 1;
    }

    pub(super) fn skip_line(&mut self) {
        if self.byte(0) == b'\r' && self.byte(1) == b'\n' {
            self.next_line(2, 2);
        } else if self.is_break(0) {
            self.next_line(self.width(), 1);
        }
    }

    /// Skip a comment up to the end of its line.
    pub(super) fn skip_comment(&mut self) -> Result<(), Fault> {
        if self.byte(0) == b'#' {
            while !self.is_break_or_end(0) {
                self.skip();
                self.need(1)?;
            }
        }
        Ok(())
    }

    pub(super) fn skip_blanks(&mut self) -> Result<(), Fault> {
        while self.is_blank(0) {
            self.skip();
            self.need(1)?;
        }
        Ok(())
    }

    /// Copy a character.
    pub(super) fn read(&mut self, out: &mut String) {
        let from = self.at;
        self.skip();
        out.push_str(self.text.get(from..self.at).unwrap_or(""));
    }

    /// Copy characters of ASCII as long as they are of a kind that is neither a break nor an end.
    #[inline]
    pub(super) fn read_run(&mut self, out: &mut String, is_plain: impl Fn(u8) -> bool) {
        let rest = self.text.as_bytes().get(self.at..).unwrap_or_default();
        let count = rest.iter().position(|byte| !is_plain(*byte)).unwrap_or(rest.len());
        out.push_str(self.text.get(self.at..self.at + count).unwrap_or(""));
        self.at += count;
        self.mark.index += count;
        self.mark.column += count;
    }

    /// Copy the end of a line: as a line feed, but for Unicode's own separators.
    pub(super) fn read_line(&mut self, out: &mut String) {
        match self.byte(0) {
            b'\r' if self.byte(1) == b'\n' => {
                out.push('\n');
                self.next_line(2, 2);
            }
            b'\r' | b'\n' => {
                out.push('\n');
                self.next_line(1, 1);
            }
            0xc2 => {
                out.push('\n');
                self.next_line(2, 1);
            }
            _ => {
                out.push(if self.byte(2) == 0xa8 { '\u{2028}' } else { '\u{2029}' });
                self.next_line(3, 1);
            }
        }
    }
}
