//! Access to `metadata` of any kind.

use smol_str::SmolStr;

use crate::{Map, Value};

/// The `metadata` of an object, read-only.
#[derive(Clone, Copy, Debug)]
pub struct MetaView<'a>(Option<&'a Map>);

impl<'a> MetaView<'a> {
    /// Return the metadata of an object; empty if it has none.
    pub fn of(object: &'a Value) -> Self {
        Self(object.get("metadata").and_then(Value::as_object))
    }

    fn str(self, key: &str) -> &'a str {
        self.0.map_or("", |m| m.str(key))
    }

    /// Return the name.
    pub fn name(self) -> &'a str {
        self.str("name")
    }

    /// Return the prefix of a generated name.
    pub fn generate_name(self) -> &'a str {
        self.str("generateName")
    }

    /// Return the namespace.
    pub fn namespace(self) -> &'a str {
        self.str("namespace")
    }

    /// Return the uid.
    pub fn uid(self) -> &'a str {
        self.str("uid")
    }

    /// Return the resource version.
    pub fn resource_version(self) -> &'a str {
        self.str("resourceVersion")
    }

    /// Return the generation, 0 if unset.
    pub fn generation(self) -> i64 {
        self.get("generation").and_then(Value::as_int).unwrap_or(0)
    }

    /// Return the deletion timestamp; empty if unset.
    pub fn deletion_timestamp(self) -> &'a str {
        self.str("deletionTimestamp")
    }

    /// Return a member.
    pub fn get(self, key: &str) -> Option<&'a Value> {
        self.0.and_then(|m| m.get(key))
    }

    /// Return the labels.
    pub fn labels(self) -> impl Iterator<Item = (&'a SmolStr, &'a str)> {
        self.map("labels")
    }

    /// Return the annotations.
    pub fn annotations(self) -> impl Iterator<Item = (&'a SmolStr, &'a str)> {
        self.map("annotations")
    }

    fn map(self, key: &str) -> impl Iterator<Item = (&'a SmolStr, &'a str)> {
        self.get(key)
            .and_then(Value::as_object)
            .into_iter()
            .flat_map(|m| m.iter().map(|(k, v)| (k, v.as_str().unwrap_or(""))))
    }

    /// Return the finalizers.
    pub fn finalizers(self) -> impl Iterator<Item = &'a str> {
        self.items("finalizers").iter().filter_map(Value::as_str)
    }

    /// Return the owner references.
    pub fn owners(self) -> &'a [Value] {
        self.items("ownerReferences")
    }

    fn items(self, key: &str) -> &'a [Value] {
        self.get(key).and_then(Value::as_array).unwrap_or(&[])
    }
}
