//! The feed of one resource.

use std::fmt;
use std::sync::Arc;

use hydrofoil_codec::json::{self, scan};
use hydrofoil_engine::kind::{Mirror, Mirrored};
use hydrofoil_engine::stored::same_uid;
use hydrofoil_store::{Change, Draft, Shard};

use crate::line::{self, Line};

/// A body that is not what the other server should have sent.
#[derive(Debug)]
pub struct FeedError(String);

impl fmt::Display for FeedError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for FeedError {}

/// What some lines of a watch have done.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// The number of events that were applied.
    pub events: usize,
    /// Whether the initial events are complete.
    pub complete: bool,
    /// The status code and the text of the error that ends the watch.
    pub failure: Option<(u16, String)>,
}

/// The feed of a shard: one reader at a time.
#[derive(Debug)]
pub struct Feed {
    shard: Arc<Shard>,
    mirror: Arc<Mirror>,
    /// The beginning of a line whose end has not arrived.
    rest: Vec<u8>,
    /// The objects of a list that is not complete; `None` while events are applied.
    states: Option<Vec<(String, u64, Draft)>>,
    /// Whether the shard has a state that watchers may have seen.
    loaded: bool,
}

impl Feed {
    /// Return the feed of a shard, by the mirror of its kind; `loaded`: it has a state already.
    pub fn new(shard: Arc<Shard>, mirror: Arc<Mirror>, loaded: bool) -> Self {
        Self { shard, mirror, rest: Vec::new(), states: None, loaded }
    }

    /// Begin with another body; `lists`: it begins with a list.
    pub fn begin(&mut self, lists: bool) {
        self.rest.clear();
        self.states = lists.then(Vec::new);
    }

    /// Read the next bytes of a watch.
    pub fn read(&mut self, data: &[u8]) -> Result<Progress, FeedError> {
        let mut progress = Progress::default();
        let mut left = data;
        while let Some(end) = left.iter().position(|byte| *byte == b'\n') {
            let (text, after) = left.split_at_checked(end).unwrap_or_default();
            left = after.get(1..).unwrap_or_default();
            if self.rest.is_empty() {
                self.take(text, &mut progress)?;
            } else {
                let mut whole = std::mem::take(&mut self.rest);
                whole.extend_from_slice(text);
                self.take(&whole, &mut progress)?;
            }
            if progress.failure.is_some() {
                break;
            }
        }
        self.rest.extend_from_slice(left);
        Ok(progress)
    }

    /// Read a page of a list; return the revision of the list, and the token of the next page, empty after the last.
    pub fn read_page(&mut self, body: &[u8]) -> Result<(u64, String), FeedError> {
        let text = Mirror::compact(body.trim_ascii());
        let no_list = || FeedError("the answer is no list".to_owned());
        let metadata = line::value(&text, br#""metadata""#).ok_or_else(no_list)?;
        let revision = line::revision(metadata).ok_or_else(no_list)?;
        let token = match line::value(metadata, br#""continue""#) {
            Some(token) => json::parse(token).ok().and_then(|found| found.value.as_str().map(str::to_owned)),
            None => None,
        };
        let mut items = line::value(&text, br#""items""#).unwrap_or(b"[]").get(1..).unwrap_or_default();
        while items.first() == Some(&b'{') {
            let end = scan::value_end(items).ok_or_else(no_list)?;
            let object = self.object(items.get(..end).unwrap_or_default())?;
            self.states.get_or_insert_default().push((object.key, object.revision, object.draft));
            items = items.get(end.saturating_add(1)..).unwrap_or_default();
        }
        Ok((revision, token.unwrap_or_default()))
    }

    /// Make the objects of a list the state at a revision; differences from the present one become events.
    pub fn complete(&mut self, revision: u64) {
        let states = self.states.take().unwrap_or_default();
        if self.loaded {
            self.shard.replace(states, revision, same_uid);
        } else {
            self.shard.load(states, revision);
            self.loaded = true;
        }
    }

    fn object(&self, text: &[u8]) -> Result<Mirrored, FeedError> {
        self.mirror.read_object(text).map_err(|why| FeedError(why.to_string()))
    }

    fn take(&mut self, text: &[u8], progress: &mut Progress) -> Result<(), FeedError> {
        let text = text.trim_ascii();
        if text.is_empty() {
            return Ok(());
        }
        let compact = Mirror::compact(text);
        let line = line::read(&compact).ok_or_else(|| FeedError("a line of the watch is no event".to_owned()))?;
        match line {
            Line::Failure(code, why) => progress.failure = Some((code, why)),
            Line::Bookmark(revision, ends) => match &self.states {
                Some(_) if ends => {
                    self.complete(revision);
                    progress.complete = true;
                }
                Some(_) => {}
                None => self.shard.progress(revision),
            },
            Line::Put(object) => {
                let Mirrored { key, revision, draft } = self.object(object)?;
                match &mut self.states {
                    Some(states) => states.push((key, revision, draft)),
                    None => drop(self.shard.apply(revision, &key, Change::Put(draft))),
                }
                progress.events = progress.events.saturating_add(1);
            }
            Line::Delete(object) => {
                let Mirrored { key, revision, .. } = self.object(object)?;
                match &mut self.states {
                    Some(states) => states.retain(|(other, ..)| *other != key),
                    None => drop(self.shard.apply(revision, &key, Change::Delete)),
                }
                progress.events = progress.events.saturating_add(1);
            }
        }
        Ok(())
    }
}
