//! Watchers: cursors into a ring, drained in batches that equal watchers share.

use std::sync::Arc;

use crate::{Event, EventType, Page, Selector, Version};

/// The index of a watcher in its shard.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct WatcherId(pub u32);

/// The start of a watch.
#[derive(Clone, Copy, Debug)]
pub enum WatchStart {
    /// After a revision, without the state at it.
    After(u64),
    /// With the present state as ADDED events, then its changes.
    State,
}

/// The selection of a watcher, and a string that identifies equal ones.
#[derive(Clone, Debug, Default)]
pub struct Filter {
    /// The selector.
    pub selector: Selector,
    /// The selector as a string: watchers with equal strings share their batches.
    pub identity: Arc<str>,
}

/// An event as sent to a watcher.
#[derive(Clone, Debug)]
pub struct Frame {
    /// The event type from the view of the selection.
    pub kind: EventType,
    /// The object to send.
    pub version: Arc<Version>,
    /// The revision of the event.
    pub revision: u64,
    /// The version whose content is sent at the new revision if the object left the selection.
    pub source: Option<Arc<Version>>,
}

/// The result of a drain. Python uses the numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Drained {
    /// The watcher has received everything.
    All = 0,
    /// More events are waiting: the batch was full.
    More = 1,
    /// The initial state was just sent in full: its end may be marked.
    InitialEnd = 2,
    /// The cursor is before the start of the history; the watch must end with an error.
    Lapped = 3,
}

#[derive(Debug)]
pub(crate) struct Watcher {
    pub(crate) filter: Arc<Filter>,
    /// The sequence number of the next event, unless all are passed.
    pub(crate) next: u64,
    /// Whether it has passed all events, and was not woken since: none of the later ones concerns it.
    pub(crate) idle: bool,
    /// The rest of the initial state.
    pub(crate) initial: Option<Page>,
    /// Whether it is in the list of woken watchers.
    pub(crate) woken: bool,
    /// The token by which its owner identifies it.
    pub(crate) token: u64,
    /// The revision up to which it has received everything.
    pub(crate) seen: u64,
    /// The future revision at which the watch begins: events up to it are skipped; 0 if it is not in the future.
    pub(crate) from: u64,
}

impl Watcher {
    /// Bring the cursor of an idle watcher to the end of the ring: the events in between are those of others, and the ring
    /// may have dropped them.
    pub(crate) fn catch_up(&mut self, end: u64) {
        if self.idle {
            self.next = end;
        }
    }

    /// Begin at an event that concerns it. Return whether it has to be woken.
    pub(crate) fn wake(&mut self, event: u64) -> bool {
        self.catch_up(event);
        self.idle = false;
        !std::mem::replace(&mut self.woken, true)
    }
}

/// Return the event as the selection sees it, if at all.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::EventType::{Added, Deleted, Modified};
    use crate::view::testing::{event, selector};

    type State = Option<(&'static str, &'static str)>;

    /// Return the event that a watcher of `app=x` receives for a change of the label.
    fn reported_event(before: State, now: State) -> Option<(EventType, u64, String)> {
        let frame = frame(&selector("", "app=x", ""), &event("a/m", before, now))?;
        let text = String::from_utf8_lossy(frame.version.json()).into_owned();
        assert_eq!(frame.version.revision(), frame.revision);
        Some((frame.kind, frame.revision, text))
    }

    fn labels_text(app: &str, phase: &str) -> String {
        format!(r#"{{"kind":"K","app":"{app}","phase":"{phase}","metadata":{{"resourceVersion":"2"}}}}"#)
    }

    const IN: State = Some(("x", "up"));
    const STILL_IN: State = Some(("x", "down"));
    const OUT: State = Some(("y", "up"));

    #[test]
    fn a_selection_sees_objects_come_and_go() {
        assert_eq!(reported_event(None, IN), Some((Added, 2, labels_text("x", "up"))));
        assert_eq!(reported_event(OUT, IN), Some((Added, 2, labels_text("x", "up"))));
        assert_eq!(reported_event(IN, STILL_IN), Some((Modified, 2, labels_text("x", "down"))));
        assert_eq!(reported_event(IN, None), Some((Deleted, 2, labels_text("x", "up"))));
        assert_eq!(
            reported_event(IN, OUT),
            Some((Deleted, 2, labels_text("x", "up"))),
            "as it was when it was last selected"
        );
        assert_eq!(
            [reported_event(None, OUT), reported_event(OUT, OUT), reported_event(OUT, None)],
            [None, None, None]
        );
    }

    #[test]
    fn what_left_is_shown_from_the_version_before() {
        let event = event("a/m", IN, OUT);
        let left = frame(&selector("", "app=x", ""), &event).expect("it left");
        assert_eq!(left.source.map(|source| source.revision()), Some(1));
        let stays = frame(&selector("", "", ""), &event).expect("it is selected");
        assert!(stays.source.is_none() && Arc::ptr_eq(&stays.version, &event.current));
    }

    #[test]
    fn a_namespace_alone_hides_the_others() {
        let kind =
            |namespace, before, now| frame(&selector(namespace, "", ""), &event("a/m", before, now)).map(|f| f.kind);
        assert_eq!(
            [kind("a", None, IN), kind("a", IN, OUT), kind("a", IN, None)],
            [Added, Modified, Deleted].map(Some)
        );
        assert_eq!([kind("b", None, IN), kind("b", IN, OUT), kind("b", IN, None)], [None; 3]);
    }
}
