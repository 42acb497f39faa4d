//! The one place where objects become values of keys, and values objects again.

use std::borrow::Cow;
use std::sync::Arc;

use hydrofoil_encryption::{Forms, Transformers, resource};
use hydrofoil_engine::kind::ObjectKind;
use hydrofoil_store as store;
use hydrofoil_types::Timestamp;

/// Why a value cannot be read.
#[derive(Clone, Debug)]
pub enum Unread {
    /// It cannot be decrypted.
    Sealed(String),
    /// It is no object.
    Undecoded(String),
}

/// The start of a value that is encrypted, whatever its provider.
const ENCRYPTED: &[u8] = b"k8s:enc:";

/// The encryption of values, and the forms that they are stored in. A key is authenticated together with its value.
#[derive(Debug)]
pub(crate) struct Sealing {
    transformers: Arc<Transformers>,
    forms: Forms,
}

/// The encoding of values.
#[derive(Clone, Debug, Default)]
pub(crate) struct Values(Option<Arc<Sealing>>);

impl Values {
    pub(crate) fn new(transformers: Option<Arc<Transformers>>) -> Self {
        Self(transformers.map(|transformers| Arc::new(Sealing { transformers, forms: Forms::default() })))
    }

    /// Return the value of an object of a collection.
    pub(crate) fn write(
        &self,
        collection: &str,
        key: &[u8],
        kind: &dyn ObjectKind,
        draft: &store::Draft,
    ) -> Result<Vec<u8>, String> {
        let plain = kind.write_shared(draft).map_err(|why| why.to_string())?;
        let Some(sealing) = &self.0 else { return Ok(plain) };
        let key = String::from_utf8_lossy(key);
        sealing
            .transformers
            .to_storage(&resource(collection), &key, &plain)
            .map_err(|why| format!("unable to transform key \"{key}\": {why}"))
    }

    /// Return the object of a value, whose key in the collection is `at`.
    pub(crate) fn read(
        &self,
        collection: &str,
        (key, at): (&[u8], &str),
        kind: &dyn ObjectKind,
        value: &[u8],
        now: Timestamp,
    ) -> Result<store::Draft, Unread> {
        let plain = match &self.0 {
            Some(sealing) => {
                Cow::Owned(sealing.open(collection, &String::from_utf8_lossy(key), at, value).map_err(Unread::Sealed)?)
            }
            None if value.starts_with(ENCRYPTED) => {
                return Err(Unread::Sealed("identity transformer tried to read encrypted data".to_owned()));
            }
            None => Cow::Borrowed(value),
        };
        kind.read_shared(&plain, now).map_err(|why| Unread::Undecoded(why.to_string()))
    }

    /// Record that a write of this server is stored.
    pub(crate) fn record_write(&self, collection: &Arc<str>, at: &str, revision: u64) {
        if let Some(sealing) = &self.0 {
            let form = sealing.transformers.form(&resource(collection));
            sealing.forms.record_write(collection, &Arc::from(at), form, revision);
        }
    }

    /// Report whether an object would be written in another form now than it was at a revision.
    pub(crate) fn is_stale(&self, collection: &str, at: &str, revision: u64) -> bool {
        let Some(sealing) = &self.0 else { return false };
        sealing.forms.is_stale(collection, at, revision, || sealing.transformers.form(&resource(collection)))
    }
}

impl Sealing {
    fn open(&self, collection: &str, key: &str, at: &str, value: &[u8]) -> Result<Vec<u8>, String> {
        let resource = resource(collection);
        let opened = self.transformers.from_storage(&resource, key, value);
        let (plain, stale) = opened.map_err(|why| why.to_string())?;
        self.forms.record_load(collection, at, stale, || self.transformers.form(&resource));
        Ok(plain)
    }
}
