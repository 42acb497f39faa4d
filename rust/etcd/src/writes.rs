//! The writes under way: a transaction each, and the event that it causes.

use std::collections::HashMap;
use std::sync::Arc;

use bytes::Bytes;
use hydrofoil_engine::kind::ObjectKind;
use hydrofoil_store as store;
use hydrofoil_store::Version;
use rustc_hash::FxHashMap;

use crate::client::Failure;
use crate::messages::TxnResponse;

/// A conditional write.
#[derive(Clone)]
pub struct Write {
    /// Its number.
    pub id: u64,
    /// The name of the resource.
    pub resource: Arc<str>,
    /// The key of the object in its collection.
    pub key: Arc<str>,
    /// The version that it replaces or deletes; `None` if the object must not exist.
    pub old: Option<Arc<Version>>,
    /// The revision of an object that cannot be read, and that it deletes; 0 for every other write.
    pub unread: u64,
    /// The object; `None` if it is deleted.
    pub draft: Option<store::Draft>,
    /// The kind of the object.
    pub kind: Arc<dyn ObjectKind>,
}

impl std::fmt::Debug for Write {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Write").field("id", &self.id).field("key", &self.key).finish_non_exhaustive()
    }
}

impl Write {
    /// Return the revision at which the object must be; 0 if it must not exist.
    pub(crate) fn precondition(&self) -> u64 {
        self.old.as_ref().map_or(self.unread, |old| old.revision())
    }
}

/// The result of a write, a question or a load.
#[derive(Clone, Debug)]
pub enum Outcome {
    /// The new version, or the last state of a deleted object.
    Made(Arc<dyn ObjectKind>, Arc<Version>),
    /// The latest revision.
    Revision(u64),
    /// The collection is loaded.
    Loaded,
    /// It was refused or failed: the kind of the failure, and why.
    Failed(&'static str, String),
}

/// The end of a write, a question or a load.
#[derive(Debug)]
pub struct Done {
    /// Its number.
    pub id: u64,
    /// Its result.
    pub outcome: Outcome,
}

/// A write under way.
#[derive(Debug)]
struct Pending {
    write: Write,
    /// The key in etcd.
    at: Bytes,
    /// The bytes of the new object.
    value: Option<Bytes>,
    /// The revision that etcd gave it.
    given: Option<u64>,
    /// The versions that events of the key made meanwhile.
    made: Vec<Arc<Version>>,
}

/// The writes under way.
#[derive(Debug, Default)]
pub(crate) struct Writes {
    pending: FxHashMap<u64, Pending>,
    /// The numbers of the writes to each key, which a client chooses: the hash has a secret.
    by_key: HashMap<Bytes, Vec<u64>>,
}

/// The meaning of the answer to a transaction for its write.
#[derive(Debug)]
pub(crate) enum Answer {
    /// It is over.
    Done(Outcome),
    /// It was done, and its event will come.
    Given(u64),
    /// The view shows its outcome at a revision.
    Shown(u64, Outcome),
}

impl Writes {
    pub(crate) fn begin(&mut self, write: Write, at: Bytes, value: Option<Bytes>) {
        self.by_key.entry(at.clone()).or_default().push(write.id);
        self.pending.insert(write.id, Pending { write, at, value, given: None, made: Vec::new() });
    }

    /// Return the object of a write that wrote these bytes: it need not be decoded.
    pub(crate) fn own(&self, at: &Bytes, value: &[u8]) -> Option<store::Draft> {
        let own = |id: &u64| self.pending.get(id).filter(|p| p.value.as_deref() == Some(value));
        self.by_key.get(at)?.iter().find_map(own)?.write.draft.clone()
    }

    /// Record the version that an event made; return the write that it completes.
    pub(crate) fn event(&mut self, at: &Bytes, made: &Arc<Version>) -> Option<Done> {
        let ids = self.by_key.get(at)?.clone();
        let mut completed = None;
        for id in ids {
            let Some(pending) = self.pending.get_mut(&id) else { continue };
            if pending.given == Some(made.revision()) {
                completed = Some(id);
            } else {
                pending.made.push(Arc::clone(made));
            }
        }
        let id = completed?;
        let pending = self.remove(id)?;
        Some(Done { id, outcome: Outcome::Made(pending.write.kind, Arc::clone(made)) })
    }

    /// Take the answer to the transaction of a write.
    pub(crate) fn take_answer(&mut self, id: u64, answer: Result<TxnResponse, Failure>) -> Option<Answer> {
        let answer = match answer {
            Ok(answer) => answer,
            Err(why) => {
                self.remove(id)?;
                let kind = match why {
                    Failure::Lost(_) => "unknown",
                    Failure::Unsent(_) => "unavailable",
                    Failure::Refused(_) | Failure::Compacted => "refused",
                };
                return Some(Answer::Done(Outcome::Failed(kind, why.text().to_owned())));
            }
        };
        let revision = answer.revision();
        if !answer.succeeded {
            let pending = self.remove(id)?;
            let present = answer.present().map(|kv| kv.mod_revision as u64);
            let kind = match (pending.write.precondition(), present) {
                (0, _) => "exists",
                (_, None) => "missing",
                _ => "conflict",
            };
            let shown = present.unwrap_or(revision);
            return Some(Answer::Shown(shown, Outcome::Failed(kind, String::new())));
        }
        if self.pending.get(&id).is_some_and(|pending| pending.write.unread > 0) {
            // Its event makes no version.
            let write = self.remove(id)?.write;
            let last = Version::unread(&write.key, revision);
            return Some(Answer::Shown(revision, Outcome::Made(write.kind, Arc::new(last))));
        }
        let pending = self.pending.get_mut(&id)?;
        if let Some(made) = pending.made.iter().find(|made| made.revision() == revision).cloned() {
            let pending = self.remove(id)?;
            return Some(Answer::Done(Outcome::Made(pending.write.kind, made)));
        }
        pending.given = Some(revision);
        Some(Answer::Given(revision))
    }

    /// Complete the writes to a collection up to a revision whose events did not come: its state was read instead.
    pub(crate) fn settle(&mut self, resource: &str, revision: u64) -> Vec<Done> {
        let over = |p: &Pending| &*p.write.resource == resource && p.given.is_some_and(|given| given <= revision);
        let ids: Vec<u64> = self.pending.iter().filter(|(_, p)| over(p)).map(|(id, _)| *id).collect();
        ids.into_iter().filter_map(|id| Some(Done { id, outcome: self.remove(id)?.outside() })).collect()
    }

    /// Fail all writes under way: whether they are done is not known any more.
    pub(crate) fn give_up(&mut self, why: &str) -> Vec<Done> {
        self.by_key.clear();
        let failed = |(id, _)| Done { id, outcome: Outcome::Failed("unknown", why.to_owned()) };
        self.pending.drain().map(failed).collect()
    }

    fn remove(&mut self, id: u64) -> Option<Pending> {
        let pending = self.pending.remove(&id)?;
        if let Some(ids) = self.by_key.get_mut(&pending.at) {
            ids.retain(|other| *other != id);
            if ids.is_empty() {
                self.by_key.remove(&pending.at);
            }
        }
        Some(pending)
    }
}

impl Pending {
    /// Return the version that the write made, outside of the view, which has a later one.
    fn outside(self) -> Outcome {
        let Self { write, given, .. } = self;
        let draft = write.draft.or_else(|| write.old.map(|old| old.draft()));
        match (draft, given) {
            (Some(draft), Some(given)) => {
                let made = Version::detach(&write.key, given, draft);
                Outcome::Made(write.kind, Arc::new(made))
            }
            _ => Outcome::Failed("unknown", "the event of the write was lost".to_owned()),
        }
    }
}
