//! The stored form of objects: clear, or encrypted as a configuration wants it.

use std::sync::Arc;

use hydrofoil_encryption::{Failure, Forms, Transformers, resource, storage_key};
use hydrofoil_store::Draft;

use crate::record::{self, ENCRYPTED};
use crate::unread::{Kept, Unread};

/// The content of a stored form.
#[derive(Debug)]
pub(crate) enum Opened {
    /// An object.
    Draft(Draft),
    /// An object that cannot be read now: its form is kept.
    Unread,
    /// Nothing that was ever written.
    Damaged,
}

/// An object that could not be read, and now can.
#[derive(Debug)]
pub(crate) struct Readable {
    pub(crate) collection: String,
    pub(crate) key: String,
    pub(crate) revision: u64,
    pub(crate) draft: Draft,
    pub(crate) stale: bool,
}

/// The conversions of objects, those that failed, and the forms of all others.
#[derive(Debug, Default)]
pub(crate) struct Seal {
    transformers: Option<Arc<Transformers>>,
    pub(crate) unread: Unread,
    forms: Forms,
}

/// An object that cannot be read.
#[derive(Clone, Debug)]
pub struct Fault {
    /// Its key, as upstream names it in storage.
    pub place: String,
    /// Why it cannot be decrypted.
    pub why: String,
    /// Its revision.
    pub revision: u64,
}

impl Fault {
    pub(crate) fn new(collection: &str, key: &str, kept: &Kept) -> Self {
        Self { place: storage_key(collection, key), why: kept.why.clone(), revision: kept.revision }
    }
}

/// Return upstream's message for a value that cannot be read, which names its key.
pub(crate) fn unreadable(collection: &str, key: &str, why: &str) -> String {
    format!("unable to transform key \"{}\": {why}", storage_key(collection, key))
}

impl Seal {
    pub(crate) fn new(transformers: Option<Arc<Transformers>>) -> Self {
        Self { transformers, ..Self::default() }
    }

    /// Return the stored form of an object, and the number of the kind of form.
    pub(crate) fn close(&self, collection: &str, key: &str, draft: &Draft) -> Result<(Vec<u8>, u64), Failure> {
        let form = record::form(draft);
        let Some(transformers) = &self.transformers else { return Ok((form, 0)) };
        let (mut sealed, kind) = transformers.seal(&resource(collection), &storage_key(collection, key), &form)?;
        if sealed.first() != form.first() {
            sealed.insert(0, ENCRYPTED);
        }
        Ok((sealed, kind))
    }

    /// Read a stored form that is the present one of its object; a form that cannot be read is kept.
    pub(crate) fn open(&self, collection: &str, key: &str, revision: u64, form: &[u8]) -> Opened {
        if self.transformers.is_none() && form.first() != Some(&ENCRYPTED) {
            return record::read_form(form).map_or(Opened::Damaged, Opened::Draft);
        }
        match self.open_form(collection, key, form) {
            Ok((Some(draft), stale)) => {
                self.record_load(collection, key, stale);
                Opened::Draft(draft)
            }
            Ok((None, _)) => Opened::Damaged,
            Err(why) => {
                self.unread.keep(collection, key, Kept { revision, form: form.into(), why: why.to_string() });
                Opened::Unread
            }
        }
    }

    fn record_load(&self, collection: &str, key: &str, stale: bool) {
        if let Some(transformers) = &self.transformers {
            self.forms.record_load(collection, key, stale, || transformers.form(&resource(collection)));
        }
    }

    /// Read all objects again that could not be read; return those that now can. It may wait for plug-ins.
    pub(crate) fn readable(&self) -> Vec<Readable> {
        let read = |((collection, key), kept): ((String, String), Kept)| {
            let (draft, stale) = self.open_form(&collection, &key, &kept.form).ok()?;
            Some(Readable { collection, key, revision: kept.revision, draft: draft?, stale })
        };
        self.unread.all().into_iter().filter_map(read).collect()
    }

    /// Record that an object is in the view, which could not be read before.
    pub(crate) fn record_reveal(&self, collection: &str, key: &str, stale: bool) {
        self.record_load(collection, key, stale);
        self.unread.remove(collection, key);
    }

    /// Return the object of a form and whether the form is stale; no object if the form was never written.
    pub(crate) fn open_form(&self, collection: &str, key: &str, form: &[u8]) -> Result<(Option<Draft>, bool), Failure> {
        let encrypted = form.first() == Some(&ENCRYPTED);
        let stored = if encrypted { form.get(1..).unwrap_or_default() } else { form };
        let Some(transformers) = &self.transformers else {
            return Err(Failure::new("identity transformer tried to read encrypted data"));
        };
        let place = (resource(collection), storage_key(collection, key));
        let (value, stale) = transformers.from_storage(&place.0, &place.1, stored)?;
        match record::read_form(&value) {
            // Without authentication, another key may give a value.
            None if encrypted => Err(Failure::new("the decrypted data is no object")),
            found => Ok((found, stale)),
        }
    }

    /// Record that an object was written in a kind of form.
    pub(crate) fn record_write(&self, collection: &Arc<str>, key: &Arc<str>, kind: u64, revision: u64) {
        if self.transformers.is_some() {
            self.forms.record_write(collection, key, kind, revision);
        }
    }

    /// Report whether an object would be written in another form now than it was at a revision.
    pub(crate) fn is_stale(&self, collection: &str, key: &str, revision: u64) -> bool {
        let Some(transformers) = &self.transformers else { return false };
        self.forms.is_stale(collection, key, revision, || transformers.form(&resource(collection)))
    }
}
