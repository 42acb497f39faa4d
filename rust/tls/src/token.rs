//! Bearer tokens.

use ring::digest::{self, SHA256};

/// Return the SHA-256 under which a token is known.
pub fn digest(token: &[u8]) -> [u8; 32] {
    let mut out = [0; 32];
    out.copy_from_slice(digest::digest(&SHA256, token).as_ref());
    out
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_digest_is_the_sha_256() {
        assert_eq!(super::digest(b"abc")[..4], [0xba, 0x78, 0x16, 0xbf]);
    }
}
