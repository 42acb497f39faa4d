//! Versions of the past: their texts are made when they are asked for.

#![allow(clippy::arithmetic_side_effects, reason = "it counts bytes that are in memory")]

use std::sync::atomic::{AtomicU64, AtomicUsize};
use std::sync::{Arc, OnceLock};

use parking_lot::Mutex;

use super::delta::{pack, unpack};
use super::{Kept, Version};

/// The bytes of a text below which its difference to another one saves nothing.
const LEAST: usize = 512;

/// How many texts have to be made for the one that is asked for, at most.
const DEPTH: usize = 8;

/// The text of a version that is only history: objects change little at a time.
#[derive(Debug)]
pub(super) struct Past {
    /// The next version, which may be one of the past by now.
    next: Mutex<Arc<Version>>,
    difference: Box<[u8]>,
    length: usize,
    /// How many versions before it need it for their texts.
    depth: usize,
}

impl Past {
    /// Return the text.
    pub(super) fn text(&self) -> Box<[u8]> {
        let next = Arc::clone(&self.next.lock());
        unpack(&self.difference, next.json(), self.length).into_boxed_slice()
    }

    /// Return the bytes that it takes.
    pub(super) fn size(&self) -> usize {
        self.difference.len() + size_of::<Self>()
    }
}

impl Version {
    /// Return the version in a form that has only the difference to the next one; `None` if that saves little. `before`
    /// is the version before it.
    pub(crate) fn shrink(&self, next: &Arc<Self>, before: Option<&Self>, history: &Arc<AtomicUsize>) -> Option<Self> {
        let before = before.and_then(|before| before.past.as_deref());
        let depth = before.map_or(0, |past| past.depth + 1);
        if depth >= DEPTH || self.past.is_some() || self.json().len() < LEAST || self.others.get().is_some() {
            return None;
        }
        let difference = pack(self.json(), next.json())?;
        let past = Past { next: Mutex::new(Arc::clone(next)), difference, length: self.json().len(), depth };
        Some(Self {
            key: Arc::clone(&self.key),
            revision: self.revision,
            json: OnceLock::new(),
            past: Some(Box::new(past)),
            rv_at: self.rv_at,
            head: self.head,
            labels: self.labels.clone(),
            fields: self.fields.clone(),
            binary: OnceLock::new(),
            fingerprint: self.fingerprint,
            others: OnceLock::new(),
            kept: Mutex::new(Kept { bytes: 0, history: Some(Arc::clone(history)) }),
            event: AtomicU64::new(self.event()),
        })
    }

    /// Take a version in place of the next one, which it is a form of.
    pub(crate) fn follow(&self, next: &Arc<Self>) {
        if let Some(past) = &self.past {
            *past.next.lock() = Arc::clone(next);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use hydrofoil_types::Fingerprint;

    use super::{DEPTH, Version};
    use crate::Draft;

    fn version(revision: u64) -> Arc<Version> {
        let json = format!(r#"{{"metadata":{{"resourceVersion":""}},"data":"{}{revision}"}}"#, "text ".repeat(200));
        let draft = Draft {
            json: json.into_bytes(),
            given: None,
            rv_at: r#"{"metadata":{"resourceVersion":""#.len(),
            head: 0,
            labels: Box::default(),
            fields: Box::default(),
            fingerprint: Fingerprint::BUILTIN,
        };
        Arc::new(Version::new(Arc::from("a"), revision, draft, None))
    }

    /// Each version but the last one is shrunk, the oldest first, as a history does.
    #[test]
    fn texts_are_made_from_the_next_versions() {
        let whole: Vec<_> = (1..30).map(version).collect();
        let history = Arc::new(AtomicUsize::new(0));
        let mut small: Vec<Arc<Version>> = Vec::new();
        for (one, next) in whole.iter().zip(&whole[1..]) {
            let before = small.last().cloned();
            let Some(made) = one.shrink(next, before.as_deref(), &history) else {
                small.push(Arc::clone(one));
                continue;
            };
            let made = Arc::new(made);
            if let Some(before) = before {
                before.follow(&made);
            }
            small.push(made);
        }
        let kept = small.iter().filter(|version| version.past.is_none()).count();
        assert_eq!(kept, small.len() / (DEPTH + 1), "some are whole, so that few are made for one");
        assert!(small.iter().filter(|v| v.past.is_some()).all(|v| v.size() < 500 && whole[0].size() > 1000));
        drop(whole.into_iter().take(20));
        for (at, version) in small.iter().enumerate().rev() {
            let revision = at + 1;
            let text = String::from_utf8_lossy(version.json()).into_owned();
            assert!(text.contains(&format!(r#""resourceVersion":"{revision}""#)), "{text}");
            assert!(text.ends_with(&format!(r#"text {revision}"}}"#)), "{text}");
        }
        assert!(history.load(Ordering::Relaxed) > 20_000, "a text that was made counts");
    }
}
