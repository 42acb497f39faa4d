//! The metadata managed by the server (apiserver `pkg/registry/rest/meta.go`).

use hydrofoil_types::{Duplicates, MetaView, Timestamp, Value, Whole};

use super::draft::Draft;
use crate::error::Result;
use crate::stored::Stored;

/// The members that a client cannot set in a new object.
const OF_SERVER: [&str; 4] = ["selfLink", "deletionTimestamp", "deletionGracePeriodSeconds", "resourceVersion"];

/// The members that an update does not change.
const KEPT: [&str; 5] =
    ["generation", "creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds", "namespace"];

impl Draft {
    /// Set the namespace of a new object, or none, and remove members that only the server sets.
    pub(super) fn enter(&mut self, namespace: &str) {
        let meta = self.value.object_at_mut(&["metadata"]);
        for name in OF_SERVER {
            meta.remove(name);
        }
        if namespace.is_empty() {
            meta.remove("namespace");
        } else {
            meta.set("namespace", namespace);
        }
    }

    /// Set the name of a new object, unless empty, its uid and its creation timestamp.
    pub fn fill_metadata(&mut self, name: &str, uid: &str, now: Timestamp) {
        let meta = self.value.object_at_mut(&["metadata"]);
        meta.set("uid", uid);
        meta.set("creationTimestamp", now.rfc3339());
        if !name.is_empty() {
            meta.set("name", name);
        }
    }

    /// Restore the metadata that an update must not change.
    pub fn keep_metadata(&mut self, old: &Stored) -> Result<()> {
        let value = old.value(&self.kind)?;
        let before = MetaView::of(&value);
        let meta = self.value.object_at_mut(&["metadata"]);
        for kept in KEPT {
            let given = meta.get(kept).cloned();
            match (before.get(kept), given) {
                // Validation rejects a changed deletion timestamp; only an absent one is filled in.
                (Some(was), Some(now)) if kept.starts_with("deletion") && *was != now => {}
                (None, Some(_)) if kept.starts_with("deletion") => {}
                (Some(was), _) => meta.set(kept, was.clone()),
                (None, _) => drop(meta.remove(kept)),
            }
        }
        if meta.str("uid").is_empty() {
            meta.set("uid", before.uid());
        }
        meta.remove("selfLink");
        // An update without a resource version replaces the present one.
        if matches!(meta.str("resourceVersion"), "" | "0") {
            meta.set("resourceVersion", old.version().revision().to_string());
        }
        Ok(())
    }

    /// Remove duplicate owner references and return their uids.
    pub fn dedup_owners(&mut self) -> Vec<String> {
        let owners = self.value.get_mut("metadata").and_then(|m| m.get_mut("ownerReferences"));
        let Some(owners) = owners.and_then(Value::as_array_mut) else { return Vec::new() };
        let duplicates = Duplicates::of(owners, Whole);
        let again: Vec<bool> = (0..owners.len()).map(|at| duplicates.is_repeat(at)).collect();
        let mut twice = Vec::new();
        let mut places = again.iter();
        owners.retain(|owner| {
            let again = *places.next().unwrap_or(&false);
            if again {
                twice.push(owner.str_at(&["uid"]).to_owned());
            }
            !again
        });
        twice
    }
}
