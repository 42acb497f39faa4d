//! Continue tokens, as upstream writes them (apiserver `pkg/storage/continue.go`).

#![allow(clippy::arithmetic_side_effects, reason = "it counts objects and bytes that are in memory")]

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::{Deserialize, Serialize};

const VERSION: &str = "meta.k8s.io/v1";

/// The position of a list, and its revision.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ContinueToken {
    /// The revision of the list; -1 means the latest one.
    pub revision: i64,
    /// The first key to return, relative to the prefix of the list.
    pub start: String,
}

#[derive(Deserialize, Serialize)]
struct Wire {
    #[serde(default)]
    v: String,
    #[serde(default)]
    rv: i64,
    #[serde(default)]
    start: String,
}

/// The error of an invalid token; the text is upstream's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TokenError(String);

impl fmt::Display for TokenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "continue key is not valid: {}", self.0)
    }
}

impl std::error::Error for TokenError {}

impl ContinueToken {
    /// Return the token after `last`, the last returned key.
    pub fn after(revision: i64, last: &str) -> Self {
        Self { revision, start: format!("{last}\0") }
    }

    /// Encode as an opaque string.
    pub fn encode(&self) -> String {
        let wire = Wire { v: VERSION.to_owned(), rv: self.revision, start: self.start.clone() };
        // A struct of strings and a number always has a JSON form; Go escapes the zero byte the same way.
        URL_SAFE_NO_PAD.encode(serde_json::to_string(&wire).expect("plain data"))
    }

    /// Decode an opaque string.
    pub fn decode(text: &str) -> Result<Self, TokenError> {
        let data = URL_SAFE_NO_PAD.decode(text).map_err(|e| {
            let at = match e {
                base64::DecodeError::InvalidByte(at, _) | base64::DecodeError::InvalidLastSymbol(at, _) => at,
                _ => text.len() / 4 * 4,
            };
            TokenError(format!("illegal base64 data at input byte {at}"))
        })?;
        let wire: Wire = serde_json::from_slice(&data).map_err(|_| {
            let shown = data.first().map_or_else(String::new, |b| char::from(*b).to_string());
            TokenError(format!("invalid character '{shown}' looking for beginning of value"))
        })?;
        if wire.v != VERSION {
            return Err(TokenError(format!("server does not recognize this encoded version {}", wire.v)));
        }
        if wire.rv == 0 {
            return Err(TokenError("incorrect encoded start resourceVersion (version meta.k8s.io/v1)".to_owned()));
        }
        if wire.start.is_empty() {
            return Err(TokenError("encoded start key empty (version meta.k8s.io/v1)".to_owned()));
        }
        if !clean(&wire.start) {
            return Err(TokenError(wire.start));
        }
        Ok(Self { revision: wire.rv, start: wire.start })
    }
}

/// Report whether a key stays within its prefix: no part is empty, `.` or `..`.
fn clean(start: &str) -> bool {
    start.trim_end_matches('\0').split('/').all(|part| !matches!(part, "" | "." | ".."))
}

#[cfg(test)]
mod tests {
    use super::ContinueToken;

    #[test]
    fn reads_what_it_writes() {
        let token = ContinueToken::after(7, "ns/name");
        assert_eq!(ContinueToken::decode(&token.encode()).unwrap(), token);
        assert_eq!(token.encode(), "eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJydiI6Nywic3RhcnQiOiJucy9uYW1lXHUwMDAwIn0");
    }

    #[test]
    fn states_which_part_is_absent() {
        let message = |text: &str| ContinueToken::decode(text).unwrap_err().to_string();
        assert_eq!(message("e30"), "continue key is not valid: server does not recognize this encoded version ");
        // {"v":"meta.k8s.io/v1"}
        let text = "continue key is not valid: incorrect encoded start resourceVersion (version meta.k8s.io/v1)";
        assert_eq!(message("eyJ2IjoibWV0YS5rOHMuaW8vdjEifQ"), text);
    }

    #[test]
    fn refuses_escapes() {
        let token = ContinueToken { revision: 5, start: "../secrets/x".into() };
        assert!(ContinueToken::decode(&token.encode()).is_err());
    }
}
