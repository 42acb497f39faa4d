//! Bearer tokens.

use std::hash::{BuildHasher, RandomState};
use std::sync::LazyLock;

use ring::digest::{Context, SHA256};

/// The secret in front of each token, drawn for the process.
#[allow(clippy::disallowed_methods, reason = "a secret of the process, which decides about nothing that is shown")]
static SECRET: LazyLock<[u8; 16]> = LazyLock::new(|| {
    let state = RandomState::new();
    let mut out = [0; 16];
    for (place, half) in out.chunks_exact_mut(8).enumerate() {
        half.copy_from_slice(&state.hash_one(place).to_le_bytes());
    }
    out
});

/// Return the digest under which a token is known in this process: the SHA-256 of a secret and the token.
///
/// Tokens are not kept, so a digest has to identify them. No two texts of one SHA-256 are known; the secret, which costs
/// less than HMAC (apiserver `token/cache/cached_token_authenticator.go` has that), makes a digest that leaks useless for
/// guessing tokens. All digests are of one length and none is shown, so there is nothing to extend.
pub fn digest(token: &[u8]) -> [u8; 32] {
    let mut context = Context::new(&SHA256);
    context.update(&*SECRET);
    context.update(token);
    let mut out = [0; 32];
    out.copy_from_slice(context.finish().as_ref());
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
    fn a_digest_has_a_secret() {
        assert_eq!(digest(b"abc"), digest(b"abc"));
        assert_ne!(digest(b"abc"), digest(b"abd"));
        assert_ne!(digest(b"abc")[..4], [0xba, 0x78, 0x16, 0xbf], "it is not the plain SHA-256");
    }

    #[test]
    fn only_the_usual_form_is_read() {
        assert_eq!(usual("Bearer a.b-c_"), Some("a.b-c_"));
        for other in ["", "Bearer", "Bearer ", "Bearer  a", "bearer a", "Bearer a b", "Bearer a\t", "Bearer \u{e9}"] {
            assert_eq!(usual(other), None, "{other}");
        }
    }
}
