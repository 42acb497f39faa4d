//! Which watchers an event concerns, found without asking every watcher.

use std::hash::Hash;
use std::sync::Arc;

use hydrofoil_types::SmolStr;
use rustc_hash::FxHashMap;

use crate::{Event, Selector, WatcherId};

/// Takes a watcher out of the list of a key, and the list with its last one.
fn take_out<K: Eq + Hash>(lists: &mut FxHashMap<K, Vec<WatcherId>>, key: &K, id: WatcherId) {
    let Some(list) = lists.get_mut(key) else { return };
    if let Some(at) = list.iter().position(|x| *x == id) {
        list.swap_remove(at);
    }
    if list.is_empty() {
        lists.remove(key);
    }
}

/// Watchers by the narrowest thing that their selector requires.
#[derive(Debug, Default)]
pub(crate) struct Interest {
    all: Vec<WatcherId>,
    by_namespace: FxHashMap<Arc<str>, Vec<WatcherId>>,
    by_key: FxHashMap<String, Vec<WatcherId>>,
    by_field: FxHashMap<(usize, SmolStr), Vec<WatcherId>>,
}

impl Interest {
    fn list(&mut self, selector: &Selector) -> &mut Vec<WatcherId> {
        if let Some(key) = selector.key() {
            self.by_key.entry(key).or_default()
        } else if let Some((index, value)) = selector.fields.required_index() {
            self.by_field.entry((index, value.clone())).or_default()
        } else if let Some(ns) = &selector.namespace {
            self.by_namespace.entry(Arc::clone(ns)).or_default()
        } else {
            &mut self.all
        }
    }

    pub(crate) fn add(&mut self, selector: &Selector, id: WatcherId) {
        self.list(selector).push(id);
    }

    pub(crate) fn remove(&mut self, selector: &Selector, id: WatcherId) {
        if let Some(key) = selector.key() {
            take_out(&mut self.by_key, &key, id);
        } else if let Some((index, value)) = selector.fields.required_index() {
            take_out(&mut self.by_field, &(index, value.clone()), id);
        } else if let Some(ns) = &selector.namespace {
            take_out(&mut self.by_namespace, ns, id);
        } else if let Some(at) = self.all.iter().position(|x| *x == id) {
            self.all.swap_remove(at);
        }
    }

    /// Calls `mark` for each watcher that the event may concern.
    pub(crate) fn each(&self, event: &Event, mut mark: impl FnMut(WatcherId)) {
        let version = &event.current;
        self.all.iter().for_each(|id| mark(*id));
        if !self.by_namespace.is_empty() {
            self.by_namespace.get(version.namespace()).into_iter().flatten().for_each(|id| mark(*id));
        }
        if !self.by_key.is_empty() {
            self.by_key.get(&**version.key()).into_iter().flatten().for_each(|id| mark(*id));
        }
        if !self.by_field.is_empty() {
            for (i, value) in version.fields().iter().enumerate() {
                let now = self.by_field.get(&(i, value.clone()));
                now.into_iter().flatten().for_each(|id| mark(*id));
                // Who selected the old value must learn that the object left.
                let before = event.previous.as_ref().and_then(|p| p.fields().get(i)).filter(|b| *b != value);
                if let Some(before) = before {
                    self.by_field.get(&(i, before.clone())).into_iter().flatten().for_each(|id| mark(*id));
                }
            }
        }
    }
}
