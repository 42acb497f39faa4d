//! The state of all resources at one moment, and the return to it.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::view::tree::Edit;
use crate::view::{Reach, Transaction};
use crate::{Difference, Shard, Tree, Version, View};

/// The objects of all resources at one moment: a cloned root of each tree.
///
/// It holds memory only for later changes.
#[derive(Clone, Debug, Default)]
pub struct Checkpoint {
    pub(crate) shards: BTreeMap<String, Tree>,
    pub(crate) revision: u64,
}

impl Checkpoint {
    /// Return the latest revision of the state.
    pub fn revision(&self) -> u64 {
        self.revision
    }

    /// Return the names of the resources, with their objects.
    pub fn resources(&self) -> impl Iterator<Item = (&str, &Tree)> {
        self.shards.iter().map(|(name, tree)| (name.as_str(), tree))
    }

    /// Return the number of objects.
    pub fn objects(&self) -> usize {
        self.shards.values().map(Tree::len).sum()
    }

    /// Return the objects that one state has and another has not, or has with another content: the name of the resource,
    /// and the versions here and there.
    pub fn differences<'s>(&'s self, other: &'s Self) -> Vec<(&'s str, Difference)> {
        let empty = Tree::default();
        let mut names: Vec<&str> = self.shards.keys().chain(other.shards.keys()).map(String::as_str).collect();
        names.sort_unstable();
        names.dedup();
        let mut out = Vec::new();
        for name in names {
            let of = |state: &Self| state.shards.get(name).unwrap_or(&empty).clone();
            let differences = of(self).differences(&of(other));
            let changed = differences.into_iter().filter(|difference| match difference {
                (Some(here), Some(there)) => !here.same_state(there),
                _ => true,
            });
            out.extend(changed.map(|difference| (name, difference)));
        }
        out
    }
}

impl View {
    /// Return the present state of all resources.
    pub fn checkpoint(&self) -> Checkpoint {
        let mut revision = 0;
        let shards = self.shards.lock();
        let trees = shards.iter().map(|(name, shard)| {
            let snapshot = shard.snapshot();
            revision = revision.max(snapshot.revision);
            (name.clone(), snapshot.tree)
        });
        let shards = trees.filter(|(_, tree)| !tree.is_empty()).collect();
        Checkpoint { shards, revision }
    }

    /// Load a state, which may be of another view, into a view without objects whose log begins after it.
    pub fn begin_with(&self, state: &Checkpoint) {
        for (name, tree) in &state.shards {
            self.shard(name).transact(|shard| {
                // The versions of another view count in its history.
                let copy = |v: &Arc<Version>| Version::new(Arc::clone(v.key()), v.revision(), v.draft(), None);
                tree.each(|version| {
                    let copy = shard.share(copy(version));
                    drop(shard.keep(copy));
                });
            });
        }
    }

    /// Return to a state, which may be of another view: each difference becomes an event with a new revision of `reach`. `same` reports
    /// whether two versions are of one object, and not of two with the same name. Return the number of differences.
    pub(crate) fn restore(
        &self,
        state: &Checkpoint,
        reach: &Reach,
        same: impl Fn(&Version, &Version) -> bool,
    ) -> usize {
        // A resource of the state may not have been used here: that of a definition of the state.
        for name in state.shards.keys() {
            self.shard(name);
        }
        let mut shards: Vec<(String, Arc<Shard>)> =
            self.shards.lock().iter().map(|(name, shard)| (name.clone(), Arc::clone(shard))).collect();
        // The revisions of two restores of equal states are equal.
        shards.sort_by(|a, b| a.0.cmp(&b.0));
        let empty = Tree::default();
        let mut count = 0_usize;
        for (name, shard) in shards {
            let then = state.shards.get(&name).unwrap_or(&empty);
            count = count.saturating_add(shard.transact(|shard| shard.restore(then, reach, &same)));
        }
        count
    }
}

/// The number of differences whose versions are read ahead: they fit into the cache of a core.
const AHEAD: usize = 32;

/// Read the start of the present versions and the JSON of those to come, which are anywhere in memory.
fn read_ahead(differences: &[(usize, Difference)]) {
    let bytes = |version: &Option<Arc<Version>>, most| version.as_ref().map_or(0, |version| version.touch(most));
    let both = differences.iter().map(|(_, (now, then))| bytes(now, 256).wrapping_add(bytes(then, 2048)));
    std::hint::black_box(both.fold(0, usize::wrapping_add));
}

impl Transaction<'_> {
    fn restore(&mut self, then: &Tree, reach: &Reach, same: &impl Fn(&Version, &Version) -> bool) -> usize {
        self.at = Some(self.running());
        let mut count = 0_usize;
        let places = self.state.tree.places(then);
        // The tree is changed at the end, all places of a leaf at a time.
        let mut edits = Vec::with_capacity(places.len());
        for some in places.chunks(AHEAD) {
            read_ahead(some);
            for (at, (now, then)) in some {
                let comes = match (now, then) {
                    (Some(now), Some(then)) if now.same_state(then) => {
                        if now.fields() == then.fields() {
                            continue;
                        }
                        // The values of field selectors are those of the definition of the time.
                        Some(self.share(now.with_fields(then.fields().into())))
                    }
                    (_, then) => {
                        count = count.saturating_add(1);
                        self.return_to(now.as_ref(), then.as_deref(), reach, same)
                    }
                };
                self.weigh(comes.as_deref().map_or(0, Version::size), now.as_deref());
                edits.push(Edit { at: *at, goes: now.is_some(), comes });
            }
        }
        self.state.tree.edit(edits);
        count
    }

    /// Report the events of the return from one version of a key to another. Return the version that the tree will have.
    fn return_to(
        &mut self,
        now: Option<&Arc<Version>>,
        then: Option<&Version>,
        reach: &Reach,
        same: &impl Fn(&Version, &Version) -> bool,
    ) -> Option<Arc<Version>> {
        let kept = now.filter(|now| then.is_some_and(|then| same(now, then)));
        if let (Some(now), None) = (now, kept) {
            self.report_gone(reach.take(), now, Some(Arc::clone(now)));
        }
        let comes = self.share(then?.again(reach.take(), self.state.ring.beside()));
        self.report_put(Arc::clone(&comes), kept.cloned());
        Some(comes)
    }
}

#[cfg(test)]
#[allow(clippy::arithmetic_side_effects, clippy::indexing_slicing, reason = "they count objects that they made")]
mod tests {
    use std::collections::BTreeMap;
    use std::sync::Arc;

    use proptest::prelude::*;

    use super::Checkpoint;
    use crate::EventType::{self, Added, Deleted, Modified};
    use crate::view::testing::draft;
    use crate::{Limits, Local, Version, View};

    fn write(view: &View, log: &Local, shard: &str, key: &str, app: &str) -> u64 {
        let shard = view.shard(shard);
        let expected = shard.get(key).map(|version| version.revision());
        let made = match expected {
            None => log.create(&shard, key, draft(app, "up")),
            Some(at) => log.update(&shard, key, at, draft(app, "up")),
        };
        made.expect("it is written").revision()
    }

    fn remove(view: &View, log: &Local, shard: &str, key: &str) {
        let shard = view.shard(shard);
        let at = shard.get(key).expect("it is there").revision();
        log.delete(&shard, key, at).expect("it is removed");
    }

    fn contents(view: &View) -> Vec<(String, String, String)> {
        let state = view.checkpoint();
        let app = |version: &crate::Version| version.labels().first().map_or("", |(_, app)| app).to_owned();
        let mut out = Vec::new();
        for (name, tree) in &state.shards {
            tree.each(|version| out.push((name.clone(), version.key().to_string(), app(version))));
        }
        out
    }

    fn view() -> (View, Local) {
        let view = View::new(Limits::default(), None, Arc::default());
        let log = Local::open(&view, 100);
        (view, log)
    }

    #[test]
    fn only_what_differs_gets_a_revision() {
        let (view, log) = view();
        let kept = write(&view, &log, "pods", "a/kept", "x");
        write(&view, &log, "pods", "a/changed", "x");
        write(&view, &log, "pods", "a/removed", "x");
        let (state, before) = (view.checkpoint(), contents(&view));
        assert_eq!((state.revision(), state.objects()), (103, 3));
        write(&view, &log, "pods", "a/changed", "y");
        remove(&view, &log, "pods", "a/removed");
        write(&view, &log, "pods", "b/new", "z");
        write(&view, &log, "nodes", "n", "z");
        assert_eq!(log.restore(&view, &state, |_, _| true), 4);
        assert_eq!(contents(&view), before);
        let revision = |key: &str| view.shard("pods").get(key).expect("it is there").revision();
        assert_eq!((revision("a/kept"), log.revision()), (kept, 111));
        assert!(revision("a/changed") > 107 && revision("a/removed") > 107);
        assert_eq!(log.restore(&view, &state, |_, _| true), 0, "nothing but two revisions differs");
        assert_eq!(log.revision(), 111);
    }

    #[test]
    fn another_object_of_the_same_name_is_deleted_first() {
        let (view, log) = view();
        write(&view, &log, "pods", "a/m", "x");
        let state = view.checkpoint();
        write(&view, &log, "pods", "a/m", "y");
        log.restore(&view, &state, |_, _| false);
        assert_eq!(log.revision(), 104, "a deletion and a creation");
    }

    /// Return the events of a shard after a revision: kind, key, label, revision of the version before.
    fn events(view: &View, after: u64) -> Vec<(EventType, String, String, Option<u64>)> {
        let shard = view.shard("pods");
        let state = shard.state.lock();
        let events = (state.ring.after(after)..state.ring.end()).filter_map(|seq| state.ring.get(seq));
        events
            .zip(after..)
            .map(|(event, before)| {
                assert_eq!(event.revision, before + 1, "one after another");
                assert_eq!(event.current.revision(), event.revision);
                let (key, (_, app)) = (event.current.key().to_string(), &event.current.labels()[0]);
                (event.kind, key, app.to_string(), event.previous.as_ref().map(|version| version.revision()))
            })
            .collect()
    }

    proptest! {
        // Each has thousands of objects.
        #![proptest_config(ProptestConfig::with_cases(48))]

        /// The objects are in several leaves, of which some go and others come. Labels with a mark are other objects.
        #[test]
        fn each_difference_is_an_event_in_the_order_of_keys(
            before in prop::collection::btree_map(0_u16..2_000, 0_u8..3, 0..1_200),
            changes in prop::collection::vec((0_u16..2_000, 1_u16..300, 1_u16..150, 0_u8..5), 0..6),
        ) {
            let (view, log) = view();
            let key = |n: u16| format!("a/{n:05}");
            let app = |of: u8| ["x", "y", "z", "x-new"][usize::from(of)];
            for (n, of) in &before {
                write(&view, &log, "pods", &key(*n), app(*of));
            }
            let state = view.checkpoint();
            let mut now: BTreeMap<_, _> = before.iter().map(|(n, of)| (*n, (*of, false))).collect();
            for (from, count, step, of) in changes {
                for n in (from..from + count).step_by(usize::from(step)) {
                    if of < 4 {
                        write(&view, &log, "pods", &key(n), app(of));
                        now.insert(n, (of, true));
                    } else if now.remove(&n).is_some() {
                        remove(&view, &log, "pods", &key(n));
                    }
                }
            }
            let at = log.revision();
            let revision = |key: &str| view.shard("pods").get(key).map(|version| version.revision());
            let mut expected = Vec::new();
            let mut count = 0;
            for n in 0..2_300 {
                let (was, is, key) = (before.get(&n), now.get(&n).map(|(of, _)| of), key(n));
                if was == is {
                    continue;
                }
                count += 1;
                let (mut previous, is_other) = (revision(&key), is == Some(&3));
                if let Some(is) = is.filter(|_| was.is_none() || is_other) {
                    expected.push((Deleted, key.clone(), app(*is).to_owned(), previous.take()));
                }
                if let Some(was) = was {
                    let kind = if previous.is_some() { Modified } else { Added };
                    expected.push((kind, key, app(*was).to_owned(), previous));
                }
            }
            let is_same = |one: &Version, other: &Version| {
                let is_new = |version: &Version| version.labels()[0].1.ends_with("-new");
                is_new(one) == is_new(other)
            };
            prop_assert_eq!(log.restore(&view, &state, is_same), count);
            prop_assert_eq!(events(&view, at), expected);
            let restored = view.checkpoint();
            prop_assert!(restored.differences(&state).is_empty());
            let size = |state: &Checkpoint| {
                let mut bytes = 0;
                state.resources().for_each(|(_, tree)| tree.each(|version| bytes += version.size()));
                (state.objects(), bytes)
            };
            prop_assert_eq!(view.shard("pods").size(), size(&restored));
            prop_assert_eq!(view.shard("pods").snapshot_at(at).expect("it is kept").tree.len(), now.len());
        }
    }

    /// The objects of a definition come with the state that has the definition.
    #[test]
    fn a_resource_that_is_not_used_here_comes_with_the_state() {
        let (one, log) = view();
        write(&one, &log, "widgets.e.com", "a/w", "x");
        write(&one, &log, "pods", "a/p", "x");
        let (state, two) = (one.checkpoint(), View::new(Limits::default(), None, Arc::default()));
        let log = Local::open(&two, 200);
        write(&two, &log, "nodes", "n", "y");
        assert_eq!(log.restore(&two, &state, |_, _| true), 3);
        assert_eq!(contents(&two), contents(&one));
        assert!(two.shard("widgets.e.com").get("a/w").expect("it came").revision() > 200);
    }

    #[test]
    fn another_view_may_begin_with_it() {
        let (one, log) = view();
        write(&one, &log, "pods", "a/m", "x");
        let state = one.checkpoint();
        let two = View::new(Limits::default(), None, Arc::default());
        let log = Local::open(&two, 200);
        two.begin_with(&state);
        assert_eq!(contents(&two), contents(&one));
        assert_eq!(two.shard("pods").size(), one.shard("pods").size());
        assert_eq!(write(&two, &log, "pods", "a/m", "y"), 201);
    }

    #[test]
    fn a_thousand_states_hold_nothing_once_they_are_dropped() {
        let (view, log) = view();
        write(&view, &log, "pods", "a/m", "x");
        let first = view.shard("pods").get("a/m").expect("it is there");
        let states: Vec<Checkpoint> = (0..1000).map(|_| view.checkpoint()).collect();
        let held = Arc::strong_count(&first);
        drop(states);
        assert_eq!(Arc::strong_count(&first), held, "all of them share the leaf");
    }
}
