//! Gzip streams joined from blocks that were deflated separately, so that a block can be kept and reused.
//!
//! Each block ends on a byte boundary and refers to nothing before it; consecutive blocks are one deflate stream.

#![allow(clippy::arithmetic_side_effects, reason = "places in a body and depths are bounded by its bytes")]
#![allow(clippy::indexing_slicing, reason = "the cursor never passes the end of the body")]

use crc32fast::Hasher;
use flate2::{Compress, Compression, FlushCompress};

/// The head of a gzip stream: no name, no time.
pub const HEAD: [u8; 10] = [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 4, 255];

/// Upstream's level is 1; level 1 of this library compresses metadata to 1.4 times the size of zlib's.
const LEVEL: Compression = Compression::new(2);

/// Return a deflated text: a sequence of blocks of which none is the last.
pub fn deflate(text: &[u8]) -> Vec<u8> {
    let mut compress = Compress::new(LEVEL, false);
    let mut out = Vec::with_capacity(text.len() / 4 + 64);
    loop {
        let from = compress.total_in() as usize;
        out.reserve(text.len() / 8 + 64);
        // It fails only on misuse of the stream.
        let _ = compress.compress_vec(&text[from..], &mut out, FlushCompress::Sync);
        if compress.total_in() as usize == text.len() && out.len() < out.capacity() {
            return out;
        }
    }
}

/// Return a short text as an uncompressed block: at most 65,535 bytes.
pub fn store_block(text: &[u8]) -> Vec<u8> {
    let len = u16::try_from(text.len()).unwrap_or(u16::MAX);
    let mut out = vec![0];
    out.extend_from_slice(&len.to_le_bytes());
    out.extend_from_slice(&(!len).to_le_bytes());
    out.extend_from_slice(&text[..usize::from(len)]);
    out
}

/// The check sum of a text, which can be combined from those of its parts.
#[derive(Clone, Debug, Default)]
pub struct Sum {
    hasher: Hasher,
    len: u64,
}

impl Sum {
    /// Return the check sum of a text.
    pub fn of(text: &[u8]) -> Self {
        let mut hasher = Hasher::new();
        hasher.update(text);
        Self { hasher, len: text.len() as u64 }
    }

    /// Add the check sum of the text that follows.
    pub fn add(&mut self, next: &Self) {
        self.hasher.combine(&next.hasher);
        self.len += next.len;
    }

    /// Return the end of a stream: an empty last block, the check sum, the length.
    pub fn tail(self) -> Vec<u8> {
        let mut out = vec![1, 0, 0, 255, 255];
        out.extend_from_slice(&self.hasher.finalize().to_le_bytes());
        out.extend_from_slice(&(self.len as u32).to_le_bytes());
        out
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use super::*;

    fn stream(parts: &[&[u8]]) -> Vec<u8> {
        let mut out = HEAD.to_vec();
        let mut sum = Sum::default();
        for part in parts {
            out.extend(if part.len() < 8 { store_block(part) } else { deflate(part) });
            sum.add(&Sum::of(part));
        }
        out.extend(sum.tail());
        out
    }

    #[test]
    fn parts_are_one_stream() {
        let (a, b) = (b"abcabcabc".repeat(50_000), b"{\"k\":\"v\"}".repeat(999));
        let packed = stream(&[&a, b",", &b, b"]}\n", b""]);
        let mut out = Vec::new();
        flate2::read::GzDecoder::new(&packed[..]).read_to_end(&mut out).unwrap();
        assert_eq!(out, [&a[..], b",", &b, b"]}\n"].concat());
    }

    #[test]
    fn what_cannot_be_compressed_fits_too() {
        let mut state = 1u32;
        let noise: Vec<u8> = std::iter::repeat_with(|| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 24) as u8
        })
        .take(300_000)
        .collect();
        let mut out = Vec::new();
        flate2::read::GzDecoder::new(&stream(&[&noise])[..]).read_to_end(&mut out).unwrap();
        assert_eq!(out, noise);
    }
}
