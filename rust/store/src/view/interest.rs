//! The watchers that an event concerns, found without checking every watcher.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::Arc;

use hydrofoil_types::SmolStr;

use crate::{Event, Selector, WatcherId};

/// Remove a watcher from the list of a key, and an empty list.
fn take_out<K: Eq + Hash>(lists: &mut HashMap<K, Vec<WatcherId>>, key: &K, id: WatcherId) {
    let Some(list) = lists.get_mut(key) else { return };
    if let Some(at) = list.iter().position(|x| *x == id) {
        list.swap_remove(at);
    }
    if list.is_empty() {
        lists.remove(key);
    }
}

/// Watchers by the most selective requirement of their selector.
///
/// Clients choose the keys, and every event looks into the maps: their hashes have a secret, so that no client can make
/// its watchers share one.
#[derive(Debug, Default)]
pub(crate) struct Interest {
    all: Vec<WatcherId>,
    by_namespace: HashMap<Arc<str>, Vec<WatcherId>>,
    by_key: HashMap<String, Vec<WatcherId>>,
    by_field: HashMap<(usize, SmolStr), Vec<WatcherId>>,
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

    /// Call `mark` for each watcher that the event may concern.
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
                // Watchers that selected the old value must receive the deletion.
                let before = event.previous.as_ref().and_then(|p| p.fields().get(i)).filter(|b| *b != value);
                if let Some(before) = before {
                    self.by_field.get(&(i, before.clone())).into_iter().flatten().for_each(|id| mark(*id));
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::view::testing::{event, selector};
    use crate::view::watcher::frame;

    const SELECTIONS: [(&str, &str, &str); 8] = [
        ("", "", ""),
        ("a", "", ""),
        ("a", "app=x", ""),
        ("", "", "phase=up"),
        ("b", "", "phase!=up"),
        ("b", "", "phase=down,metadata.name=m"),
        ("a", "", "metadata.name=m"),
        ("", "", "metadata.name=m,metadata.namespace=b"),
    ];

    fn selections() -> Vec<Selector> {
        SELECTIONS.iter().map(|(namespace, labels, fields)| selector(namespace, labels, fields)).collect()
    }

    fn fill(selections: &[Selector]) -> Interest {
        let mut interest = Interest::default();
        for (id, selector) in selections.iter().enumerate() {
            interest.add(selector, WatcherId(id as u32));
        }
        interest
    }

    fn mark(interest: &Interest, event: &Event) -> Vec<u32> {
        let mut out = Vec::new();
        interest.each(event, |id| out.push(id.0));
        out.sort_unstable();
        out
    }

    #[test]
    fn events_are_told_by_the_narrowest_requirement() {
        let interest = fill(&selections());
        assert_eq!(mark(&interest, &event("a/m", None, Some(("", "")))), [0, 1, 2, 6]);
        assert_eq!(mark(&interest, &event("a/n", None, Some(("", "up")))), [0, 1, 2, 3]);
        assert_eq!(mark(&interest, &event("b/m", None, Some(("", "down")))), [0, 4, 5, 7]);
    }

    #[test]
    fn who_selected_the_old_value_is_told_that_it_went() {
        let interest = fill(&selections());
        assert_eq!(mark(&interest, &event("c/n", Some(("", "up")), Some(("", "down")))), [0, 3]);
        assert_eq!(mark(&interest, &event("c/n", Some(("", "up")), Some(("", "up")))), [0, 3], "once");
    }

    fn state() -> impl Strategy<Value = (&'static str, &'static str)> {
        (prop::sample::select(vec!["", "x", "y"]), prop::sample::select(vec!["", "up", "down"]))
    }

    proptest! {
        /// Every concerned watcher is found, and no removed one.
        #[test]
        fn all_whom_an_event_concerns_are_told(
            key in prop::sample::select(vec!["a/m", "a/n", "b/m", "b/n", "c/m"]),
            before in prop::option::of(state()),
            now in prop::option::of(state()),
            left in prop::collection::btree_set(0..SELECTIONS.len(), 0..6),
        ) {
            prop_assume!(before.is_some() || now.is_some());
            let (selections, event) = (selections(), event(key, before, now));
            let mut interest = fill(&selections);
            for (id, selector) in selections.iter().enumerate().filter(|(id, _)| left.contains(id)) {
                interest.remove(selector, WatcherId(id as u32));
            }
            let marked = mark(&interest, &event);
            for (id, selector) in selections.iter().enumerate() {
                let reported = marked.iter().filter(|known| **known == id as u32).count();
                let concerned = frame(selector, &event).is_some() && !left.contains(&id);
                prop_assert!(reported >= usize::from(concerned) && reported <= usize::from(!left.contains(&id)));
            }
        }
    }

    #[test]
    fn nothing_is_left_of_those_who_left() {
        let selections = selections();
        let mut interest = fill(&selections);
        for (id, selector) in selections.iter().enumerate() {
            interest.remove(selector, WatcherId(id as u32));
            interest.remove(selector, WatcherId(99));
        }
        let Interest { all, by_namespace, by_key, by_field } = interest;
        assert!(all.is_empty() && by_namespace.is_empty() && by_key.is_empty() && by_field.is_empty());
    }
}
