//! Answers of HTTP/1.1, read piece by piece as the bytes arrive.

/// The longest head and the longest line of a chunk.
const HEAD: usize = 64 << 10;
const LINE: usize = 4 << 10;

/// The part of a head that a client needs.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Head {
    /// The status.
    pub status: u16,
    /// The media type with its parameters, in lower case.
    pub content_type: String,
    /// Whether the body is packed by gzip.
    pub gzip: bool,
    /// Seconds to wait before the request is sent again.
    pub retry_after: Option<f64>,
    /// Whether the connection ends with this answer.
    pub close: bool,
}

/// The next part of an answer.
#[derive(Debug, PartialEq)]
pub enum Part<'a> {
    /// The head is complete.
    Head(Head),
    /// Bytes of the body.
    Body(&'a [u8]),
    /// The answer is complete.
    End,
}

/// Bytes that are no answer of HTTP/1.1.
#[derive(Debug, PartialEq, Eq)]
pub struct Malformed(pub String);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Head,
    /// A body of known size: the bytes left.
    Sized(u64),
    /// A chunk: the bytes left.
    Chunk(u64),
    /// The line with the size of a chunk.
    Size,
    /// The end of the line after a chunk.
    Gap,
    /// The lines after the last chunk.
    Trailer,
    /// A body that ends with the connection.
    Open,
    Ended,
}

/// A reader of one answer after the other.
#[derive(Debug)]
pub struct Reader {
    state: State,
    line: Vec<u8>,
}

impl Default for Reader {
    fn default() -> Self {
        Self { state: State::Head, line: Vec::new() }
    }
}

impl Reader {
    /// Expect the head of another answer.
    pub fn restart(&mut self) {
        self.state = State::Head;
        self.line.clear();
    }

    /// Whether no byte of an answer has arrived.
    pub fn untouched(&self) -> bool {
        self.state == State::Head && self.line.is_empty()
    }

    /// Whether the connection's end is the end of the body.
    pub fn open_ended(&self) -> bool {
        self.state == State::Open
    }

    /// The number of bytes taken, and the part of the answer that they made. Without a part, all bytes were taken.
    pub fn next<'a>(&mut self, bytes: &'a [u8]) -> Result<(usize, Option<Part<'a>>), Malformed> {
        let mut taken = 0;
        loop {
            let rest = &bytes[taken..];
            match self.state {
                State::Head => {
                    let (used, complete) = self.head(rest)?;
                    taken += used;
                    if !complete {
                        return Ok((taken, None));
                    }
                    let (head, state) = parse_head(&self.line)?;
                    self.line.clear();
                    if (100..200).contains(&head.status) {
                        continue;
                    }
                    self.state = state;
                    return Ok((taken, Some(Part::Head(head))));
                }
                State::Sized(0) => {
                    self.state = State::Ended;
                    return Ok((taken, Some(Part::End)));
                }
                State::Ended if rest.is_empty() => return Ok((taken, None)),
                State::Ended => return Err(Malformed("bytes after the end of the answer".to_owned())),
                _ if rest.is_empty() => return Ok((taken, None)),
                State::Open => return Ok((bytes.len(), Some(Part::Body(rest)))),
                State::Sized(left) | State::Chunk(left) => {
                    let size = usize::try_from(left).unwrap_or(usize::MAX).min(rest.len());
                    let left = left - size as u64;
                    self.state = match self.state {
                        State::Sized(_) => State::Sized(left),
                        _ if left == 0 => State::Gap,
                        _ => State::Chunk(left),
                    };
                    return Ok((taken + size, Some(Part::Body(&rest[..size]))));
                }
                State::Gap | State::Size | State::Trailer => {
                    let Some(used) = self.take_line(rest)? else { return Ok((bytes.len(), None)) };
                    taken += used;
                    let ended = self.after_line()?;
                    self.line.clear();
                    if ended {
                        self.state = State::Ended;
                        return Ok((taken, Some(Part::End)));
                    }
                }
            }
        }
    }

    /// Take bytes up to the empty line; whether it has come.
    fn head(&mut self, bytes: &[u8]) -> Result<(usize, bool), Malformed> {
        for (i, &byte) in bytes.iter().enumerate() {
            self.line.push(byte);
            if byte == b'\n' && (self.line.ends_with(b"\r\n\r\n") || self.line.ends_with(b"\n\n")) {
                return Ok((i + 1, true));
            }
        }
        if self.line.len() > HEAD {
            return Err(Malformed("the head of the answer is too long".to_owned()));
        }
        Ok((bytes.len(), false))
    }

    /// Take bytes up to the end of a line, if it is there.
    fn take_line(&mut self, bytes: &[u8]) -> Result<Option<usize>, Malformed> {
        let found = memchr::memchr(b'\n', bytes);
        self.line.extend_from_slice(&bytes[..found.unwrap_or(bytes.len())]);
        if self.line.len() > LINE {
            return Err(Malformed("a line of the chunked body is too long".to_owned()));
        }
        Ok(found.map(|at| at + 1))
    }

    /// Act on a line of a chunked body; whether it was the last.
    fn after_line(&mut self) -> Result<bool, Malformed> {
        let line = self.line.trim_ascii();
        match self.state {
            State::Gap if line.is_empty() => self.state = State::Size,
            State::Gap => return Err(Malformed("a chunk is longer than its size".to_owned())),
            State::Trailer => return Ok(line.is_empty()),
            _ => {
                let digits = line.split(|&c| c == b';').next().unwrap_or_default().trim_ascii();
                let size = std::str::from_utf8(digits).ok().filter(|d| d.bytes().all(|c| c.is_ascii_hexdigit()));
                let size = size.and_then(|digits| u64::from_str_radix(digits, 16).ok());
                self.state = match size {
                    Some(0) => State::Trailer,
                    Some(size) => State::Chunk(size),
                    None => return Err(Malformed(format!("bad size of a chunk: {:?}", String::from_utf8_lossy(line)))),
                };
            }
        }
        Ok(false)
    }
}

fn parse_head(head: &[u8]) -> Result<(Head, State), Malformed> {
    let text = String::from_utf8_lossy(head);
    let mut lines = text.lines();
    let line = lines.next().unwrap_or_default();
    let bad = || Malformed(format!("bad status line {line:?}"));
    let (version, rest) = line.split_once(' ').ok_or_else(bad)?;
    let status = rest.split(' ').next().filter(|s| s.len() == 3).and_then(|s| s.parse().ok()).ok_or_else(bad)?;
    if !version.starts_with("HTTP/1.") {
        return Err(bad());
    }
    let mut found = Head { status, close: version == "HTTP/1.0", ..Head::default() };
    let (mut size, mut chunked) = (None, false);
    for line in lines {
        let Some((name, value)) = line.split_once(':') else { continue };
        let value = value.trim();
        match name.trim().to_ascii_lowercase().as_str() {
            "content-length" => {
                let read = value.parse::<u64>().map_err(|_| Malformed(format!("bad Content-Length {value:?}")))?;
                if size.is_some_and(|before| before != read) {
                    return Err(Malformed("two different Content-Lengths".to_owned()));
                }
                size = Some(read);
            }
            "transfer-encoding" => chunked = value.eq_ignore_ascii_case("chunked"),
            "content-type" => found.content_type = value.to_ascii_lowercase(),
            "content-encoding" => found.gzip = value.eq_ignore_ascii_case("gzip"),
            "retry-after" => found.retry_after = value.parse().ok().filter(|s: &f64| (0.0..=86_400.0).contains(s)),
            "connection" => {
                found.close = value.split(',').any(|word| word.trim().eq_ignore_ascii_case("close"))
                    || found.close && !value.eq_ignore_ascii_case("keep-alive");
            }
            _ => {}
        }
    }
    let state = match (status, chunked, size) {
        (204 | 304, _, _) => State::Sized(0),
        (_, true, _) => State::Size,
        (_, false, Some(size)) => State::Sized(size),
        (_, false, None) => State::Open,
    };
    found.close |= state == State::Open;
    Ok((found, state))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const CHUNKED: &[u8] = b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Type: Application/JSON\r\n\
        Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n006;x=1\r\n world\r\n0\r\nTrailer: x\r\n\r\n";
    const SIZED: &[u8] =
        b"HTTP/1.1 429 Too Many\r\nContent-Length: 5\r\nRetry-After: 2\r\nContent-Encoding: gzip\r\n\r\nhello";

    /// Read pieces; the heads, the bodies joined, and whether the last answer is complete.
    fn read<'a>(pieces: impl IntoIterator<Item = &'a [u8]>) -> Result<(Vec<Head>, Vec<u8>, bool), Malformed> {
        let (mut reader, mut heads, mut body, mut ended) = (Reader::default(), Vec::new(), Vec::new(), false);
        for piece in pieces {
            let mut rest = piece;
            loop {
                let (taken, part) = reader.next(rest)?;
                rest = &rest[taken..];
                match part {
                    None => break,
                    Some(Part::Head(head)) => heads.push(head),
                    Some(Part::Body(bytes)) => body.extend_from_slice(bytes),
                    Some(Part::End) => ended = true,
                }
            }
            assert_eq!(rest, b"");
        }
        Ok((heads, body, ended))
    }

    #[test]
    fn an_answer_split_at_any_byte_is_the_same() {
        for answer in [CHUNKED, SIZED] {
            let whole = read([answer]).unwrap();
            assert!(whole.2 && whole.0.len() == 1);
            for at in 0..=answer.len() {
                assert_eq!(read([&answer[..at], &answer[at..]]).unwrap(), whole, "at {at}");
            }
            assert_eq!(read(answer.chunks(1)).unwrap(), whole);
        }
        let (heads, body, _) = read([CHUNKED]).unwrap();
        assert_eq!((heads[0].content_type.as_str(), &body[..]), ("application/json", &b"hello world"[..]));
        let (heads, _, _) = read([SIZED]).unwrap();
        assert_eq!((heads[0].status, heads[0].retry_after, heads[0].gzip), (429, Some(2.0), true));
    }

    #[test]
    fn no_part_of_an_answer_is_complete() {
        for answer in [CHUNKED, SIZED] {
            for at in 0..answer.len() {
                assert!(!read([&answer[..at]]).unwrap().2, "at {at}");
            }
        }
    }

    #[test]
    fn a_body_without_a_size_is_open_ended() {
        let mut reader = Reader::default();
        let text = b"HTTP/1.1 200 OK\r\n\r\nabc";
        let (taken, head) = reader.next(text).unwrap();
        assert!(matches!(head, Some(Part::Head(Head { close: true, .. }))));
        assert_eq!(reader.next(&text[taken..]).unwrap(), (3, Some(Part::Body(b"abc"))));
        assert!(reader.open_ended());
    }

    #[test]
    fn an_empty_body_ends_with_its_head() {
        for text in [&b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"[..], b"HTTP/1.1 204 No Content\r\n\r\n"] {
            assert_eq!(read([text]).unwrap().1, b"");
            assert!(read([text]).unwrap().2);
        }
    }

    #[test]
    fn bytes_that_are_no_answer_are_refused() {
        for text in [
            "SSH-2.0-x\r\n\r\n",
            "HTTP/2 200\r\n\r\n",
            "HTTP/1.1 20 OK\r\n\r\n",
            "HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n",
            "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
            "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nab",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n+5\r\nhello\r\n",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nhello\r\n",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nfffffffffffffffff\r\n",
        ] {
            assert!(read([text.as_bytes()]).is_err(), "{text:?}");
        }
    }

    proptest! {
        #[test]
        fn any_bytes_in_any_pieces_are_the_same(bytes in prop::collection::vec(any::<u8>(), 0..200), at in 0_usize..400, kept in 0_usize..120) {
            let mut text = CHUNKED[..kept.min(CHUNKED.len())].to_vec();
            text.extend(bytes);
            let at = at.min(text.len());
            prop_assert_eq!(read([&text[..]]), read([&text[..at], &text[at..]]));
        }
    }
}
