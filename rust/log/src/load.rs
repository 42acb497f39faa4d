//! The state of a folder: a checkpoint, and the events since then.

use std::path::Path;
use std::time::Duration;

use hydrofoil_store::{Change, View};

use crate::error::{LogError, Result};
use crate::manifest::{self, Manifest};
use crate::record::Record;
use crate::seal::{Opened, Seal};
use crate::segment::{self, End, Place};
use crate::state::{self, Head};

/// A folder as it was found.
#[derive(Debug)]
pub(crate) struct Loaded {
    pub(crate) manifest: Manifest,
    pub(crate) place: Place,
    /// The revision of the last event.
    pub(crate) revision: u64,
}

/// Load the state of a folder into a view without shards; objects that cannot be read are kept apart. Nothing in the
/// folder is changed.
pub(crate) fn load(folder: &Path, view: &View, seal: &Seal) -> Result<Loaded> {
    let manifest = Manifest::read(folder)?;
    let [base, ..] = manifest.states.as_slice() else {
        return Err(LogError::content(&manifest::path(folder), "it is damaged"));
    };
    let path = manifest::state(folder, base.segment);
    view.log_from(base.revision, Duration::ZERO);
    let head = state::read(&path, |head, resource, key, revision, form| {
        keep(view, seal, head, resource, key, revision, form)
    })?;
    if head.revision != base.revision {
        return Err(LogError::content(&path, "it is the state of another revision"));
    }
    let mut place = Place { last: head.last, running: head.running, length: 0 };
    let mut revision = head.revision;
    let sealed = manifest.sealed.iter().map(|found| (found.segment, End::Sealed(found.length, found.last)));
    let segments = sealed.chain([(manifest.active.0, End::Active(manifest.active.1))]);
    for (expected, (number, end)) in (base.segment..).zip(segments) {
        let path = manifest::segment(folder, number);
        if number != expected {
            return Err(LogError::content(&manifest::path(folder), format!("segment {expected} is missing")));
        }
        segment::read(&path, number, end, &mut place, |record, at| {
            revision = revision.max(record.revision);
            replay(view, seal, &record, at)
        })?;
    }
    if revision > manifest.reserved {
        return Err(LogError::content(&manifest::path(folder), "it does not cover every revision"));
    }
    view.ran(place.running);
    Ok(Loaded { manifest, place, revision })
}

/// Put an object of a state into a view; `None` for one that was never written.
pub(crate) fn keep(
    view: &View,
    seal: &Seal,
    head: Head,
    resource: &str,
    key: &str,
    revision: u64,
    form: &[u8],
) -> Option<()> {
    match seal.open(resource, key, revision, form) {
        Opened::Draft(draft) => view.shard(resource).load([(key.to_owned(), revision, draft)], head.revision),
        // Its collection exists all the same.
        Opened::Unread => view.shard(resource).load([], head.revision),
        Opened::Damaged => return None,
    }
    Some(())
}

/// Apply an event of an earlier process. One whose object could not be read, before or after it, is no event: the history
/// begins behind it.
fn replay(view: &View, seal: &Seal, record: &Record<'_>, at: Duration) -> Option<()> {
    let Record { resource, revision, key, form } = *record;
    let hidden = seal.unread.remove(resource, key);
    let shard = view.shard(resource);
    let draft = match form.map(|form| seal.open(resource, key, revision, form)) {
        Some(Opened::Damaged) => return None,
        Some(Opened::Unread) => {
            shard.replay_hidden(revision, key, None);
            return Some(());
        }
        Some(Opened::Draft(draft)) => Some(draft),
        None => None,
    };
    if hidden {
        shard.replay_hidden(revision, key, draft);
    } else {
        shard.replay(revision, key, draft.map_or(Change::Delete, Change::Put), at);
    }
    Some(())
}
