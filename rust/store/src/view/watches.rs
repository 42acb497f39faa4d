//! Who watches a shard, and what each of them is given.

#![allow(clippy::arithmetic_side_effects, reason = "it counts events that are in memory")]
#![allow(clippy::indexing_slicing, reason = "places come from the structure that they lead through")]

use std::sync::Arc;

use crate::view::shard::State;
use crate::view::watcher::{Watcher, frame};
use crate::{Drained, EventType, Filter, Frame, Page, Shard, Snapshot, StoreError, Version, WatchStart, WatcherId};

impl Shard {
    /// Adds a watcher that its owner knows as `token`. It is woken at once, to give what is there already.
    pub fn watch(&self, filter: Arc<Filter>, start: WatchStart, token: u64) -> Result<WatcherId, StoreError> {
        let mut state = self.state.lock();
        state.ring.trim(self.clock().elapsed());
        let (next, initial, seen, from) = match start {
            WatchStart::After(revision) => {
                if revision < state.ring.compacted() {
                    return Err(StoreError::Expired { asked: revision, oldest: state.ring.compacted() });
                }
                let from = if revision > self.revision() { revision } else { 0 };
                (state.ring.after(revision), None, revision, from)
            }
            WatchStart::State => {
                let snapshot = Snapshot { tree: state.tree.clone(), revision: self.revision() };
                let seen = snapshot.revision;
                (state.ring.end(), Some(Page::new(snapshot, filter.selector.clone(), "", 0)), seen, 0)
            }
        };
        let slot = state.free.pop().unwrap_or_else(|| {
            state.watchers.push(None);
            state.watchers.len() as u32 - 1
        });
        let id = WatcherId(slot);
        state.interest.add(&filter.selector, id);
        state.watchers[slot as usize] = Some(Watcher { filter, next, initial, woken: false, token, seen, from });
        Ok(id)
    }

    /// Takes a watcher out.
    pub fn unwatch(&self, id: WatcherId) {
        let mut state = self.state.lock();
        if let Some(watcher) = state.watchers[id.0 as usize].take() {
            state.interest.remove(&watcher.filter.selector, id);
            state.free.push(id.0);
        }
    }

    /// How many watchers there are.
    pub fn watchers(&self) -> usize {
        let state = self.state.lock();
        state.watchers.len() - state.free.len()
    }

    /// The cursor of a watcher: what it stands at decides what a drain gives. `None` while the initial state is being
    /// given, or events are passed over, which no two watchers share.
    pub fn cursor(&self, id: WatcherId) -> Option<(u64, Arc<Filter>)> {
        let state = self.state.lock();
        let watcher = state.watchers[id.0 as usize].as_ref()?;
        (watcher.initial.is_none() && watcher.from == 0).then(|| (watcher.next, Arc::clone(&watcher.filter)))
    }

    /// The end of the ring: a cursor there has seen everything.
    pub fn end(&self) -> u64 {
        self.state.lock().ring.end()
    }

    /// The revision up to which a watcher has been told everything. `None` while the initial state is
    /// being given: until its end nothing can be promised.
    pub fn seen(&self, id: WatcherId) -> Option<u64> {
        let state = self.state.lock();
        let watcher = state.watchers[id.0 as usize].as_ref().filter(|w| w.initial.is_none())?;
        let all = watcher.next >= state.ring.end();
        Some(if all { self.revision().max(watcher.seen) } else { watcher.seen })
    }

    /// Moves a watcher to where another of its kind was drained to.
    pub fn advance(&self, id: WatcherId, next: u64, seen: u64) {
        let mut state = self.state.lock();
        if let Some(watcher) = &mut state.watchers[id.0 as usize] {
            watcher.next = next;
            watcher.seen = watcher.seen.max(seen);
            watcher.woken = false;
        }
    }

    /// Gives waiting events to `give` until it answers false. The answer tells what is left, where the cursor
    /// stands and the revision of the last event given.
    pub fn drain(&self, id: WatcherId, mut give: impl FnMut(&Frame) -> bool) -> (Drained, u64, u64) {
        let mut state = self.state.lock();
        let State { ring, watchers, .. } = &mut *state;
        let Some(watcher) = &mut watchers[id.0 as usize] else { return (Drained::All, 0, 0) };
        watcher.woken = false;
        if let Some(page) = &mut watcher.initial {
            page.take(|v| give(&added(v)));
            if !page.is_done() {
                return (Drained::More, watcher.next, watcher.seen);
            }
            watcher.initial = None;
            return (Drained::InitialEnd, watcher.next, watcher.seen);
        }
        if watcher.next < ring.base() {
            return (Drained::Lapped, watcher.next, watcher.seen);
        }
        let filter = Arc::clone(&watcher.filter);
        while let Some(event) = ring.get(watcher.next) {
            watcher.next += 1;
            if event.revision <= watcher.from {
                continue;
            }
            watcher.from = 0;
            watcher.seen = watcher.seen.max(event.revision);
            let Some(frame) = frame(&filter.selector, event) else { continue };
            if !give(&frame) {
                break;
            }
        }
        let left = if watcher.next < ring.end() { Drained::More } else { Drained::All };
        (left, watcher.next, watcher.seen)
    }

    /// Whether a watcher has something to be given: state, events, or the news that the history passed it by.
    pub fn waits(&self, id: WatcherId) -> bool {
        let state = self.state.lock();
        let Some(watcher) = &state.watchers[id.0 as usize] else { return false };
        watcher.initial.is_some() || watcher.next < state.ring.end()
    }

    /// Gives each waiting change to `give`, as what there was before and what there is now, until it answers false;
    /// of a selection by namespace at most. The present state comes first, as what came from nothing.
    pub fn changes(
        &self,
        id: WatcherId,
        mut give: impl FnMut(Option<&Arc<Version>>, Option<&Arc<Version>>) -> bool,
    ) -> Drained {
        let mut state = self.state.lock();
        let State { ring, watchers, .. } = &mut *state;
        let Some(watcher) = &mut watchers[id.0 as usize] else { return Drained::All };
        watcher.woken = false;
        if let Some(page) = &mut watcher.initial {
            page.take(|v| give(None, Some(v)));
            if !page.is_done() {
                return Drained::More;
            }
            watcher.initial = None;
            return Drained::InitialEnd;
        }
        if watcher.next < ring.base() {
            return Drained::Lapped;
        }
        while let Some(event) = ring.get(watcher.next) {
            watcher.next += 1;
            watcher.seen = watcher.seen.max(event.revision);
            let now = (event.kind != EventType::Deleted).then_some(&event.current);
            let before = event.previous.as_ref().or((event.kind == EventType::Deleted).then_some(&event.current));
            if !give(before, now) {
                break;
            }
        }
        if watcher.next < ring.end() { Drained::More } else { Drained::All }
    }

    /// Gives `look` the versions that have to be known in the form of a watcher before its waiting events can be
    /// drained, and whether their fields decide about that, until it answers false. The cursor stays.
    pub fn peek(&self, id: WatcherId, mut look: impl FnMut(&Arc<Version>, bool) -> bool) {
        let state = self.state.lock();
        let Some(watcher) = &state.watchers[id.0 as usize] else { return };
        let selector = &watcher.filter.selector;
        let undecided = |version: &Version| !selector.fields.knows(version);
        if let Some(page) = &watcher.initial {
            return page.clone().take(|v| look(v, undecided(v)));
        }
        let mut next = watcher.next.max(state.ring.base());
        while let Some(event) = state.ring.get(next) {
            next += 1;
            if event.revision <= watcher.from {
                continue;
            }
            let go_on = if selector.fields.is_viewed() {
                let was = event.previous.as_ref().filter(|previous| selector.matches(previous));
                let is = (event.kind != EventType::Deleted || was.is_some()) && selector.matches(&event.current);
                was.into_iter().chain(is.then_some(&event.current)).all(|v| look(v, undecided(v)))
            } else {
                frame(selector, event).is_none_or(|f| look(f.source.as_ref().unwrap_or(&f.version), false))
            };
            if !go_on {
                return;
            }
        }
    }
}

/// An object of the initial state as an event.
fn added(version: &Arc<Version>) -> Frame {
    Frame { kind: EventType::Added, version: Arc::clone(version), revision: version.revision(), source: None }
}
