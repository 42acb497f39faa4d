//! The forms that objects are stored in, so far as an update without a change must know them.

use std::collections::HashSet;
use std::sync::Arc;

use parking_lot::Mutex;
use rustc_hash::FxHashMap;

/// The forms of one collection.
#[derive(Debug, Default)]
struct Collection {
    /// The kind of form of the last write.
    kind: u64,
    /// The revision of the first write in that form; objects of before have another one.
    since: u64,
    /// The objects that were stale when they were loaded, and were not written since; clients chose their names: the
    /// hash has a secret.
    stale: HashSet<Arc<str>>,
}

/// The forms of all collections that were loaded or written to.
///
/// The thread that writes changes it with each write, and the loop asks it before an update: an answer that is older by
/// a moment makes a write that was not needed.
#[derive(Debug, Default)]
pub struct Forms(Mutex<FxHashMap<Arc<str>, Collection>>);

impl Forms {
    /// Record an object of the start; `kind` is the kind of form that its collection is written in.
    pub fn record_load(&self, collection: &str, key: &str, stale: bool, kind: impl FnOnce() -> u64) {
        let mut forms = self.0.lock();
        if !forms.contains_key(collection) {
            forms.insert(collection.into(), Collection { kind: kind(), ..Collection::default() });
        }
        let Some(found) = forms.get_mut(collection) else { return };
        if stale {
            found.stale.insert(key.into());
        } else {
            found.stale.remove(key);
        }
    }

    /// Record that an object was written.
    pub fn record_write(&self, collection: &Arc<str>, key: &Arc<str>, kind: u64, revision: u64) {
        let mut forms = self.0.lock();
        let found = forms.entry(Arc::clone(collection)).or_insert_with(|| Collection { kind, ..Collection::default() });
        if found.kind != kind {
            // Those of before are stale by their revisions.
            *found = Collection { kind, since: revision, stale: HashSet::default() };
        }
        found.stale.remove(key);
    }

    /// Report whether the form of an object of a revision is not the one that it would be written in now.
    pub fn is_stale(&self, collection: &str, key: &str, revision: u64, kind: impl FnOnce() -> u64) -> bool {
        let forms = self.0.lock();
        let Some(found) = forms.get(collection) else { return false };
        found.kind != kind() || revision < found.since || found.stale.contains(key)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::Forms;

    #[test]
    fn a_write_ends_staleness() {
        let (forms, pods) = (Forms::default(), Arc::from("/pods"));
        let (a, b) = (Arc::from("a"), Arc::from("b"));
        let stale = |key: &str, revision, kind| forms.is_stale("/pods", key, revision, || kind);
        assert!(!stale("a", 1, 7), "nothing is known of it");
        forms.record_load("/pods", "a", true, || 7);
        forms.record_load("/pods", "b", false, || 7);
        assert_eq!((stale("a", 1, 7), stale("b", 2, 7)), (true, false));
        forms.record_write(&pods, &a, 7, 3);
        assert!(!stale("a", 3, 7));
        assert!(stale("a", 3, 8) && stale("b", 2, 8), "the provider has another key now");
        forms.record_write(&pods, &b, 8, 4);
        assert_eq!((stale("a", 3, 8), stale("b", 4, 8)), (true, false));
        forms.record_write(&pods, &a, 8, 5);
        assert!(!stale("a", 5, 8));
    }
}
