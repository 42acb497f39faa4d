//! An object during a write.

use std::sync::Arc;

use hydrofoil_engine::kind::ObjectKind;
use hydrofoil_engine::stored::Stored as Old;
use hydrofoil_engine::write;
use hydrofoil_types::Value;
use parking_lot::Mutex;
use pyo3::prelude::*;

use crate::causes::{CauseTuple, tuples};
use crate::error::Fallible;
use crate::frame::apart;
use crate::handles::{Clock, Draft, Lifecycle, ObjectMeta, Stored};
use crate::step::{PrepareResult, ReadResult, Step, Work};

impl Draft {
    /// Return an object that was sent in the given number of bytes.
    pub(crate) fn new(kind: &Arc<dyn ObjectKind>, value: Value, size: usize) -> Self {
        Self(Mutex::new(write::Draft::new(Arc::clone(kind), value)), size)
    }

    /// Return the result of an apply.
    pub(crate) fn of_apply(kind: &Arc<dyn ObjectKind>, value: Value, size: usize) -> Self {
        Self(Mutex::new(write::Draft::of_apply(Arc::clone(kind), value)), size)
    }

    /// Run a step that reads the object and the old one.
    fn step<T: Send>(&self, old: Option<&Stored>, step: impl FnOnce(&mut write::Draft, Option<&Old>) -> T + Send) -> T {
        let old = old.map(|old| &old.0);
        apart(self.1 + old.map_or(0, Old::size), || step(&mut self.0.lock(), old))
    }
}

#[pymethods]
impl Draft {
    fn seal(&self) {
        apart(usize::MAX, || self.0.lock().seal());
    }

    pub(crate) fn metadata(&self) -> ObjectMeta {
        let names = self.0.lock().metadata().map(str::to_owned);
        let [api_version, kind, name, generate_name, namespace, uid, resource_version] = names;
        ObjectMeta { api_version, kind, name, generate_name, namespace, uid, resource_version }
    }

    #[getter]
    fn size(&self) -> usize {
        self.1
    }

    #[getter]
    fn uid(&self) -> String {
        self.0.lock().metadata()[5].to_owned()
    }

    #[getter]
    fn resource_version(&self) -> String {
        self.0.lock().metadata()[6].to_owned()
    }

    /// Name and prefix of a generated name.
    #[getter]
    fn names(&self) -> (String, String) {
        let draft = self.0.lock();
        let [_, _, name, generate_name, ..] = draft.metadata();
        (name.to_owned(), generate_name.to_owned())
    }

    fn lifecycle(&self) -> Lifecycle {
        let (generation, deletion_timestamp, grace_period, finalizers) = self.0.lock().lifecycle();
        Lifecycle { generation, deletion_timestamp, grace_period, finalizers }
    }

    fn fork(&self) -> Self {
        Self(Mutex::new(self.step(None, |draft, _| draft.fork())), self.1)
    }

    fn get(&self, path: Vec<String>) -> Option<Vec<u8>> {
        self.0.lock().get(&path.iter().map(String::as_str).collect::<Vec<_>>())
    }

    fn set(&self, path: Vec<String>, data: Option<&[u8]>) -> Fallible<()> {
        Ok(self.0.lock().set(&path.iter().map(String::as_str).collect::<Vec<_>>(), data)?)
    }

    fn set_type(&self) {
        self.0.lock().set_type();
    }

    fn default(&self, clock: &Clock) {
        let now = clock.0.now();
        self.step(None, |draft, _| draft.default(None, now));
    }

    /// Return the step that begins the creation of an object.
    fn read_new(slf: Py<Self>, clock: &Clock, namespace: &str, manager: &str) -> Step {
        Step::new(Work::Read(write::Read::new(Some(namespace), manager, "", clock.0.now()), slf, None))
    }

    /// Return the step that begins an update.
    fn read_update(slf: Py<Self>, clock: &Clock, old: Py<Stored>, manager: &str, subresource: &str) -> Step {
        Step::new(Work::Read(write::Read::new(None, manager, subresource, clock.0.now()), slf, Some(old)))
    }

    fn fill_metadata(&self, clock: &Clock, name: &str, uid: &str) {
        self.0.lock().fill_metadata(name, uid, clock.0.now());
    }

    fn keep_metadata(&self, old: &Stored) -> Fallible<()> {
        Ok(self.0.lock().keep_metadata(&old.0)?)
    }

    fn keep_allocated(&self, old: &Stored) -> Fallible<()> {
        Ok(self.0.lock().keep_allocated(&old.0)?)
    }

    /// Return the step that prepares and validates an object.
    #[pyo3(signature = (clock, old=None, subresource="", validates=true))]
    fn prepare(slf: Py<Self>, clock: &Clock, old: Option<Py<Stored>>, subresource: &str, validates: bool) -> Step {
        Step::new(Work::Prepare(write::Prepare::new(subresource, clock.0.now(), validates), slf, old))
    }

    /// Do all steps of an update but its admission and its commit.
    fn revise(
        &self,
        clock: &Clock,
        old: &Stored,
        manager: &str,
        subresource: &str,
        validates: bool,
    ) -> Fallible<(ReadResult, PrepareResult)> {
        let now = clock.0.now();
        let (read, prepared) = self.0.lock().revise(&old.0, manager, subresource, now, validates)?;
        Ok((read.into(), prepared.into()))
    }

    /// Return a copy of a new object under a name of its own, prepared.
    fn replicate(&self, clock: &Clock, name: &str, uid: &str) -> Fallible<(Self, PrepareResult)> {
        let (copy, prepared) = self.0.lock().replicate(name, uid, clock.0.now())?;
        Ok((Self(Mutex::new(copy), self.1), prepared.into()))
    }

    /// Assign a pod to a node; return why not: `deletion`, `gates`, or `node` and its name.
    fn assign_node(&self, node: &str, moment: &str) -> Option<(&'static str, String)> {
        match self.0.lock().assign_node(node, moment) {
            Ok(()) => None,
            Err(write::Hindrance::Deletion) => Some(("deletion", String::new())),
            Err(write::Hindrance::Gates) => Some(("gates", String::new())),
            Err(write::Hindrance::Node(name)) => Some(("node", name)),
        }
    }

    fn merge_status(&self, report: &[u8]) -> Fallible<()> {
        Ok(self.0.lock().merge_status(report)?)
    }

    #[pyo3(signature = (clock, manager, subresource=""))]
    fn set_managed_fields(&self, clock: &Clock, manager: &str, subresource: &str) -> Fallible<()> {
        let now = clock.0.now();
        Ok(self.step(None, |draft, _| draft.set_managed_fields(manager, subresource, now))?)
    }

    fn dedup_owners(&self) -> Vec<String> {
        self.step(None, |draft, _| draft.dedup_owners())
    }

    #[pyo3(signature = (old=None, subresource=""))]
    fn validate(&self, old: Option<&Stored>, subresource: &str) -> Fallible<Vec<CauseTuple>> {
        Ok(tuples(&self.step(old, |draft, old| draft.validate(old, subresource))?))
    }

    #[pyo3(signature = (old=None))]
    fn cluster_ip_causes(&self, old: Option<&Stored>) -> Fallible<Vec<CauseTuple>> {
        Ok(tuples(&self.0.lock().cluster_ip_causes(old.map(|old| &old.0))?))
    }

    fn prepare_warnings(&self) -> Vec<String> {
        self.0.lock().prepare_warnings()
    }

    fn to_convert(&self) -> Option<Vec<u8>> {
        self.step(None, |draft, _| draft.to_convert())
    }

    fn set_converted(&self, json: &[u8]) -> Fallible<()> {
        Ok(self.0.lock().set_converted(json)?)
    }

    fn replace(&self, json: &[u8]) -> Fallible<()> {
        Ok(apart(self.1 + json.len(), || self.0.lock().replace(json))?)
    }

    fn json(&self) -> Vec<u8> {
        self.step(None, |draft, _| draft.json())
    }

    fn protobuf(&self) -> Vec<u8> {
        self.step(None, |draft, _| draft.protobuf())
    }

    fn preview(&self, revision: u64) -> Fallible<Stored> {
        Ok(Stored(self.step(None, |draft, _| draft.preview(revision))?))
    }
}
