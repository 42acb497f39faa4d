//! Objects that cannot be read: their keys are missing or wrong. Their forms stay as they are.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};

use parking_lot::Mutex;

/// The form of an object that cannot be read.
#[derive(Clone, Debug)]
pub(crate) struct Kept {
    pub(crate) revision: u64,
    pub(crate) form: Box<[u8]>,
    /// Why it cannot be read.
    pub(crate) why: String,
}

/// The present forms of all objects that cannot be read, by collection and key.
pub(crate) type All = BTreeMap<(String, String), Kept>;

/// The objects that cannot be read. Only the start and the thread that writes change it.
#[derive(Debug, Default)]
pub(crate) struct Unread {
    /// Changed with its count: a reader that sees no count may skip the lock, as it does for nearly every read.
    kept: Mutex<All>,
    /// Their number, for those who only ask whether there is any.
    count: AtomicUsize,
}

impl Unread {
    pub(crate) fn len(&self) -> usize {
        self.count.load(Ordering::Acquire)
    }

    fn change<T>(&self, work: impl FnOnce(&mut All) -> T) -> T {
        let mut kept = self.kept.lock();
        let done = work(&mut kept);
        self.count.store(kept.len(), Ordering::Release);
        done
    }

    pub(crate) fn keep(&self, collection: &str, key: &str, form: Kept) {
        self.change(|kept| kept.insert((collection.to_owned(), key.to_owned()), form));
    }

    /// Forget an object that was replaced or deleted; report whether it could not be read.
    pub(crate) fn remove(&self, collection: &str, key: &str) -> bool {
        self.len() > 0 && self.change(|kept| kept.remove(&(collection.to_owned(), key.to_owned()))).is_some()
    }

    /// Return the form of an object that cannot be read; `None` if it is no such object.
    pub(crate) fn get(&self, collection: &str, key: &str) -> Option<Kept> {
        if self.len() == 0 {
            return None;
        }
        self.kept.lock().get(&(collection.to_owned(), key.to_owned())).cloned()
    }

    /// Return the revision of an object that cannot be read.
    pub(crate) fn revision(&self, collection: &str, key: &str) -> Option<u64> {
        if self.len() == 0 {
            return None;
        }
        self.kept.lock().get(&(collection.to_owned(), key.to_owned())).map(|kept| kept.revision)
    }

    /// Return such objects of a collection, in the order of their keys.
    pub(crate) fn of(&self, collection: &str) -> Vec<(String, Kept)> {
        if self.len() == 0 {
            return Vec::new();
        }
        let kept = self.kept.lock();
        let all = kept.range((collection.to_owned(), String::new())..);
        all.take_while(|(name, _)| name.0 == collection).map(|(name, kept)| (name.1.clone(), kept.clone())).collect()
    }

    pub(crate) fn all(&self) -> All {
        if self.len() == 0 { All::new() } else { self.kept.lock().clone() }
    }
}

#[cfg(test)]
mod tests {
    use super::{Kept, Unread};

    #[test]
    fn those_of_a_collection_are_in_the_order_of_their_keys() {
        let unread = Unread::default();
        let kept = |why: &str| Kept { revision: 1, form: Box::default(), why: why.to_owned() };
        assert!(unread.of("/b").is_empty());
        for (collection, key) in [("/a", "x"), ("/b", "y"), ("/b", "x"), ("/c", "x")] {
            unread.keep(collection, key, kept(key));
        }
        let keys: Vec<String> = unread.of("/b").into_iter().map(|(key, _)| key).collect();
        assert_eq!(keys, ["x", "y"]);
        assert!(unread.of("/ba").is_empty());
        assert_eq!((unread.remove("/b", "x"), unread.remove("/b", "x"), unread.len()), (true, false, 3));
        assert_eq!(unread.get("/b", "y").map(|kept| kept.why).as_deref(), Some("y"));
    }
}
