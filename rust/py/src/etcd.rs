//! The log of a view in etcd.

use std::path::PathBuf;
use std::sync::Arc;

use hydrofoil_engine::{Signal, stored};
use hydrofoil_etcd::{Fault, Followed, Log, Options, Outcome, Unread, Write};
use pyo3::prelude::*;

use crate::error::{DataError, Fallible, RefusedError, with_reason};
use crate::frame::{apart, seconds};
use crate::handles::{Change, Clock, Encryption, Etcd, ResourceType, Shard, Stored, View};

/// A number, the new version, the latest revision, and why there is neither: the kind of the failure, and a text.
type Ended = (u64, Option<Stored>, u64, Option<PyErr>);

/// An object that cannot be read: its key, why, whether it is decrypted, its revision.
type Faulty = (String, String, bool, u64);

fn faulty(fault: Fault) -> Faulty {
    let (why, decrypted) = match fault.why {
        Unread::Sealed(why) => (why, false),
        Unread::Undecoded(why) => (why, true),
    };
    (fault.place, why, decrypted, fault.revision)
}

#[pymethods]
impl Etcd {
    #[new]
    #[pyo3(signature = (view, clock, servers, prefix, authority=None, identity=None, event_ttl=0.0, compaction=0.0, encryption=None))]
    #[allow(clippy::too_many_arguments, reason = "they are flags")]
    fn new(
        view: &View,
        clock: &Clock,
        servers: Vec<String>,
        prefix: String,
        authority: Option<PathBuf>,
        identity: Option<(PathBuf, PathBuf)>,
        event_ttl: f64,
        compaction: f64,
        encryption: Option<&Encryption>,
    ) -> PyResult<Self> {
        let (event_ttl, compaction) = (seconds(event_ttl), seconds(compaction));
        let transformers = encryption.map(|encryption| Arc::clone(&encryption.0));
        let options = Options { servers, prefix, authority, identity, event_ttl, compaction, transformers };
        let signal = Arc::new(Signal::new()?);
        let given = Arc::clone(&signal);
        let (view, clock) = (view.0.store(), &clock.0);
        let opened = apart(usize::MAX, || Log::open(view, clock, options, Box::new(move || given.give())));
        Ok(Self(opened.map_err(|why| DataError::new_err(why.to_string()))?, signal))
    }

    fn follow(&self, id: u64, view: &View, name: &str, resource: &ResourceType) {
        let shard = view.0.shard(name);
        let (objects, kind) = (Arc::clone(shard.store()), Arc::clone(&resource.0));
        let followed = Followed {
            name: Arc::clone(shard.name()),
            shard: objects,
            kind,
            adapt: Arc::new(move |key, draft| shard.adapt(key, draft)),
        };
        self.0.follow(id, followed);
    }

    fn submit(&self, id: u64, change: &Change) -> Fallible<()> {
        let Change(change, shard) = change;
        let draft = match change.take()? {
            hydrofoil_store::Change::Put(draft) => Some(draft),
            hydrofoil_store::Change::Delete => None,
        };
        self.0.write(Write {
            id,
            resource: Arc::clone(shard.name()),
            key: Arc::clone(change.key()),
            old: change.old().cloned(),
            unread: 0,
            draft,
            kind: Arc::clone(change.kind()),
        });
        Ok(())
    }

    fn discard(&self, id: u64, shard: &Shard, resource: &ResourceType, key: &str, revision: u64) {
        self.0.write(Write {
            id,
            resource: Arc::clone(shard.0.name()),
            key: Arc::from(key),
            old: None,
            unread: revision,
            draft: None,
            kind: Arc::clone(&resource.0),
        });
    }

    fn ask(&self, id: u64) {
        self.0.ask(id);
    }

    fn started(&self) {
        self.0.finish_start();
    }

    fn outcomes(&self) -> PyResult<Vec<Ended>> {
        // First, so that outcomes of meanwhile are announced again.
        self.1.clear()?;
        let ended = self.0.outcomes().into_iter().map(|done| match done.outcome {
            Outcome::Made(kind, version) => (done.id, Some(Stored(stored::Stored::new(&kind, version))), 0, None),
            Outcome::Revision(revision) => (done.id, None, revision, None),
            Outcome::Loaded => (done.id, None, 0, None),
            Outcome::Failed(kind, why) => (done.id, None, 0, Some(with_reason::<RefusedError>(kind, &why))),
        });
        Ok(ended.collect())
    }

    fn fileno(&self) -> i32 {
        self.1.fileno()
    }

    #[getter]
    fn read(&self) -> usize {
        self.0.read()
    }

    fn problem(&self) -> String {
        self.0.problem()
    }

    fn fault(&self, name: &str, key: &str) -> Option<Faulty> {
        self.0.fault(name, key).map(faulty)
    }

    fn faults(&self, name: &str) -> Vec<Faulty> {
        self.0.faults(name).into_iter().map(faulty).collect()
    }

    fn stale(&self, change: &Change) -> bool {
        let Change(change, shard) = change;
        self.0.is_stale(shard.name(), change.key(), change.precondition())
    }

    fn close(&self) {
        apart(usize::MAX, || self.0.close());
    }
}
