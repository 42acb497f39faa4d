//! The seed that values are encrypted with, and its checks (apiserver `kmsv2/envelope.go`).

use std::fmt::Write;
use std::sync::Arc;

use hydrofoil_types::Timestamp;
use sha2::{Digest, Sha256};

use super::message::{Annotations, EncryptedObject, KEY, SEED};
use crate::derived::Derived;
use crate::failure::{Failure, Result};

/// The greatest size of the annotations of a plug-in.
const ANNOTATIONS: usize = 32 << 10;
/// The greatest size of the identity of a key.
const KEY_ID: usize = 1 << 10;
/// The greatest size of an encrypted seed.
const SOURCE: usize = 1 << 10;
const SECOND: i64 = 1_000_000_000;

/// A seed of this server, and its form that the plug-in has encrypted.
#[derive(Clone, Debug)]
pub(crate) struct State {
    pub(crate) seed: Arc<Derived>,
    pub(crate) key_id: String,
    pub(crate) source: Vec<u8>,
    pub(crate) annotations: Annotations,
    /// When nothing more may be written with it, in nanoseconds since 1970.
    pub(crate) expires: i64,
}

impl State {
    /// Refuse to write with a state that its plug-in has not confirmed for long.
    pub(crate) fn check_age(&self, now: i64) -> Result<()> {
        if now <= self.expires {
            return Ok(());
        }
        let (key, at, now) = (key_hash(&self.key_id), moment(self.expires), moment(now));
        let text = format!("encryptedDEKSource with keyID hash \"{key}\" expired at {at} (current time is {now})");
        Err(Failure::new(text))
    }
}

/// Return a time as Go writes it.
pub(crate) fn moment(nanoseconds: i64) -> String {
    Timestamp { seconds: nanoseconds.div_euclid(SECOND), nanos: 0 }.rfc3339()
}

/// Return a hash as upstream shows it; empty for nothing.
pub(crate) fn key_hash(text: &str) -> String {
    if text.is_empty() {
        return String::new();
    }
    let mut out = "sha256:".to_owned();
    for byte in Sha256::digest(text) {
        // A text always has space.
        let _ = write!(out, "{byte:02x}");
    }
    out
}

/// Return why an identity of a key cannot be used: a word for metrics, and the message.
pub(crate) fn key_id_problem(key_id: &str) -> Option<(&'static str, String)> {
    match key_id.len() {
        0 => Some(("empty", "keyID is empty".to_owned())),
        size if size > KEY_ID => {
            Some(("too_long", format!("keyID is {size} bytes, which exceeds the max size of {KEY_ID}")))
        }
        _ => None,
    }
}

/// Check what is stored with a value (`ValidateEncryptedObject`).
pub(crate) fn check(found: &EncryptedObject) -> Result<()> {
    let no = |text: String| Err(Failure::new(text));
    if ![KEY, SEED].contains(&found.kind) {
        return no(format!("unknown encryptedDEKSourceType: {}", found.kind));
    }
    if found.data.is_empty() {
        return no("encrypted data is empty".to_owned());
    }
    let source = "failed to validate encrypted DEK source: encrypted DEK source is";
    match found.source.len() {
        0 => return no(format!("{source} empty")),
        size if size > SOURCE => return no(format!("{source} {size} bytes, which exceeds the max size of {SOURCE}")),
        _ => {}
    }
    if let Some((_, text)) = key_id_problem(&found.key_id) {
        return no(format!("failed to validate key id: {text}"));
    }
    check_annotations(&found.annotations)
}

fn check_annotations(annotations: &Annotations) -> Result<()> {
    let failed = "failed to validate annotations: ";
    if let Some(name) = annotations.keys().find(|name| !is_domain(name)) {
        let text = "should be a domain with at least two segments separated by dots";
        return Err(Failure::new(format!("{failed}annotations: Invalid value: \"{name}\": {text}")));
    }
    let total: usize = annotations.iter().map(|(name, value)| name.len().saturating_add(value.len())).sum();
    if total > ANNOTATIONS {
        let text = format!("total size of annotations is {total}, which exceeds the max size of {ANNOTATIONS}");
        return Err(Failure::new(format!("{failed}{text}")));
    }
    Ok(())
}

/// Report whether a name is a fully qualified domain (apimachinery `IsFullyQualifiedDomainName`).
fn is_domain(name: &str) -> bool {
    let name = name.strip_suffix('.').unwrap_or(name);
    let label = |label: &str| {
        let letter = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
        label.bytes().all(|byte| letter(byte) || byte == b'-')
            && label.bytes().next().is_some_and(letter)
            && label.bytes().next_back().is_some_and(letter)
    };
    name.len() <= 253 && name.contains('.') && name.split('.').all(label)
}

#[cfg(test)]
mod tests {
    use super::{check, is_domain, key_hash};
    use crate::kms::message::{Annotations, EncryptedObject, SEED};

    fn object() -> EncryptedObject {
        let annotations = Annotations::from([("a.example.com".to_owned(), b"x".to_vec())]);
        EncryptedObject { data: vec![0], key_id: "k".to_owned(), source: vec![1], annotations, kind: SEED }
    }

    #[test]
    fn unusable_objects_are_refused() {
        check(&object()).expect("it is usable");
        let refused = |change: fn(&mut EncryptedObject)| {
            let mut found = object();
            change(&mut found);
            check(&found).expect_err("it is not usable").to_string()
        };
        assert_eq!(refused(|o| o.kind = 2), "unknown encryptedDEKSourceType: 2");
        assert_eq!(refused(|o| o.data.clear()), "encrypted data is empty");
        assert!(refused(|o| o.source.clear()).ends_with("encrypted DEK source is empty"));
        assert!(refused(|o| o.source = vec![0; 1025]).ends_with("is 1025 bytes, which exceeds the max size of 1024"));
        assert!(refused(|o| o.key_id.clear()).ends_with("keyID is empty"));
        assert!(refused(|o| o.key_id = "x".repeat(1025)).ends_with("which exceeds the max size of 1024"));
        assert!(refused(|o| drop(o.annotations.insert("x".to_owned(), Vec::new()))).contains("at least two segments"));
        assert!(refused(|o| drop(o.annotations.insert("a.b".to_owned(), vec![0; 33000]))).contains("total size"));
    }

    #[test]
    fn hashes_are_shown_and_domains_checked() {
        assert_eq!(key_hash(""), "");
        assert_eq!(key_hash("key-1"), "sha256:be2974546978e3739e6d6da85c4be9f334ce32df2b9fd4b6ff1b55c0d57e9d44");
        assert_eq!(
            ["a.b", "a.b.", "a", "a..b", "A.b", "-a.b"].map(is_domain),
            [true, true, false, false, false, false]
        );
    }
}
