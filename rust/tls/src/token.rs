//! Bearer tokens.

use ring::digest::{self, SHA256};

/// Return the SHA-256 under which a token is known.
pub fn digest(token: &[u8]) -> [u8; 32] {
    let mut out = [0; 32];
    out.copy_from_slice(digest::digest(&SHA256, token).as_ref());
    out
}

/// Return the token of an Authorization header in its usual form; other forms need a closer look.
pub fn usual(header: &str) -> Option<&str> {
    header
        .strip_prefix("Bearer ")
        .filter(|token| !token.is_empty() && token.bytes().all(|byte| byte.is_ascii_graphic()))
}

#[cfg(test)]
mod tests {
    use super::{digest, usual};

    #[test]
    fn a_digest_is_the_sha_256() {
        assert_eq!(digest(b"abc")[..4], [0xba, 0x78, 0x16, 0xbf]);
    }

    #[test]
    fn only_the_usual_form_is_read() {
        assert_eq!(usual("Bearer a.b-c_"), Some("a.b-c_"));
        for other in ["", "Bearer", "Bearer ", "Bearer  a", "bearer a", "Bearer a b", "Bearer a\t", "Bearer \u{e9}"] {
            assert_eq!(usual(other), None, "{other}");
        }
    }
}
