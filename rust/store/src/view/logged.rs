//! The interface of a view to the one log of all its shards, which applies events in the order of their revisions.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use crate::view::{Common, Reach};
use crate::{Change, Draft, Shard, Version, View};

impl View {
    /// Make all shards, none of which exists yet, share the progress of a log, whose events after `base` follow.
    /// `running` is the time that earlier processes served the state.
    pub fn log_from(&self, base: u64, running: Duration) {
        let reach = Arc::new(Reach::after(base, self.limits.window));
        *self.reach.lock() = Some(Common { reach, begin: Some(base) });
        self.ran(running);
    }

    /// Set the time that earlier processes served the state.
    pub fn ran(&self, running: Duration) {
        self.shared.before.store(u64::try_from(running.as_nanos()).unwrap_or(u64::MAX), Ordering::Relaxed);
    }

    /// Return the time that the state has been served for, by all processes together.
    pub fn running(&self) -> Duration {
        self.shared.running()
    }

    /// Return the latest revision of a view with one log.
    pub fn reached_revision(&self) -> u64 {
        self.common(Reach::revision)
    }

    /// Return the latest revision that was assigned.
    pub fn assigned_revision(&self) -> u64 {
        self.common(Reach::assigned_revision)
    }

    /// Assign a number of revisions to events that follow; return the one before them. Readers take revisions, too.
    pub fn assign(&self, count: u64) -> u64 {
        self.common(|reach| reach.assign(count))
    }

    /// Record that the log assigns no revision up to this one any more.
    pub fn skip(&self, revision: u64) {
        self.common(|reach| reach.skip(revision));
        self.shared.publish_progress(revision);
    }

    /// Set the last revision that may be assigned.
    pub fn allow(&self, limit: u64) {
        self.common(|reach| reach.allow(limit));
    }

    fn common<T: Default>(&self, work: impl FnOnce(&Reach) -> T) -> T {
        let reach = self.reach.lock().as_ref().map(|common| Arc::clone(&common.reach));
        reach.map_or_else(T::default, |reach| work(&reach))
    }

    /// Return the latest revision whose later events are all that histories contain; `None` if there are none.
    pub fn history_begin(&self) -> Option<u64> {
        let shards: Vec<_> = self.shards.lock().values().cloned().collect();
        shards.iter().filter_map(|shard| shard.history_begin()).min()
    }

    /// Return the latest revision that has expired for all shards with events, or that of the last event to expire.
    pub(crate) fn expired_revision(&self) -> u64 {
        let shards: Vec<_> = self.shards.lock().values().cloned().collect();
        let last = || shards.iter().map(|shard| shard.state.lock().ring.compacted_revision()).max();
        shards.iter().filter_map(|shard| shard.history_begin()).min().or_else(last).unwrap_or_default()
    }

    /// Begin the history of shards that are made from now on at the present revision.
    pub(crate) fn forget_before_now(&self) {
        if let Some(Common { reach, begin: Some(begin) }) = &mut *self.reach.lock() {
            *begin = reach.revision();
        }
    }
}

impl Shard {
    /// Apply an event of an earlier process, at the time that it had then.
    pub fn replay(&self, revision: u64, key: &str, change: Change, at: Duration) {
        self.transact(|shard| {
            shard.at = Some(at);
            match change {
                Change::Put(draft) => drop(shard.put(revision, Arc::from(key), draft)),
                Change::Delete => {
                    let old: Option<Arc<Version>> = shard.get(key).cloned();
                    if let Some(old) = old {
                        shard.take_out(revision, &old);
                    }
                }
            }
            self.reach.raise(revision);
        });
    }

    /// Apply an event of an earlier process whose object could not be read, before or after it: the tree has the object
    /// from now on, if it can be read, and the history begins there.
    pub fn replay_hidden(&self, revision: u64, key: &str, draft: Option<Draft>) {
        self.transact(|shard| {
            match draft {
                Some(draft) => {
                    let version = shard.share(Version::new(Arc::from(key), revision, draft, None));
                    drop(shard.keep(version));
                }
                None => shard.discard(key),
            }
            self.reach.raise(revision);
            shard.forget(revision);
        });
    }

    /// Show an object of an earlier revision that could not be read until now. Watchers see it as an event; whatever begins
    /// from now on begins behind it.
    pub fn reveal(&self, revision: u64, key: &str, draft: Draft) {
        self.transact(|shard| {
            shard.put(revision, Arc::from(key), draft);
            shard.forget(self.reach.revision());
        });
    }

    fn history_begin(&self) -> Option<u64> {
        let mut state = self.state.lock();
        state.ring.trim(self.running());
        (state.ring.base() < state.ring.end()).then(|| state.ring.compacted_revision())
    }
}

#[cfg(test)]
#[allow(clippy::arithmetic_side_effects, reason = "they count seconds")]
mod tests {
    use std::time::Duration;

    use crate::view::testing::draft;
    use crate::{Change, Limits, StoreError, View};

    const SECOND: Duration = Duration::from_secs(1);

    fn view() -> View {
        let limits = Limits { window: 10 * SECOND, ..Limits::default() };
        let view = View::new(limits, None, std::sync::Arc::default());
        view.log_from(100, 60 * SECOND);
        view
    }

    #[test]
    fn events_of_before_keep_their_age() {
        let view = view();
        let pods = view.shard("pods");
        let put = |revision, at| pods.replay(revision, "a/m", Change::Put(draft("x", "up")), at * SECOND);
        put(101, 40);
        assert_eq!(view.history_begin(), None, "it was too old already");
        put(102, 55);
        put(103, 58);
        pods.replay(104, "a/m", Change::Delete, 59 * SECOND);
        pods.replay(105, "a/n", Change::Delete, 59 * SECOND);
        assert_eq!((view.history_begin(), view.reached_revision()), (Some(101), 105));
        assert_eq!(pods.snapshot_at(103).expect("it is kept").tree.len(), 1);
        assert_eq!(pods.snapshot_at(100).err(), Some(StoreError::Expired { asked: 100, oldest: 101 }));
        assert!(view.running() >= 60 * SECOND);
    }

    #[test]
    fn the_history_of_a_new_shard_is_no_longer_than_that_of_others() {
        let view = view();
        let put = |key, revision, at| {
            view.shard("pods").replay(revision, key, Change::Put(draft("x", "up")), at * SECOND);
        };
        put("a/m", 101, 40);
        assert!(view.shard("nodes").snapshot_at(100).is_err(), "a node has been absent for longer than the window");
        assert!(view.shard("nodes").snapshot_at(101).is_ok());
        put("a/n", 102, 55);
        put("a/o", 103, 58);
        assert!(view.shard("events").snapshot_at(101).is_ok());
    }

    #[test]
    fn readers_take_revisions_within_the_limit_unless_events_are_under_way() {
        let view = View::new(Limits { window: Duration::ZERO, ..Limits::default() }, None, std::sync::Arc::default());
        view.log_from(100, Duration::ZERO);
        let pods = view.shard("pods");
        let read = || (0..5).map(|_| pods.lasting_snapshot().revision).max();
        assert_eq!(read(), Some(100), "none may be assigned");
        view.allow(103);
        assert_eq!((read(), view.assigned_revision()), (Some(103), 103), "up to the limit");
        view.allow(200);
        assert_eq!(view.assign(2), 103);
        assert_eq!(read(), Some(103), "two events are to be applied");
        pods.apply(104, "a/m", Change::Put(draft("x", "up"))).expect("it is the next one");
        assert_eq!(read(), Some(104));
        view.skip(105);
        assert!(read() > Some(105));
    }

    #[test]
    fn the_history_of_a_new_shard_begins_with_the_log() {
        let view = view();
        view.skip(200);
        assert!(view.shard("nodes").snapshot_at(100).is_ok());
        view.compact();
        assert!(view.shard("nodes").snapshot_at(199).is_err());
        assert!(view.shard("others").snapshot_at(199).is_err());
        assert!(view.shard("others").snapshot_at(200).is_ok());
    }
}
