//! A committed version of an object.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::{Arc, OnceLock};

use hydrofoil_codec::json;
use hydrofoil_codec::json::scan::{member, value_end};
use hydrofoil_store::{Draft, Version};
use hydrofoil_types::Value;

use crate::error::Result;
use crate::kind::ObjectKind;

/// Return the key of an object in its shard.
pub fn key(namespace: &str, name: &str) -> String {
    if namespace.is_empty() { name.to_owned() } else { format!("{namespace}/{name}") }
}

/// Report whether a draft is a state of the same object as a version, and not of another one with the same name.
pub fn same_uid(version: &Version, draft: &Draft) -> bool {
    uid(version.json()) == uid(&draft.json)
}

/// Report whether two versions are of one object, and not of two with the same name.
pub fn same_object(one: &Version, other: &Version) -> bool {
    let (one, other) = (one.json(), other.json());
    let Some(uid) = uid_place(one) else { return uid_place(other).is_none() };
    // Most are alike up to the uid, which is found in one of them then.
    if other.get(..uid.end) == one.get(..uid.end) {
        return true;
    }
    // Both texts are canonical, so that equal uids have equal texts.
    uid_place(other).is_some_and(|others| other.get(others) == one.get(uid))
}

/// Return the place of the uid in the JSON of an object.
fn uid_place(json: &[u8]) -> Option<Range<usize>> {
    let rest = member(member(json, br#""metadata""#)?, br#""uid""#)?;
    let begin = json.len().checked_sub(rest.len())?;
    Some(begin..begin.checked_add(value_end(rest)?)?)
}

/// Return the uid in the JSON of an object, which may be too large to be parsed for that.
fn uid(json: &[u8]) -> Option<String> {
    let parsed = json::parse(json.get(uid_place(json)?)?).ok()?;
    parsed.value.as_str().map(str::to_owned)
}

/// One immutable version of one object, as read in the version of a kind.
#[derive(Debug)]
pub struct Stored {
    kind: Arc<dyn ObjectKind>,
    version: Arc<Version>,
    /// The decoded object: a write needs it several times, and this handle does not outlive the write.
    decoded: OnceLock<Value>,
}

impl Stored {
    /// Return a handle to a version.
    pub fn new(kind: &Arc<dyn ObjectKind>, version: Arc<Version>) -> Self {
        Self { kind: Arc::clone(kind), version, decoded: OnceLock::new() }
    }

    /// Return a handle to the same version, as read in the version of another kind.
    #[must_use]
    pub fn seen_as(&self, kind: &Arc<dyn ObjectKind>) -> Self {
        Self::new(kind, Arc::clone(&self.version))
    }

    /// Return the kind of the handle.
    pub fn kind(&self) -> &Arc<dyn ObjectKind> {
        &self.kind
    }

    /// Return the version in the store.
    pub fn version(&self) -> &Arc<Version> {
        &self.version
    }

    /// Return the size of the stored JSON in bytes, which determines the cost of work on it.
    pub fn size(&self) -> usize {
        self.version.json().len()
    }

    /// Return the canonical JSON without a final newline.
    pub fn json(&self) -> Result<Cow<'_, [u8]>> {
        self.kind.json(&self.version)
    }

    /// Return the uid of the object.
    pub fn uid(&self) -> String {
        uid(self.version.json()).unwrap_or_default()
    }

    /// Return the object in loose form.
    pub fn object(&self) -> Result<Cow<'_, Value>> {
        self.value(&self.kind)
    }

    /// Return the object in loose form in the version of a kind; for its own kind it is decoded once.
    pub fn value(&self, kind: &Arc<dyn ObjectKind>) -> Result<Cow<'_, Value>> {
        if kind.info().id != self.kind.info().id {
            return kind.read(&self.version).map(Cow::Owned);
        }
        if let Some(decoded) = self.decoded.get() {
            return Ok(Cow::Borrowed(decoded));
        }
        let decoded = kind.read(&self.version)?;
        Ok(Cow::Borrowed(self.decoded.get_or_init(|| decoded)))
    }

    /// Return the object in loose form for change.
    pub fn thaw(&self) -> Result<Value> {
        // Nearly every object that is changed is compared with the present one, whose copy costs less than to decode it.
        self.object().map(Cow::into_owned)
    }
}

#[cfg(test)]
mod tests {
    use hydrofoil_store::{Draft, Version};
    use hydrofoil_types::Fingerprint;

    use super::same_object;

    fn version(json: &str) -> Version {
        let rv_at = json.find(r#"resourceVersion":""#).map_or(0, |at| at.saturating_add(18));
        let (labels, fields) = (Box::default(), Box::default());
        let json = json.as_bytes().to_vec();
        Version::detach(
            "a",
            7,
            Draft { json, given: None, rv_at, head: 0, labels, fields, fingerprint: Fingerprint::BUILTIN },
        )
    }

    #[test]
    fn the_uid_alone_decides() {
        let object = |before: &str, uid: &str| {
            version(&format!(r#"{{"kind":"K","metadata":{{{before}"uid":"{uid}","resourceVersion":""}},"uid":"x"}}"#))
        };
        let none = || version(r#"{"kind":"K","metadata":{"resourceVersion":""},"uid":"x"}"#);
        for (one, other, same) in [
            (object("", "u-1"), object("", "u-1"), true),
            (object("", "u-1"), object(r#""name":"a","#, "u-1"), true),
            (object("", "u-1"), object("", "u-12"), false),
            (object("", "u-12"), object("", "u-1"), false),
            (object(r#""name":"a","#, "u-1"), object(r#""name":"a","#, "u-2"), false),
            (object("", "u-1"), none(), false),
            (none(), object("", "u-1"), false),
            (none(), none(), true),
        ] {
            assert_eq!(same_object(&one, &other), same, "{one:?} {other:?}");
        }
    }
}
