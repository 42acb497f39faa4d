//! The log of a view on a disk.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use hydrofoil_engine::{Signal, stored};
use hydrofoil_log as log;
use hydrofoil_log::{Fault, Faults, Log, Options, Refusal, Submitted, Summary, Sync, Target};
use pyo3::prelude::*;

use crate::error::{DataError, Fallible, RefusedError, with_reason};
use crate::frame::apart;
use crate::handles::{Change, Durable, Encryption, ResourceType, Shard, Stored, View};

/// Return the conversions of objects.
fn transformers(encryption: Option<&Encryption>) -> log::Encryption {
    encryption.map(|encryption| Arc::clone(&encryption.0))
}

/// The number of a write, its new version, and why there is none.
type Outcome = (u64, Option<Stored>, Option<PyErr>);

fn log_error(error: log::LogError) -> PyErr {
    DataError::new_err(error.to_string())
}

fn refusal_error(refusal: Refusal) -> PyErr {
    let (reason, why) = match refusal {
        Refusal::Full(why) => ("full", why),
        Refusal::Halted(why) => ("halted", why),
        Refusal::Lost(why) => ("lost", why),
        Refusal::Unencrypted(why) => ("unencrypted", why),
    };
    with_reason::<RefusedError>(reason, &why)
}

/// An object that cannot be read: its key, why, whether it is decrypted, its revision.
type Faulty = (String, String, bool, u64);

fn faulty(fault: Fault) -> Faulty {
    (fault.place, fault.why, false, fault.revision)
}

/// Return the number of a write, or the negative one of a write under way.
fn write_number(submitted: Submitted) -> PyResult<i64> {
    match submitted {
        Submitted::Begun(id) => Ok(id as i64),
        Submitted::After(id) => Ok(-(id as i64)),
        Submitted::Refused(refusal) => Err(refusal_error(refusal)),
    }
}

#[pymethods]
impl Durable {
    #[new]
    #[pyo3(signature = (view, path, first, interval, encryption=None))]
    fn new(
        view: &View,
        path: PathBuf,
        first: u64,
        interval: Option<f64>,
        encryption: Option<&Encryption>,
    ) -> PyResult<Self> {
        let sync = match interval {
            Some(0.0) => Sync::Always,
            Some(seconds) => Sync::Interval(Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX)),
            None => Sync::Never,
        };
        let signal = Arc::new(Signal::new()?);
        let given = Arc::clone(&signal);
        let view = view.0.store();
        let options = Options { sync, first, transformers: transformers(encryption) };
        let opened = apart(usize::MAX, || Log::open(&path, view, options, Box::new(move || given.give())));
        Ok(Self(opened.map_err(log_error)?, signal))
    }

    fn submit(&self, change: &Change) -> PyResult<i64> {
        let Change(change, shard) = change;
        let target = Target {
            resource: Arc::clone(shard.name()),
            shard: Arc::clone(shard.store()),
            key: Arc::clone(change.key()),
        };
        let submit = || -> Fallible<_> {
            Ok(self.0.submit(target, change.precondition(), Arc::clone(change.kind()), || change.take())?)
        };
        write_number(submit()?)
    }

    fn discard(&self, shard: &Shard, resource: &ResourceType, key: &str, revision: u64) -> PyResult<i64> {
        let target =
            Target { resource: Arc::clone(shard.0.name()), shard: Arc::clone(shard.0.store()), key: Arc::from(key) };
        let discard = || -> Fallible<_> { Ok(self.0.discard(target, revision, Arc::clone(&resource.0))?) };
        write_number(discard()?)
    }

    fn write(&self) {
        self.0.write();
    }

    fn outcomes(&self) -> PyResult<Vec<Outcome>> {
        // First, so that outcomes of meanwhile are announced again.
        self.1.clear()?;
        let outcomes = self.0.outcomes().into_iter().map(|done| match done.outcome {
            Ok(version) => (done.id, Some(Stored(stored::Stored::new(&done.ticket, version))), None),
            Err(refusal) => (done.id, None, Some(refusal_error(refusal))),
        });
        Ok(outcomes.collect())
    }

    fn fileno(&self) -> i32 {
        self.1.fileno()
    }

    #[getter]
    fn revision(&self) -> u64 {
        self.0.revision()
    }

    fn problem(&self) -> String {
        self.0.problem().unwrap_or_default()
    }

    fn stale(&self, change: &Change) -> bool {
        let Change(change, shard) = change;
        self.0.is_stale(shard.name(), change.key(), change.precondition())
    }

    fn unread(&self) -> usize {
        self.0.unread()
    }

    fn fault(&self, name: &str, key: &str) -> Option<Faulty> {
        self.0.fault(name, key).map(faulty)
    }

    fn faults(&self, name: &str) -> Vec<Faulty> {
        self.0.faults(name).into_iter().map(faulty).collect()
    }

    fn read_again(&self) {
        apart(usize::MAX, || self.0.read_again());
    }

    fn compact(&self) {
        self.0.compact();
    }

    #[pyo3(signature = (*, delay=0.0, full=false, sync=false, torn=false))]
    fn fail(&self, delay: f64, full: bool, sync: bool, torn: bool) {
        let delay = Duration::try_from_secs_f64(delay).unwrap_or_default();
        self.0.fail(Faults { delay, full, sync, torn });
    }

    fn close(&self) {
        apart(usize::MAX, || self.0.close());
    }
}

fn summary(done: log::Result<Summary>) -> PyResult<(usize, u64)> {
    done.map(|found| (found.objects, found.revision)).map_err(log_error)
}

/// Read all of a folder and change nothing; return the number of objects, and the revision.
#[pyfunction]
#[pyo3(signature = (path, encryption=None))]
pub(crate) fn data_check(path: PathBuf, encryption: Option<&Encryption>) -> PyResult<(usize, u64)> {
    let encryption = transformers(encryption);
    summary(apart(usize::MAX, || log::check(&path, &encryption)))
}

/// Remove the history of a folder.
#[pyfunction]
#[pyo3(signature = (path, encryption=None))]
pub(crate) fn data_compact(path: PathBuf, encryption: Option<&Encryption>) -> PyResult<(usize, u64)> {
    let encryption = transformers(encryption);
    summary(apart(usize::MAX, || log::compact(&path, &encryption)))
}

/// Write the state of a folder to a file.
#[pyfunction]
#[pyo3(signature = (path, to, encryption=None))]
pub(crate) fn data_backup(path: PathBuf, to: PathBuf, encryption: Option<&Encryption>) -> PyResult<(usize, u64)> {
    let encryption = transformers(encryption);
    summary(apart(usize::MAX, || log::backup(&path, &to, &encryption)))
}

/// Write the objects of a folder to a file, as lines of JSON.
#[pyfunction]
#[pyo3(signature = (path, to, encryption=None))]
pub(crate) fn data_export(path: PathBuf, to: PathBuf, encryption: Option<&Encryption>) -> PyResult<(usize, u64)> {
    let encryption = transformers(encryption);
    summary(apart(usize::MAX, || log::export(&path, &to, &encryption)))
}

/// Make a folder of a backup, with revisions above `present`.
#[pyfunction]
#[pyo3(signature = (path_from, path, present, encryption=None))]
pub(crate) fn data_restore(
    path_from: PathBuf,
    path: PathBuf,
    present: u64,
    encryption: Option<&Encryption>,
) -> PyResult<(usize, u64)> {
    let encryption = transformers(encryption);
    summary(apart(usize::MAX, || log::restore(&path_from, &path, present, &encryption)))
}
