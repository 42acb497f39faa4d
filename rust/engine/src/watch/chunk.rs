//! The chunks of an HTTP/1.1 stream: watchers share their framing like the events in them.

/// Space for the length of a chunk, which is written at its end.
const HEAD: &[u8] = b"00000000\r\n";

/// A piece of a stream during writing, as a chunk or bare.
#[derive(Debug)]
pub(super) struct Chunk {
    bytes: Vec<u8>,
    framed: bool,
}

impl Chunk {
    /// Begin a piece with a capacity in bytes.
    pub(super) fn new(framed: bool, capacity: usize) -> Self {
        let mut bytes = Vec::with_capacity(capacity);
        if framed {
            bytes.extend_from_slice(HEAD);
        }
        Self { bytes, framed }
    }

    /// Return the buffer, to append to.
    pub(super) fn out(&mut self) -> &mut Vec<u8> {
        &mut self.bytes
    }

    /// Return the length so far, with the space for the length.
    pub(super) fn len(&self) -> usize {
        self.bytes.len()
    }

    /// Report whether nothing was written.
    pub(super) fn is_empty(&self) -> bool {
        self.len() <= if self.framed { HEAD.len() } else { 0 }
    }

    /// End the piece and return its bytes.
    pub(super) fn end(&mut self) -> &[u8] {
        if !self.framed {
            return &self.bytes;
        }
        let head = format!("{:x}\r\n", self.len().saturating_sub(HEAD.len()));
        self.bytes.extend_from_slice(b"\r\n");
        let start = HEAD.len().saturating_sub(head.len());
        if let Some(room) = self.bytes.get_mut(start..HEAD.len()) {
            room.copy_from_slice(head.as_bytes());
        }
        self.bytes.get(start..).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::Chunk;

    fn piece(framed: bool, text: &[u8]) -> Vec<u8> {
        let mut chunk = Chunk::new(framed, 0);
        assert!(chunk.is_empty());
        chunk.out().extend_from_slice(text);
        assert_eq!(chunk.is_empty(), text.is_empty());
        chunk.end().to_vec()
    }

    #[test]
    fn a_chunk_begins_with_its_length() {
        assert_eq!(piece(true, b"abc"), b"3\r\nabc\r\n");
        let long = vec![b'x'; 0x1_2345];
        assert_eq!(piece(true, &long), [b"12345\r\n", &*long, b"\r\n"].concat());
    }

    #[test]
    fn a_bare_piece_is_its_bytes() {
        assert_eq!(piece(false, b"abc"), b"abc");
    }
}
