//! Watchers: cursors into a ring, drained in batches that watchers of one kind share.

use std::sync::Arc;

use crate::{Event, EventType, Page, Selector, Version};

/// The place of a watcher in its shard.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct WatcherId(pub u32);

/// Where a watch begins.
#[derive(Clone, Copy, Debug)]
pub enum WatchStart {
    /// After a revision, without the state at it.
    After(u64),
    /// With the present state, as ADDED events, then its changes.
    State,
}

/// What a watcher wants: its selection, and a text that tells equal ones apart from others.
#[derive(Clone, Debug, Default)]
pub struct Filter {
    /// What it selects.
    pub selector: Selector,
    /// The same as text: watchers with equal text share their batches.
    pub identity: Arc<str>,
}

/// One event as a watcher is to see it.
#[derive(Clone, Debug)]
pub struct Frame {
    /// What happened, from the view of the selection.
    pub kind: EventType,
    /// The object to show.
    pub version: Arc<Version>,
    /// The revision of the event.
    pub revision: u64,
    /// The version whose content is shown at the new revision, when the object left the selection.
    pub source: Option<Arc<Version>>,
}

/// What a drain gave.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Drained {
    /// The watcher has seen everything.
    All,
    /// More is waiting: the batch was full.
    More,
    /// The initial state has just been given in full: its end may be marked.
    InitialEnd,
    /// The history passed the cursor by; the watch must end with an error.
    Lapped,
}

#[derive(Debug)]
pub(crate) struct Watcher {
    pub(crate) filter: Arc<Filter>,
    /// The sequence number of the next event to look at.
    pub(crate) next: u64,
    /// The initial state still to be given.
    pub(crate) initial: Option<Page>,
    /// Whether it stands in the list of the woken.
    pub(crate) woken: bool,
    /// The token under which its owner knows it.
    pub(crate) token: u64,
    /// The revision up to which it has been told everything.
    pub(crate) seen: u64,
    /// Events up to this revision, which the shard had not reached when it began, are not for it; 0 when there are none.
    pub(crate) from: u64,
}

/// The view that a selection has of an event, if any.
pub(crate) fn frame(selector: &Selector, event: &Event) -> Option<Frame> {
    let plain = selector.is_plain();
    if plain {
        let inside = selector.namespace.as_deref().is_none_or(|ns| ns == event.current.namespace());
        return inside.then(|| Frame {
            kind: event.kind,
            version: Arc::clone(&event.current),
            revision: event.revision,
            source: None,
        });
    }
    let before = event.previous.as_ref().is_some_and(|p| selector.matches(p));
    let now = event.kind != EventType::Deleted && selector.matches(&event.current);
    let mut source = None;
    let (kind, version) = match (before, now) {
        (false, false) => return None,
        (false, true) => (EventType::Added, Arc::clone(&event.current)),
        (true, true) => (EventType::Modified, Arc::clone(&event.current)),
        (true, false) if event.kind == EventType::Deleted => (EventType::Deleted, Arc::clone(&event.current)),
        (true, false) => {
            // The object as it was when it was last selected, at the revision of the change.
            let old = event.previous.as_ref().expect("it was selected before");
            source = Some(Arc::clone(old));
            (EventType::Deleted, Arc::new(old.at_revision(event.revision, None)))
        }
    };
    Some(Frame { kind, version, revision: event.revision, source })
}
