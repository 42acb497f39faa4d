//! The storage of custom resources: in the version that was the storage version when they were written.

use std::borrow::Cow;

use hydrofoil_codec::json::{self, scan};
use hydrofoil_custom as custom;
use hydrofoil_store as store;
use hydrofoil_store::Version;
use hydrofoil_types::{Fingerprint, SmolStr, Timestamp, Value};

use super::Custom;
use crate::error::{Error, Result};
use crate::kind::{Storage, info, shared};

impl Custom {
    /// Return a stored object in the version in which it was stored.
    pub(super) fn as_stored(&self, version: &Version) -> Result<Value> {
        let mut value = json::decode(&self.info.schema, version.json())?.value;
        let own = value.str_at(&["apiVersion"]);
        let Some(source) = self.definition.version(own) else {
            let text = format!("request to convert CR from an invalid group/version: {own}");
            return Err(Error::Unconvertible(text));
        };
        self.coerce_to(source, &mut value)?;
        Ok(value)
    }

    /// Return an object in another version by the conversion strategy `None`, which changes only `apiVersion`.
    pub(super) fn swap_version(&self, mut object: Value, version: &custom::Version) -> Value {
        if object.str_at(&["apiVersion"]) != version.api_version {
            object.object_at_mut(&[]).set("apiVersion", version.api_version.clone());
            if !self.definition.preserve {
                custom::prune(&mut object, version);
            }
        }
        object
    }

    fn in_storage<'v>(&self, object: &'v Value) -> Cow<'v, Value> {
        if object.str_at(&["apiVersion"]) == self.storage().api_version {
            return Cow::Borrowed(object);
        }
        Cow::Owned(self.swap_version(object.clone(), self.storage()))
    }

    /// Return the fingerprint of objects stored by this version. Those written in another version lack the defaults of
    /// the storage version, which reading sets.
    fn stored_form(&self) -> Fingerprint {
        if self.is_storage() { self.storage().fingerprint } else { Fingerprint::UNKNOWN }
    }

    /// Return the values of field selectors of an object in its stored form, as after reading it.
    fn index(&self, stored: &Value) -> Box<[SmolStr]> {
        if self.is_storage() || self.definition.selectable.is_empty() {
            return self.definition.fields(stored);
        }
        let mut read = stored.clone();
        let shown = self.coerce_to(self.storage(), &mut read).map(|_| &read);
        self.definition.fields(shown.unwrap_or(stored))
    }
}

impl Storage for Custom {
    /// Prune an object. Upstream stores what an apply leaves below an object without declared members, counts a generation
    /// for it, and prunes it whenever it is read.
    fn read_back(&self, object: &Value) -> Option<Value> {
        let mut object = object.clone();
        if !self.definition.preserve {
            custom::prune(&mut object, self.version());
        }
        Some(object)
    }

    fn fingerprint(&self) -> Fingerprint {
        self.version().fingerprint
    }

    fn stores_own_version(&self) -> bool {
        true
    }

    fn stores_many_versions(&self) -> bool {
        true
    }

    fn is_stored_form(&self, version: &Version) -> bool {
        version.fingerprint() == self.version().fingerprint || matches!(version.other(self.version().view), Some(None))
    }

    fn read(&self, version: &Version) -> Result<Value> {
        Ok(json::decode_stored(&self.info.schema, &self.json(version)?)?)
    }

    fn json<'v>(&self, version: &'v Version) -> Result<Cow<'v, [u8]>> {
        if version.fingerprint() == self.version().fingerprint {
            return Ok(Cow::Borrowed(version.json()));
        }
        let view = self.version().view;
        match version.other(view) {
            Some(None) => return Ok(Cow::Borrowed(version.json())),
            Some(Some(json)) => return Ok(Cow::Owned(json.to_vec())),
            None => {}
        }
        let value = self.as_stored(version)?;
        let wanted = &self.version().api_version;
        if self.definition.webhook && value.str_at(&["apiVersion"]) != wanted {
            return Err(Error::Unconverted(wanted.to_string()));
        }
        let value = self.swap_version(value, self.version());
        let json = json::encode(&self.info.schema, &value);
        version.keep_other(view, &json, self.definition.fields(&value));
        Ok(Cow::Owned(json))
    }

    /// Extract the metadata from the JSON of the version. Before a webhook has converted the object, use the stored
    /// metadata: only labels and annotations can differ.
    fn metadata<'v>(&self, version: &'v Version) -> Result<Cow<'v, [u8]>> {
        let whole = self.json(version).unwrap_or(Cow::Borrowed(version.json()));
        let item = scan::member(&whole, br#""metadata""#).ok_or_else(info::no_metadata)?;
        let text = scan::value_end(item).and_then(|end| item.get(..end)).ok_or_else(info::no_metadata)?;
        Ok(Cow::Owned(text.to_vec()))
    }

    fn to_storage(&self, object: &Value) -> store::Draft {
        let stored = self.in_storage(object);
        self.info.encode(&stored, info::labels(&stored), self.index(&stored), self.stored_form())
    }

    fn to_shown(&self, object: &Value) -> store::Draft {
        self.info.encode(object, Box::default(), Box::default(), self.fingerprint())
    }

    /// Return an object as if it were stored and read. No webhook is called.
    fn as_read<'v>(&self, object: &'v Value) -> Result<Cow<'v, Value>> {
        let Cow::Owned(mut stored) = self.in_storage(object) else { return Ok(Cow::Borrowed(object)) };
        if self.definition.webhook {
            return Ok(Cow::Borrowed(object));
        }
        self.coerce_to(self.storage(), &mut stored)?;
        Ok(Cow::Owned(self.swap_version(stored, self.version())))
    }

    /// Use the converted forms of the previous version: a copy of it at a later revision has none.
    fn at_deselection(&self, version: &Version, revision: u64) -> Result<Option<Version>> {
        let draft = self.to_shown(&self.read(version)?);
        Ok(Some(Version::detach(version.key(), revision, draft)))
    }

    /// Return the values of the field selectors in the version in which the object was stored.
    fn fields(&self, version: &Version) -> Box<[SmolStr]> {
        self.as_stored(version).map(|value| self.definition.fields(&value)).unwrap_or_default()
    }

    fn write_shared(&self, draft: &store::Draft) -> Result<Vec<u8>> {
        Ok(shared::text(draft))
    }

    /// Keep the version of the bytes: an object that its schema leaves as it is needs no more work to be read.
    fn read_shared(&self, bytes: &[u8], _now: Timestamp) -> Result<store::Draft> {
        let mut value = json::decode(&self.info.schema, bytes)?.value;
        shared::without_revision(&mut value);
        let Some(source) = self.definition.version(value.str_at(&["apiVersion"])) else {
            return Ok(self.info.encode(&value, info::labels(&value), Box::default(), Fingerprint::UNKNOWN));
        };
        let mut read = value.clone();
        let is_whole = self.coerce_to(source, &mut read).is_ok() && read == value;
        let fingerprint = if is_whole { source.fingerprint } else { Fingerprint::UNKNOWN };
        Ok(self.info.encode(&value, info::labels(&value), self.definition.fields(&read), fingerprint))
    }

    fn adapt(&self, key: &str, draft: &mut store::Draft) {
        if self.storage().fingerprint != draft.fingerprint {
            draft.fields = self.fields(&Version::detach(key, 0, draft.clone()));
        }
    }
}
