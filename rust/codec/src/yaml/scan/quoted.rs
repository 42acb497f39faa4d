//! Scalars in quotes.

#![allow(clippy::arithmetic_side_effects, reason = "places in a body are bounded by its bytes")]

use super::super::fault::Fault;
use super::plain::Gap;
use super::{Kind, Scanner};

impl Scanner<'_> {
    pub(super) fn scan_quoted(&mut self, single: bool) -> Result<(), Fault> {
        self.save_key()?;
        self.key_allowed = false;
        let line = self.mark.line;
        let quote = if single { b'\'' } else { b'"' };
        self.skip();
        let (mut text, mut gap) = (String::new(), Gap::default());
        loop {
            self.need(4)?;
            if self.is_boundary() {
                return Err(Fault::scanner("found unexpected document indicator", self.mark.line, line));
            }
            if self.is_end() {
                return Err(Fault::scanner("found unexpected end of stream", self.mark.line, line));
            }
            let mut broken = false;
            while !self.is_blank_or_end(0) {
                match self.byte(0) {
                    b'\'' if single && self.byte(1) == b'\'' => {
                        text.push('\'');
                        self.skip();
                        self.skip();
                    }
                    byte if byte == quote => break,
                    b'\\' if !single && self.is_break(1) => {
                        self.need(3)?;
                        self.skip();
                        self.skip_line();
                        broken = true;
                        break;
                    }
                    b'\\' if !single => self.escape(&mut text, line)?,
                    _ => {
                        self.read(&mut text);
                        self.read_run(&mut text, |b| matches!(b, b'!'..=b'~') && !matches!(b, b'\'' | b'"' | b'\\'));
                    }
                }
                self.need(2)?;
            }
            self.need(1)?;
            if self.byte(0) == quote {
                break;
            }
            while self.is_blank(0) || self.is_break(0) {
                self.read_gap(&mut gap, &mut broken)?;
            }
            if broken {
                gap.fold(&mut text);
            } else {
                text.push_str(&gap.blanks);
                gap.blanks.clear();
            }
        }
        self.skip();
        self.push(Kind::Scalar { text, plain: false }, line);
        Ok(())
    }

    /// Read an escape sequence of a scalar that began at a line.
    fn escape(&mut self, text: &mut String, line: usize) -> Result<(), Fault> {
        let fail = |this: &Self, what| Err(Fault::scanner(what, this.mark.line, line));
        let digits = match self.byte(1) {
            b'x' => 2,
            b'u' => 4,
            b'U' => 8,
            simple => match meaning(simple) {
                Some(c) => {
                    text.push(c);
                    0
                }
                None => return fail(self, "found unknown escape character"),
            },
        };
        self.skip();
        self.skip();
        if digits == 0 {
            return Ok(());
        }
        self.need(digits)?;
        let mut code = 0_u32;
        for ahead in 0..digits {
            match char::from(self.byte(ahead)).to_digit(16) {
                Some(digit) => code = code << 4 | digit,
                None => return fail(self, "did not find expected hexdecimal number"),
            }
        }
        let Some(c) = char::from_u32(code) else {
            return fail(self, "found invalid Unicode character escape code");
        };
        text.push(c);
        (0..digits).for_each(|_| self.skip());
        Ok(())
    }
}

/// Return the character that an escape of one letter means.
fn meaning(letter: u8) -> Option<char> {
    Some(match letter {
        b'0' => '\0',
        b'a' => '\u{7}',
        b'b' => '\u{8}',
        b't' | b'\t' => '\t',
        b'n' => '\n',
        b'v' => '\u{b}',
        b'f' => '\u{c}',
        b'r' => '\r',
        b'e' => '\u{1b}',
        b' ' | b'"' | b'\'' | b'\\' => char::from(letter),
        b'N' => '\u{85}',
        b'_' => '\u{a0}',
        b'L' => '\u{2028}',
        b'P' => '\u{2029}',
        _ => return None,
    })
}
