//! The state of all resources at one moment, and the return to it.

use std::collections::BTreeMap;
use std::sync::Arc;

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
                tree.each(|version| drop(shard.keep(Arc::new(copy(version)))));
            });
        }
    }

    /// Return to a state of this view: each difference becomes an event with a new revision of `reach`. `same` reports
    /// whether two versions are of one object, and not of two with the same name. Return the number of differences.
    pub(crate) fn restore(
        &self,
        state: &Checkpoint,
        reach: &Reach,
        same: impl Fn(&Version, &Version) -> bool,
    ) -> usize {
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

impl Transaction<'_> {
    fn restore(&mut self, then: &Tree, reach: &Reach, same: &impl Fn(&Version, &Version) -> bool) -> usize {
        let mut count = 0_usize;
        for (now, then) in self.state.tree.differences(then) {
            if let (Some(now), Some(then)) = (&now, &then)
                && now.same_state(then)
            {
                if now.fields() != then.fields() {
                    // The values of field selectors are those of the definition of the time.
                    drop(self.keep(Arc::new(now.with_fields(then.fields().into()))));
                }
                continue;
            }
            count = count.saturating_add(1);
            if let Some(now) = now
                && !then.as_ref().is_some_and(|then| same(&now, then))
            {
                self.take_out(reach.take(), &now);
            }
            if let Some(then) = then {
                self.put_again(reach.take(), &then);
            }
        }
        count
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::Checkpoint;
    use crate::view::testing::draft;
    use crate::{Limits, Local, View};

    fn written(view: &View, log: &Local, shard: &str, key: &str, app: &str) -> u64 {
        let shard = view.shard(shard);
        let expected = shard.get(key).map(|version| version.revision());
        let made = match expected {
            None => log.create(&shard, key, draft(app, "up")),
            Some(at) => log.update(&shard, key, at, draft(app, "up")),
        };
        made.expect("it is written").revision()
    }

    fn removed(view: &View, log: &Local, shard: &str, key: &str) {
        let shard = view.shard(shard);
        let at = shard.get(key).expect("it is there").revision();
        log.delete(&shard, key, at).expect("it is removed");
    }

    fn shown(view: &View) -> Vec<(String, String, String)> {
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
        let kept = written(&view, &log, "pods", "a/kept", "x");
        written(&view, &log, "pods", "a/changed", "x");
        written(&view, &log, "pods", "a/removed", "x");
        let (state, before) = (view.checkpoint(), shown(&view));
        assert_eq!((state.revision(), state.objects()), (103, 3));
        written(&view, &log, "pods", "a/changed", "y");
        removed(&view, &log, "pods", "a/removed");
        written(&view, &log, "pods", "b/new", "z");
        written(&view, &log, "nodes", "n", "z");
        assert_eq!(log.restore(&view, &state, |_, _| true), 4);
        assert_eq!(shown(&view), before);
        let revision = |key: &str| view.shard("pods").get(key).expect("it is there").revision();
        assert_eq!((revision("a/kept"), log.revision()), (kept, 111));
        assert!(revision("a/changed") > 107 && revision("a/removed") > 107);
        assert_eq!(log.restore(&view, &state, |_, _| true), 0, "nothing but two revisions differs");
        assert_eq!(log.revision(), 111);
    }

    #[test]
    fn another_object_of_the_same_name_is_deleted_first() {
        let (view, log) = view();
        written(&view, &log, "pods", "a/m", "x");
        let state = view.checkpoint();
        written(&view, &log, "pods", "a/m", "y");
        log.restore(&view, &state, |_, _| false);
        assert_eq!(log.revision(), 104, "a deletion and a creation");
    }

    #[test]
    fn another_view_may_begin_with_it() {
        let (one, log) = view();
        written(&one, &log, "pods", "a/m", "x");
        let state = one.checkpoint();
        let two = View::new(Limits::default(), None, Arc::default());
        let log = Local::open(&two, 200);
        two.begin_with(&state);
        assert_eq!(shown(&two), shown(&one));
        assert_eq!(two.shard("pods").size(), one.shard("pods").size());
        assert_eq!(written(&two, &log, "pods", "a/m", "y"), 201);
    }

    #[test]
    fn a_thousand_states_hold_nothing_once_they_are_dropped() {
        let (view, log) = view();
        written(&view, &log, "pods", "a/m", "x");
        let first = view.shard("pods").get("a/m").expect("it is there");
        let states: Vec<Checkpoint> = (0..1000).map(|_| view.checkpoint()).collect();
        let held = Arc::strong_count(&first);
        drop(states);
        assert_eq!(Arc::strong_count(&first), held, "all of them share the leaf");
    }
}
