//! Blocks of PEM (`encoding/pem`).

use base64::Engine as _;
use base64::alphabet::STANDARD;
use base64::engine::general_purpose::{GeneralPurpose, GeneralPurposeConfig};

/// Bits behind the last byte are ignored, as by Go.
const BASE64: GeneralPurpose =
    GeneralPurpose::new(&STANDARD, GeneralPurposeConfig::new().with_decode_allow_trailing_bits(true));
const BEGIN: &[u8] = b"-----BEGIN ";
const END: &[u8] = b"\n-----END ";
const DASHES: &[u8] = b"-----";

/// One block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Block {
    /// The type, as `CERTIFICATE`.
    pub kind: String,
    /// Whether there are headers before the content.
    pub has_headers: bool,
    /// The content.
    pub bytes: Vec<u8>,
}

/// Return the next block and the text behind it (`pem.Decode`); `None` when there is no further one.
pub fn next(text: &[u8]) -> Option<(Block, &[u8])> {
    let mut rest = text;
    loop {
        let end = find(rest, END)?;
        let behind = rest.get(end.checked_add(END.len())?..)?;
        // The last beginning before the end counts: others have no end of their own.
        let before = rest.get(..end)?;
        let found = before.windows(BEGIN.len()).rposition(|w| w == BEGIN);
        let found = found.filter(|at| *at == 0 || before.get(at.wrapping_sub(1)) == Some(&b'\n'));
        if let Some(block) = found.and_then(|at| block(rest.get(at.checked_add(BEGIN.len())?..)?, behind)) {
            return Some(block);
        }
        rest = behind;
    }
}

/// Read a block whose type begins here, and whose end is known.
fn block<'a>(from: &'a [u8], behind: &'a [u8]) -> Option<(Block, &'a [u8])> {
    let (head, mut body) = line(from);
    let kind = head.strip_suffix(DASHES)?;
    let marker = behind.len().checked_add(END.len())?;
    let mut has_headers = false;
    loop {
        // No header is part of the end or behind it: the text of other blocks is not read again for each.
        if body.is_empty() || (has_headers && body.len() < marker) {
            return None;
        }
        let (one, after) = line(body);
        if !one.contains(&b':') {
            break;
        }
        has_headers = true;
        body = after;
    }
    let trailer = behind.strip_prefix(kind)?.strip_prefix(DASHES)?;
    let (blank, rest) = line(trailer);
    if !blank.is_empty() {
        return None;
    }
    // An empty block shares the line feed with its first line.
    let content = body.get(..body.len().saturating_sub(marker))?;
    let digits: Vec<u8> = content.iter().copied().filter(|b| !matches!(b, b' ' | b'\t' | b'\n' | b'\r')).collect();
    let bytes = BASE64.decode(digits).ok()?;
    Some((Block { kind: String::from_utf8_lossy(kind).into_owned(), has_headers, bytes }, rest))
}

fn find(text: &[u8], part: &[u8]) -> Option<usize> {
    text.windows(part.len()).position(|w| w == part)
}

/// Split off the first line, without the blanks at its end (`getLine`).
fn line(text: &[u8]) -> (&[u8], &[u8]) {
    let (mut own, rest) = match text.iter().position(|b| *b == b'\n') {
        Some(at) => text.split_at_checked(at).map_or((text, &[][..]), |(a, b)| (a, b.get(1..).unwrap_or(&[]))),
        None => (text, &[][..]),
    };
    if own.len() < text.len() {
        own = own.strip_suffix(b"\r").unwrap_or(own);
    }
    while let [shorter @ .., b' ' | b'\t'] = own {
        own = shorter;
    }
    (own, rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kinds(mut text: &[u8]) -> Vec<(String, Vec<u8>, bool)> {
        let mut out = Vec::new();
        while let Some((block, rest)) = next(text) {
            out.push((block.kind, block.bytes, block.has_headers));
            text = rest;
        }
        out
    }

    #[test]
    fn blocks_are_read_as_by_go() {
        let one =
            b"x\n-----BEGIN A-----\nYWI=\n-----END A-----\ny\n-----BEGIN B C-----\nk: v\n\nYQ==\n-----END B C-----";
        assert_eq!(kinds(one), [("A".into(), b"ab".to_vec(), false), ("B C".into(), b"a".to_vec(), true)]);
        let empty = b"-----BEGIN A-----\n-----END A-----\n";
        assert_eq!(kinds(empty), [("A".into(), Vec::new(), false)]);
        // The second beginning counts.
        let twice = b"-----BEGIN A-----\n-----BEGIN B-----\nYQ==\n-----END B-----\n";
        assert_eq!(kinds(twice), [("B".into(), b"a".to_vec(), false)]);
    }

    #[test]
    fn headers_of_other_blocks_are_not_read_again_for_each() {
        // This would take minutes.
        let text = "-----BEGIN a:-----\nk: v\n-----END b:-----\n".repeat(20_000);
        assert_eq!(next(text.as_bytes()), None);
    }

    #[test]
    fn other_texts_have_no_blocks() {
        for bad in [
            &b""[..],
            b"text",
            b"-----BEGIN A-----\nYQ==\n",
            b"-----BEGIN A-----\nYQ==\n-----END B-----\n",
            b"-----BEGIN A-----\nY!==\n-----END A-----\n",
            b"-----BEGIN A----\nYQ==\n-----END A-----\n",
            b"-----BEGIN A-----\nYQ==\n-----END A-----x\n",
            b" -----BEGIN A-----\nYQ==\n-----END A-----\n",
            b"-----BEGIN A-----\nk: v\n-----END A-----\n",
        ] {
            assert_eq!(kinds(bad), [], "{}", String::from_utf8_lossy(bad));
        }
    }
}
