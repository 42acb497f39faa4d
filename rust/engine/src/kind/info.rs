//! The common data of built-in and custom kinds: their names, their type, and the encoding of stored objects.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use hydrofoil_codec::json;
use hydrofoil_schema::Kind;
use hydrofoil_store as store;
use hydrofoil_types::{Fingerprint, MetaView, Resource, Schema, SmolStr, Value};

use crate::error::Error;

/// A resource in one version.
#[derive(Debug)]
pub struct TypeInfo {
    /// A unique number of the type, the key of cached data made by it.
    pub id: u64,
    /// The resource.
    pub resource: Arc<Resource>,
    /// The type of its objects, for decoding and encoding.
    pub schema: Schema,
    /// The kind, for look-up of its rules.
    pub kind: Kind,
    /// The group version, as `v1` or `group/version`.
    pub api_version: SmolStr,
    /// The number of bytes of an object in JSON before its part in the item of a list.
    pub head: usize,
}

impl TypeInfo {
    pub(super) fn new(resource: Arc<Resource>, schema: Schema, kind: Kind, api_version: SmolStr, head: usize) -> Self {
        // Never given twice in a process: batches of watchers are keyed by it, and two kinds with one number would share bytes.
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let id = NEXT.fetch_add(1, Ordering::Relaxed);
        Self { id, resource, schema, kind, api_version, head }
    }

    /// Set `kind` and `apiVersion` of an object to those of the type.
    pub fn set_type(&self, object: &mut Value) {
        let map = object.object_at_mut(&[]);
        map.set("kind", self.kind.kind.clone());
        map.set("apiVersion", self.api_version.clone());
    }

    /// Encode an object for the store, with the labels and fields for selectors.
    pub(super) fn encode(
        &self,
        object: &Value,
        labels: Box<[(SmolStr, SmolStr)]>,
        fields: Box<[SmolStr]>,
        fingerprint: Fingerprint,
    ) -> store::Draft {
        let encoded = json::encode_stored(&self.schema, object);
        store::Draft {
            json: encoded.json,
            given: encoded.given,
            rv_at: encoded.rv_at,
            head: self.head,
            labels,
            fields,
            fingerprint,
        }
    }
}

/// Return the labels of an object, sorted by key.
pub(super) fn labels(object: &Value) -> Box<[(SmolStr, SmolStr)]> {
    let mut labels: Vec<_> = MetaView::of(object).labels().map(|(k, v)| (k.clone(), SmolStr::new(v))).collect();
    labels.sort();
    labels.into_boxed_slice()
}

/// Return the error of a stored object without metadata, which no write creates.
pub(super) fn no_metadata() -> Error {
    Error::Invalid("a stored object has metadata".to_owned())
}
