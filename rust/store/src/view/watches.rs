//! The watchers of a shard, and the events for each of them.

#![allow(clippy::arithmetic_side_effects, reason = "it counts events that are in memory")]
#![allow(clippy::indexing_slicing, reason = "places come from the structure that they lead through")]

use std::sync::Arc;

use crate::view::shard::State;
use crate::view::watcher::{Watcher, frame};
use crate::{Drained, EventType, Filter, Frame, Page, Shard, Snapshot, StoreError, Version, WatchStart, WatcherId};
use hydrofoil_pace::SCAN;

impl Shard {
    /// Add a watcher that its owner identifies as `token`. It is woken at once, to send the present state or events.
    pub fn watch(&self, filter: Arc<Filter>, start: WatchStart, token: u64) -> Result<WatcherId, StoreError> {
        let mut state = self.state.lock();
        state.ring.trim(self.running());
        let (next, initial, seen, from) = match start {
            WatchStart::After(revision) => {
                if revision < state.ring.compacted_revision() {
                    return Err(StoreError::Expired { asked: revision, oldest: state.ring.compacted_revision() });
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
        state.watchers[slot as usize] =
            Some(Watcher { filter, next, idle: false, initial, woken: false, token, seen, from });
        Ok(id)
    }

    /// Remove a watcher.
    pub fn unwatch(&self, id: WatcherId) {
        let mut state = self.state.lock();
        if let Some(watcher) = state.watchers[id.0 as usize].take() {
            state.interest.remove(&watcher.filter.selector, id);
            state.free.push(id.0);
        }
    }

    /// Return the number of watchers.
    pub fn watchers(&self) -> usize {
        let state = self.state.lock();
        state.watchers.len() - state.free.len()
    }

    /// Return the cursor of a watcher, which decides the result of a drain. `None` during the initial state and while
    /// events are skipped, which watchers do not share.
    pub fn cursor(&self, id: WatcherId) -> Option<(u64, Arc<Filter>)> {
        let mut state = self.state.lock();
        let watcher = state.watcher(id)?;
        (watcher.initial.is_none() && watcher.from == 0).then(|| (watcher.next, Arc::clone(&watcher.filter)))
    }

    /// Return the end of the ring: a cursor there has received everything.
    pub fn end(&self) -> u64 {
        self.state.lock().ring.end()
    }

    /// Return the revision up to which a watcher has received everything. `None` during the initial state: until its
    /// end nothing can be promised.
    pub fn seen_revision(&self, id: WatcherId) -> Option<u64> {
        let mut state = self.state.lock();
        let end = state.ring.end();
        let watcher = state.watcher(id).filter(|w| w.initial.is_none())?;
        if watcher.next >= end {
            // A later pending event does not lower the promise.
            watcher.seen = self.revision().max(watcher.seen);
        }
        Some(watcher.seen)
    }

    /// Move a watcher to the position to which an equal one was drained.
    pub fn advance(&self, id: WatcherId, next: u64, seen: u64) {
        let mut state = self.state.lock();
        let end = state.ring.end();
        if let Some(watcher) = state.watcher(id) {
            watcher.next = next;
            watcher.idle = next >= end;
            watcher.seen = watcher.seen.max(seen);
            watcher.woken = false;
        }
    }

    /// Pass waiting events to `give` until it returns false, or many were passed over. Return the rest, the cursor and
    /// the revision of the last event.
    pub fn drain(&self, id: WatcherId, mut give: impl FnMut(&Frame) -> bool) -> (Drained, u64, u64) {
        let mut state = self.state.lock();
        let State { ring, watchers, .. } = &mut *state;
        let Some(watcher) = &mut watchers[id.0 as usize] else { return (Drained::All, 0, 0) };
        watcher.catch_up(ring.end());
        watcher.woken = false;
        if let Some(page) = &mut watcher.initial {
            let mut most = SCAN;
            if page.selector().is_plain() {
                page.take(|v| give(&added_frame(v)));
            } else if page.look(&mut most) {
                page.take_found(|v| give(&added_frame(v)));
            }
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
        let last = watcher.next.saturating_add(SCAN as u64);
        while let Some(event) = ring.get(watcher.next).filter(|_| watcher.next < last) {
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
        watcher.idle = watcher.next >= ring.end();
        let left = if watcher.idle { Drained::All } else { Drained::More };
        (left, watcher.next, watcher.seen)
    }

    /// Report whether something waits for a watcher: state, events, or the error that its cursor expired.
    pub fn waits(&self, id: WatcherId) -> bool {
        let mut state = self.state.lock();
        let end = state.ring.end();
        state.watcher(id).is_some_and(|watcher| watcher.initial.is_some() || watcher.next < end)
    }

    /// Pass each waiting change to `give`, as the versions before and after it, until it returns false; for selections
    /// by namespace at most. The present state is first, with no versions before.
    pub fn changes(
        &self,
        id: WatcherId,
        mut give: impl FnMut(Option<&Arc<Version>>, Option<&Arc<Version>>) -> bool,
    ) -> Drained {
        let mut state = self.state.lock();
        let State { ring, watchers, .. } = &mut *state;
        let Some(watcher) = &mut watchers[id.0 as usize] else { return Drained::All };
        watcher.catch_up(ring.end());
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
        watcher.idle = watcher.next >= ring.end();
        if watcher.idle { Drained::All } else { Drained::More }
    }

    /// Pass to `look` the versions that must be converted to the view of a watcher before its waiting events can be
    /// drained, and whether their fields decide their selection, until it returns false. The cursor does not move.
    pub fn peek(&self, id: WatcherId, mut look: impl FnMut(&Arc<Version>, bool) -> bool) {
        let mut state = self.state.lock();
        let State { ring, watchers, .. } = &mut *state;
        let Some(watcher) = &mut watchers[id.0 as usize] else { return };
        watcher.catch_up(ring.end());
        let selector = &watcher.filter.selector;
        let undecided = |version: &Version| !selector.fields.knows(version);
        if let Some(page) = &mut watcher.initial {
            let mut most = SCAN;
            let look = |v: &Arc<Version>| look(v, undecided(v));
            if selector.is_plain() {
                page.clone().take(look);
            } else if page.look(&mut most) {
                // A drain passes what was found here, and searches no further.
                page.clone().take_found(look);
            }
            return;
        }
        let mut next = watcher.next.max(ring.base());
        let last = next.saturating_add(SCAN as u64);
        while let Some(event) = ring.get(next).filter(|_| next < last) {
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

impl State {
    /// Return a watcher, with its cursor behind the events that do not concern it.
    fn watcher(&mut self, id: WatcherId) -> Option<&mut Watcher> {
        let watcher = self.watchers[id.0 as usize].as_mut()?;
        watcher.catch_up(self.ring.end());
        Some(watcher)
    }
}

/// Return an object of the initial state as an event.
fn added_frame(version: &Arc<Version>) -> Frame {
    Frame { kind: EventType::Added, version: Arc::clone(version), revision: version.revision(), source: None }
}
