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

    /// Return why an object cannot be read; `None` if it is no such object.
    pub(crate) fn why(&self, collection: &str, key: &str) -> Option<String> {
        if self.len() == 0 {
            return None;
        }
        let name = (collection.to_owned(), key.to_owned());
        self.kept.lock().get(&name).map(|kept| kept.why.clone())
    }

    /// Return the revision of an object that cannot be read.
    pub(crate) fn revision(&self, collection: &str, key: &str) -> Option<u64> {
        self.kept.lock().get(&(collection.to_owned(), key.to_owned())).map(|kept| kept.revision)
    }

    /// Return the key of the first such object of a collection, and why it cannot be read.
    pub(crate) fn first(&self, collection: &str) -> Option<(String, String)> {
        if self.len() == 0 {
            return None;
        }
        let kept = self.kept.lock();
        let (name, found) = kept.range((collection.to_owned(), String::new())..).next()?;
        (name.0 == collection).then(|| (name.1.clone(), found.why.clone()))
    }

    pub(crate) fn all(&self) -> All {
        if self.len() == 0 { All::new() } else { self.kept.lock().clone() }
    }
}

#[cfg(test)]
mod tests {
    use super::{Kept, Unread};

    #[test]
    fn the_first_of_a_collection_is_named() {
        let unread = Unread::default();
        let kept = |why: &str| Kept { revision: 1, form: Box::default(), why: why.to_owned() };
        assert!(unread.first("/b").is_none());
        for (collection, key) in [("/a", "x"), ("/b", "y"), ("/b", "x"), ("/c", "x")] {
            unread.keep(collection, key, kept(key));
        }
        assert_eq!(unread.first("/b"), Some(("x".to_owned(), "x".to_owned())));
        assert!(unread.first("/ba").is_none());
        assert_eq!((unread.remove("/b", "x"), unread.remove("/b", "x"), unread.len()), (true, false, 3));
        assert_eq!(unread.why("/b", "y").as_deref(), Some("y"));
    }
}
