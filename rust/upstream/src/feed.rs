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
    /// Whether their version is below that of the shard, which stays as it was.
    pub rewound: bool,
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

    /// Make the objects of a list the state at a revision; differences from the present one become events. Return whether
    /// that was done: no event can be at a revision that readers have passed.
    pub fn complete(&mut self, revision: u64) -> bool {
        let states = self.states.take().unwrap_or_default();
        if self.loaded && revision < self.shard.revision() {
            return false;
        }
        if self.loaded {
            self.shard.replace(states, revision, same_uid);
        } else {
            self.shard.load(states, revision);
            self.loaded = true;
        }
        true
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
                    progress.complete = self.complete(revision);
                    progress.rewound = !progress.complete;
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

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use hydrofoil_engine::kind::{Catalog, Mirror};
    use hydrofoil_schema::Release;
    use hydrofoil_store::{Limits, Shard, View};
    use hydrofoil_types::Clock;

    use super::{Feed, Progress};

    const CATALOG: &[u8] = include_bytes!("../../../python/hydrofoil/apis/data/catalog.json");

    fn feed() -> (Feed, Arc<Shard>) {
        let catalog = Catalog::parse(CATALOG, Release::new(36, [])).expect("the package data");
        let mirror = Arc::new(Mirror::new(&catalog.resource("", "v1", "pods").expect("pods")));
        let view = View::new(Limits::default(), None, Arc::new(Clock::default()));
        let shard = view.shard("pods");
        (Feed::new(Arc::clone(&shard), mirror, false), shard)
    }

    fn pod(name: &str, revision: u64, more: &str) -> String {
        let metadata = format!(
            r#""metadata":{{"name":"{name}","namespace":"n","uid":"u-{name}","resourceVersion":"{revision}"}}"#
        );
        format!(r#"{{"kind":"Pod","apiVersion":"v1",{metadata}{more}}}"#)
    }

    fn line(kind: &str, object: &str) -> String {
        format!("{{\"type\":\"{kind}\",\"object\":{object}}}\n")
    }

    fn bookmark(revision: u64, ends: bool) -> String {
        let more = if ends { r#","annotations":{"k8s.io/initial-events-end":"true"}"# } else { "" };
        line("BOOKMARK", &format!(r#"{{"kind":"Pod","metadata":{{"resourceVersion":"{revision}"{more}}}}}"#))
    }

    fn json(shard: &Shard, key: &str) -> Option<String> {
        shard.get(key).map(|version| String::from_utf8(version.json().to_vec()).expect("text"))
    }

    #[test]
    fn a_list_is_complete_with_its_bookmark_and_events_follow() {
        let (mut feed, shard) = feed();
        feed.begin(true);
        let known = pod("a", 5, r#","spec":{"nodeName":"x","later":{"b":1.50,"a":[ ]}}"#);
        let text = [line("ADDED", &known), bookmark(7, true)].concat();
        // The bytes arrive in any pieces.
        let mut made = Progress::default();
        for (at, piece) in text.as_bytes().chunks(7).enumerate() {
            assert_eq!((at > 0, shard.size().0), (at > 0, 0), "nothing is shown before the end");
            made = feed.read(piece).expect("events");
        }
        assert!(made.complete);
        assert_eq!(json(&shard, "n/a"), Some(known), "with members that the schema does not know");
        assert_eq!(
            (shard.revision(), shard.get("n/a").map(|v| v.fields().to_vec()).map(|f| f.contains(&"x".into()))),
            (7, Some(true))
        );
        let text = [line("MODIFIED", &pod("a", 8, "")), line("ADDED", &pod("b", 9, "")), bookmark(12, false)].concat();
        assert_eq!(feed.read(text.as_bytes()).expect("events").events, 2);
        assert_eq!((shard.size().0, shard.revision()), (2, 12));
        feed.read(line("DELETED", &pod("a", 13, "")).as_bytes()).expect("an event");
        assert_eq!((json(&shard, "n/a"), shard.size().0, shard.revision()), (None, 1, 13));
    }

    #[test]
    fn pages_are_one_state() {
        let (mut feed, shard) = feed();
        feed.begin(true);
        let item = r#"{"metadata": {"name": "a", "namespace": "n", "resourceVersion": "3"}, "status": {}}"#;
        let first = format!(
            r#"{{"kind": "PodList", "metadata": {{"resourceVersion": "9", "continue": "t=\u003d"}}, "items": [{item}]}}"#
        );
        assert_eq!(feed.read_page(first.as_bytes()).expect("a page"), (9, "t==".to_owned()));
        let last = format!(
            r#"{{"kind":"PodList","metadata":{{"resourceVersion":"9"}},"items":[{},{}]}}"#,
            pod("b", 4, ""),
            pod("c", 9, "")
        );
        assert_eq!(feed.read_page(last.as_bytes()).expect("a page"), (9, String::new()));
        assert!(feed.complete(9));
        assert_eq!((shard.size().0, shard.revision()), (3, 9));
        let typed = r#"{"kind":"Pod","apiVersion":"v1","metadata":{"name":"a","namespace":"n","resourceVersion":"3"},"status":{}}"#;
        assert_eq!(json(&shard, "n/a").as_deref(), Some(typed), "as a single object is written");
    }

    #[test]
    fn a_version_below_that_of_the_shard_is_refused() {
        let (mut feed, shard) = feed();
        feed.begin(true);
        feed.read([line("ADDED", &pod("a", 5, "")), bookmark(7, true)].concat().as_bytes()).expect("a list");
        feed.begin(true);
        let made = feed.read(bookmark(6, true).as_bytes()).expect("a list");
        assert_eq!((made.complete, made.rewound, shard.size().0), (false, true, 1));
        feed.begin(true);
        assert!(feed.read(bookmark(8, true).as_bytes()).expect("a list").complete);
        assert_eq!((shard.size().0, shard.revision()), (0, 8));
    }

    #[test]
    fn what_is_no_event_is_an_error() {
        for text in ["{}\n", "x\n", "{\"type\":\"ADDED\",\"object\":{\"metadata\":{}}}\n"] {
            let (mut feed, _) = feed();
            feed.begin(false);
            assert!(feed.read(text.as_bytes()).is_err(), "{text}");
        }
        let (mut feed, _) = feed();
        let made = feed.read(line("ERROR", r#"{"kind":"Status","code":410,"message":"old"}"#).as_bytes());
        assert_eq!(made.expect("an error is an event").failure, Some((410, r#""old""#.to_owned())));
    }
}
