//! The next token by its first character.

#![allow(clippy::arithmetic_side_effects, reason = "places in a body are bounded by its bytes")]

use super::super::fault::Fault;
use super::{Kind, Scanner};

impl Scanner<'_> {
    /// Append the next token to the queue, with those that follow from its place.
    pub(super) fn fetch_next(&mut self) -> Result<(), Fault> {
        self.need(1)?;
        if !self.started {
            self.start();
            return Ok(());
        }
        self.skip_to_token()?;
        self.unroll_indent(self.mark.column as isize);
        self.need(4)?;
        let byte = self.byte(0);
        match byte {
            0 => return self.end_stream(),
            b'%' if self.mark.column == 0 => return self.directive(),
            b'-' | b'.' if self.is_boundary() => {
                return self.boundary(if byte == b'-' { Kind::DocumentStart } else { Kind::DocumentEnd });
            }
            b'[' => return self.open(Kind::FlowSequenceStart),
            b'{' => return self.open(Kind::FlowMappingStart),
            b']' => return self.close(Kind::FlowSequenceEnd),
            b'}' => return self.close(Kind::FlowMappingEnd),
            b',' => {
                self.remove_key()?;
                self.key_allowed = true;
                self.mark_of_one(Kind::FlowEntry);
                return Ok(());
            }
            b'-' if self.is_blank_or_end(1) => return self.entry(),
            b'?' if self.flow > 0 || self.is_blank_or_end(1) => return self.key(),
            b':' if self.flow > 0 || self.is_blank_or_end(1) => return self.value(),
            b'*' => return self.anchor(Kind::Alias),
            b'&' => return self.anchor(Kind::Anchor),
            b'!' => return self.tag(),
            b'|' if self.flow == 0 => return self.block(true),
            b'>' if self.flow == 0 => return self.block(false),
            b'\'' => return self.scan_quoted(true),
            b'"' => return self.scan_quoted(false),
            _ => {}
        }
        let indicator =
            self.is_blank_or_end(0) || matches!(byte, b'-' | b'?' | b':' | b'#' | b'|' | b'>' | b'%' | b'@' | b'`');
        let plain = match byte {
            b'-' => !self.is_blank(1),
            b'?' | b':' => self.flow == 0 && !self.is_blank_or_end(1),
            _ => !indicator,
        };
        if plain {
            return self.plain();
        }
        let line = self.mark.line;
        Err(Fault::scanner("found character that cannot start any token", line, line))
    }

    /// Skip spaces, comments and line breaks. Tabs are allowed in flow, and in a block where no key may begin.
    fn skip_to_token(&mut self) -> Result<(), Fault> {
        loop {
            self.need(1)?;
            // Upstream looks at the beginning of its buffer, which is that of the text at first.
            if self.mark.column == 0 && self.mark.index == 0 && self.text.starts_with('\u{feff}') {
                self.skip();
            }
            self.need(1)?;
            while self.byte(0) == b' ' || self.byte(0) == b'\t' && (self.flow > 0 || !self.key_allowed) {
                self.skip();
                self.need(1)?;
            }
            self.skip_comment()?;
            if !self.is_break(0) {
                return Ok(());
            }
            self.need(2)?;
            self.skip_line();
            if self.flow == 0 {
                self.key_allowed = true;
            }
        }
    }

    /// Append the token of an indicator of one character.
    fn mark_of_one(&mut self, kind: Kind) {
        let line = self.mark.line;
        self.skip();
        self.push(kind, line);
    }

    fn end_stream(&mut self) -> Result<(), Fault> {
        if self.mark.column != 0 {
            self.mark.column = 0;
            self.mark.line += 1;
        }
        self.unroll_indent(-1);
        self.remove_key()?;
        self.key_allowed = false;
        self.push(Kind::StreamEnd, self.mark.line);
        Ok(())
    }

    fn boundary(&mut self, kind: Kind) -> Result<(), Fault> {
        self.unroll_indent(-1);
        self.remove_key()?;
        self.key_allowed = false;
        let line = self.mark.line;
        (0..3).for_each(|_| self.skip());
        self.push(kind, line);
        Ok(())
    }

    fn open(&mut self, kind: Kind) -> Result<(), Fault> {
        self.save_key()?;
        self.increase_flow()?;
        self.key_allowed = true;
        self.mark_of_one(kind);
        Ok(())
    }

    fn close(&mut self, kind: Kind) -> Result<(), Fault> {
        self.remove_key()?;
        self.decrease_flow();
        self.key_allowed = false;
        self.mark_of_one(kind);
        Ok(())
    }

    /// Begin a block of a kind at the place if none of the same column is open.
    fn block_at(&mut self, kind: Kind, refusal: &'static str) -> Result<(), Fault> {
        if self.flow > 0 {
            return Ok(());
        }
        if !self.key_allowed {
            return Err(Fault::scanner(refusal, self.mark.line, self.mark.line));
        }
        self.roll_indent(self.mark, None, kind)
    }

    fn entry(&mut self) -> Result<(), Fault> {
        self.block_at(Kind::BlockSequenceStart, "block sequence entries are not allowed in this context")?;
        self.remove_key()?;
        self.key_allowed = true;
        self.mark_of_one(Kind::BlockEntry);
        Ok(())
    }

    fn key(&mut self) -> Result<(), Fault> {
        self.block_at(Kind::BlockMappingStart, "mapping keys are not allowed in this context")?;
        self.remove_key()?;
        self.key_allowed = self.flow == 0;
        self.mark_of_one(Kind::Key);
        Ok(())
    }

    fn value(&mut self) -> Result<(), Fault> {
        if self.take_key()? {
            self.key_allowed = false;
        } else {
            self.block_at(Kind::BlockMappingStart, "mapping values are not allowed in this context")?;
            self.key_allowed = self.flow == 0;
        }
        self.mark_of_one(Kind::Value);
        Ok(())
    }
}
