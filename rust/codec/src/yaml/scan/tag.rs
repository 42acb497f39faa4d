//! Directives, anchors and tags.

#![allow(clippy::arithmetic_side_effects, reason = "places in a body are bounded by its bytes")]

use super::super::fault::Fault;
use super::{Kind, Scanner};

const LINE_END: &str = "did not find expected whitespace or line break";

impl Scanner<'_> {
    fn fail<T>(&self, what: &'static str, line: usize) -> Result<T, Fault> {
        Err(Fault::scanner(what, self.mark.line, line))
    }

    fn word(&mut self) -> Result<String, Fault> {
        self.need(1)?;
        let mut word = String::new();
        while self.is_word() {
            self.read(&mut word);
            self.need(1)?;
        }
        Ok(word)
    }

    pub(super) fn directive(&mut self) -> Result<(), Fault> {
        self.unroll_indent(-1);
        self.remove_key()?;
        self.key_allowed = false;
        let line = self.mark.line;
        self.skip();
        let name = self.word()?;
        if name.is_empty() {
            return self.fail("could not find expected directive name", line);
        }
        if !self.is_blank_or_end(0) {
            return self.fail("found unexpected non-alphabetical character", line);
        }
        let kind = match name.as_str() {
            "YAML" => self.version(line)?,
            "TAG" => self.tag_directive(line)?,
            _ => return self.fail("found unknown directive name", line),
        };
        self.need(1)?;
        self.skip_blanks()?;
        self.skip_comment()?;
        if !self.is_break_or_end(0) {
            return self.fail("did not find expected comment or line break", line);
        }
        // The token ends where its value does.
        self.push(kind, line);
        if self.is_break(0) {
            self.need(2)?;
            self.skip_line();
        }
        Ok(())
    }

    fn version(&mut self, line: usize) -> Result<Kind, Fault> {
        self.need(1)?;
        self.skip_blanks()?;
        let major = self.number(line)?;
        if self.byte(0) != b'.' {
            return self.fail("did not find expected digit or '.' character", line);
        }
        self.skip();
        Ok(Kind::Version { major, minor: self.number(line)? })
    }

    fn number(&mut self, line: usize) -> Result<u8, Fault> {
        self.need(1)?;
        let (mut number, mut length) = (0, 0);
        while let digit @ b'0'..=b'9' = self.byte(0) {
            length += 1;
            if length > 2 {
                return self.fail("found extremely long version number", line);
            }
            number = number * 10 + (digit - b'0');
            self.skip();
            self.need(1)?;
        }
        if length == 0 {
            return self.fail("did not find expected version number", line);
        }
        Ok(number)
    }

    fn tag_directive(&mut self, line: usize) -> Result<Kind, Fault> {
        self.need(1)?;
        self.skip_blanks()?;
        let handle = self.handle(true, line)?;
        self.need(1)?;
        if !self.is_blank(0) {
            return self.fail("did not find expected whitespace", line);
        }
        self.skip_blanks()?;
        let prefix = self.uri("", line)?;
        self.need(1)?;
        if !self.is_blank_or_end(0) {
            return self.fail(LINE_END, line);
        }
        Ok(Kind::TagDirective { handle, prefix })
    }

    pub(super) fn anchor(&mut self, kind: fn(String) -> Kind) -> Result<(), Fault> {
        self.save_key()?;
        self.key_allowed = false;
        let line = self.mark.line;
        self.skip();
        let name = self.word()?;
        let ends =
            self.is_blank_or_end(0) || matches!(self.byte(0), b'?' | b':' | b',' | b']' | b'}' | b'%' | b'@' | b'`');
        if name.is_empty() || !ends {
            return self.fail("did not find expected alphabetic or numeric character", line);
        }
        self.push(kind(name), line);
        Ok(())
    }

    pub(super) fn tag(&mut self) -> Result<(), Fault> {
        self.save_key()?;
        self.key_allowed = false;
        let line = self.mark.line;
        self.need(2)?;
        let kind = if self.byte(1) == b'<' {
            self.skip();
            self.skip();
            let suffix = self.uri("", line)?;
            if self.byte(0) != b'>' {
                return self.fail("did not find the expected '>'", line);
            }
            self.skip();
            Kind::Tag { handle: String::new(), suffix }
        } else {
            let handle = self.handle(false, line)?;
            if handle.len() > 1 && handle.ends_with('!') {
                Kind::Tag { suffix: self.uri("", line)?, handle }
            } else {
                // It was no handle: what was read is the beginning of the tag.
                let suffix = self.uri(&handle, line)?;
                if suffix.is_empty() {
                    Kind::Tag { handle: suffix, suffix: "!".to_owned() }
                } else {
                    Kind::Tag { handle: "!".to_owned(), suffix }
                }
            }
        };
        self.need(1)?;
        if !self.is_blank_or_end(0) {
            return self.fail(LINE_END, line);
        }
        self.push(kind, line);
        Ok(())
    }

    fn handle(&mut self, directive: bool, line: usize) -> Result<String, Fault> {
        self.need(1)?;
        if self.byte(0) != b'!' {
            return self.fail("did not find expected '!'", line);
        }
        let mut handle = String::new();
        self.read(&mut handle);
        handle.push_str(&self.word()?);
        if self.byte(0) == b'!' {
            self.read(&mut handle);
        } else if directive && handle != "!" {
            return self.fail("did not find expected '!'", line);
        }
        Ok(handle)
    }

    /// Read a tag after its head, whose first character is no part of it.
    fn uri(&mut self, head: &str, line: usize) -> Result<String, Fault> {
        let mut uri = head.get(1..).unwrap_or("").as_bytes().to_vec();
        let mut found = !head.is_empty();
        self.need(1)?;
        loop {
            match self.byte(0) {
                b'%' => self.escaped_octets(&mut uri, line)?,
                byte @ (b';' | b'/' | b'?' | b':' | b'@' | b'&' | b'=' | b'+' | b'$' | b',' | b'.' | b'!' | b'~'
                | b'*' | b'\'' | b'(' | b')' | b'[' | b']') => {
                    uri.push(byte);
                    self.skip();
                }
                byte if self.is_word() => {
                    uri.push(byte);
                    self.skip();
                }
                _ => break,
            }
            self.need(1)?;
            found = true;
        }
        if !found {
            return self.fail("did not find expected tag URI", line);
        }
        Ok(String::from_utf8_lossy(&uri).into_owned())
    }

    /// Read the escaped octets of one character.
    fn escaped_octets(&mut self, uri: &mut Vec<u8>, line: usize) -> Result<(), Fault> {
        let mut left = None;
        while left != Some(0) {
            self.need(3)?;
            let digit = |this: &Self, ahead| char::from(this.byte(ahead)).to_digit(16);
            let (b'%', Some(high), Some(low)) = (self.byte(0), digit(self, 1), digit(self, 2)) else {
                return self.fail("did not find URI escaped octet", line);
            };
            let octet = (high << 4 | low) as u8;
            let width = match left {
                Some(left) if octet & 0xc0 == 0x80 => left,
                Some(_) => return self.fail("found an incorrect trailing UTF-8 octet", line),
                None => match octet {
                    0..=0x7f => 1,
                    0xc0..=0xdf => 2,
                    0xe0..=0xef => 3,
                    0xf0..=0xf7 => 4,
                    _ => return self.fail("found an incorrect leading UTF-8 octet", line),
                },
            };
            uri.push(octet);
            (0..3).for_each(|_| self.skip());
            left = Some(width - 1);
        }
        Ok(())
    }
}
