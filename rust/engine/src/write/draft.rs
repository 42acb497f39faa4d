//! An object during a write.

use std::sync::Arc;

use hydrofoil_codec::{json, proto};
use hydrofoil_store as store;
use hydrofoil_store::Version;
use hydrofoil_types::{MetaView, Timestamp, Value};

use crate::error::Result;
use crate::kind::{Media, ObjectKind};
use crate::stored::{Stored, key};

/// A mutable object of a known kind, in loose form.
#[derive(Debug)]
pub struct Draft {
    pub(super) kind: Arc<dyn ObjectKind>,
    pub(super) value: Value,
    /// The object converted by a webhook for the store.
    converted: Option<Value>,
    /// The moment of its preparation.
    pub(super) prepared: Timestamp,
    /// The warnings of ratcheting validation.
    pub(super) passed: Vec<String>,
    /// Whether a new object was sent without labels.
    pub(super) unlabelled: bool,
    /// Whether it is the result of an apply.
    applied: bool,
    /// The stored form, encoded before the commit.
    sealed: Option<store::Draft>,
}

impl Draft {
    /// Return a draft of an object in loose form.
    pub fn new(kind: Arc<dyn ObjectKind>, value: Value) -> Self {
        Self {
            kind,
            value,
            converted: None,
            prepared: Timestamp::default(),
            passed: Vec::new(),
            unlabelled: false,
            applied: false,
            sealed: None,
        }
    }

    /// Return a draft of the result of an apply.
    pub fn of_apply(kind: Arc<dyn ObjectKind>, value: Value) -> Self {
        Self { applied: true, ..Self::new(kind, value) }
    }

    /// Return the kind of the object.
    pub fn kind(&self) -> &Arc<dyn ObjectKind> {
        &self.kind
    }

    /// Return the object in loose form.
    pub fn value(&self) -> &Value {
        &self.value
    }

    /// Return the identifying members of the object: `apiVersion`, `kind`, name, generateName, namespace, uid,
    /// resourceVersion.
    pub fn metadata(&self) -> [&str; 7] {
        let [api_version, kind] = ["apiVersion", "kind"].map(|name| self.value.str_at(&[name]));
        let m = MetaView::of(&self.value);
        [api_version, kind, m.name(), m.generate_name(), m.namespace(), m.uid(), m.resource_version()]
    }

    /// Return the state of the deletion: generation, deletion timestamp, grace period in seconds, finalizers.
    pub fn lifecycle(&self) -> (i64, String, Option<i64>, Vec<String>) {
        let m = MetaView::of(&self.value);
        let grace = m.get("deletionGracePeriodSeconds").and_then(Value::as_int);
        (m.generation(), m.deletion_timestamp().to_owned(), grace, m.finalizers().map(str::to_owned).collect())
    }

    /// Report whether the object is being deleted.
    pub fn is_deleting(&self) -> bool {
        !MetaView::of(&self.value).deletion_timestamp().is_empty()
    }

    /// Return an independent copy of the object: each attempt of a write starts from one.
    #[must_use]
    pub fn fork(&self) -> Self {
        Self {
            prepared: self.prepared,
            unlabelled: self.unlabelled,
            applied: self.applied,
            ..Self::new(Arc::clone(&self.kind), self.value.clone())
        }
    }

    /// Return the value at a path of member names as JSON; `None` if absent or null.
    pub fn get(&self, path: &[&str]) -> Option<Vec<u8>> {
        self.value.at(path).filter(|v| !matches!(v, Value::Null)).map(json::encode_any)
    }

    /// Set the value at a path of member names from JSON; `None` removes it.
    pub fn set(&mut self, path: &[&str], data: Option<&[u8]>) -> Result<()> {
        let parsed = data.map(json::parse).transpose()?;
        let Some((last, parents)) = path.split_last() else { return Ok(()) };
        if parsed.is_none() && self.value.at(parents).is_none() {
            return Ok(());
        }
        let map = self.value.object_at_mut(parents);
        match parsed {
            Some(parsed) => map.set(*last, parsed.value),
            None => drop(map.remove(last)),
        }
        Ok(())
    }

    /// Set `kind` and `apiVersion` to those of the kind.
    pub fn set_type(&mut self) {
        self.kind.info().set_type(&mut self.value);
    }

    /// Return the JSON that a webhook must convert before the object is stored, if any.
    pub fn to_convert(&self) -> Option<Vec<u8>> {
        self.kind.is_foreign().then(|| self.json())
    }

    /// Set the result of a webhook as the object to store.
    pub fn set_converted(&mut self, json: &[u8]) -> Result<()> {
        self.converted = self.kind.converted_to_store(json)?;
        Ok(())
    }

    /// Replace the object by one decoded from JSON, without its unknown members.
    pub fn replace(&mut self, json: &[u8]) -> Result<()> {
        (self.value, _) = self.kind.decode(json, Media::Json)?;
        Ok(())
    }

    /// Return the canonical JSON, with its resource version.
    pub fn json(&self) -> Vec<u8> {
        json::encode(&self.kind.info().schema, &self.value)
    }

    /// Return the object as protobuf in its envelope.
    pub fn protobuf(&self) -> Vec<u8> {
        let info = self.kind.info();
        proto::envelope(&info.api_version, &info.kind.kind, &proto::encode(&info.schema, &self.value))
    }

    /// Encode the object for the store before its commit. No step may follow.
    pub fn seal(&mut self) {
        self.sealed = Some(self.encode());
    }

    /// Return the stored form of the object.
    pub fn to_stored(&mut self) -> store::Draft {
        self.sealed.take().unwrap_or_else(|| self.encode())
    }

    fn encode(&self) -> store::Draft {
        let object = self.converted.as_ref().unwrap_or(&self.value);
        let pruned = if self.applied && self.converted.is_none() { self.kind.read_back(object) } else { None };
        self.kind.to_storage(pruned.as_ref().unwrap_or(object))
    }

    /// Return the key of the object in the store.
    pub fn key(&self) -> String {
        let meta = MetaView::of(&self.value);
        key(meta.namespace(), meta.name())
    }

    /// Return a version for an answer without storing it: the result of a dry run.
    ///
    /// It is in the storage version if a webhook has converted it to that.
    pub fn preview(&self, revision: u64) -> Result<Stored> {
        if let Some(converted) = &self.converted {
            let version = Version::detach(&self.key(), revision, self.kind.to_storage(converted));
            return Ok(Stored::new(&self.kind, Arc::new(version)));
        }
        let value = self.kind.as_read(&self.value)?;
        let meta = MetaView::of(&value);
        let key = key(meta.namespace(), meta.name());
        let version = Version::detach(&key, revision, self.kind.to_shown(&value));
        Ok(Stored::new(&self.kind, Arc::new(version)))
    }
}
