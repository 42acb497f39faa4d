//! An object during a write.

use std::sync::Arc;

use hydrofoil_engine::kind::ObjectKind;
use hydrofoil_engine::stored::Stored as Old;
use hydrofoil_engine::write;
use hydrofoil_types::{Causes, Value};
use parking_lot::Mutex;
use pyo3::prelude::*;

use crate::error::Fallible;
use crate::frame::{apart, seconds};
use crate::handles::{Clock, Conversions, Draft, Lifecycle, ObjectMeta, Stored};

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

/// Reason, message, field.
type CauseTuple = (&'static str, String, String);

fn tuples(causes: &Causes) -> Vec<CauseTuple> {
    causes.as_slice().iter().map(|c| (c.reason.wire(), c.message.to_string(), c.field.to_string())).collect()
}

#[pymethods]
impl Draft {
    fn seal(&self) {
        apart(usize::MAX, || self.0.lock().seal());
    }

    fn metadata(&self) -> ObjectMeta {
        let names = self.0.lock().metadata().map(str::to_owned);
        let [api_version, kind, name, generate_name, namespace, uid, resource_version] = names;
        ObjectMeta { api_version, kind, name, generate_name, namespace, uid, resource_version }
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

    #[pyo3(signature = (clock, namespace=None))]
    fn default(&self, clock: &Clock, namespace: Option<&str>) -> String {
        let now = clock.0.now();
        self.step(None, |draft, _| draft.default(namespace, now))
    }

    #[pyo3(signature = (clock, manager, old=None, subresource="", known=None))]
    fn track(
        &self,
        clock: &Clock,
        manager: &str,
        old: Option<&Stored>,
        subresource: &str,
        known: Option<&Conversions>,
    ) -> Fallible<()> {
        let (now, known) = (clock.0.now(), known.map(|known| &known.0));
        Ok(self.step(old, |draft, old| draft.track(old, manager, subresource, now, known))?)
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

    #[pyo3(signature = (clock, old=None, subresource=""))]
    fn prepare(&self, clock: &Clock, old: Option<&Stored>, subresource: &str) -> Fallible<()> {
        let now = clock.0.now();
        Ok(self.step(old, |draft, old| draft.prepare(old, subresource, now))?)
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

    /// Release the GIL: how long rules take does not depend on the size of the object alone.
    #[pyo3(signature = (old=None, subresource=""))]
    fn validate_apart(&self, old: Option<&Stored>, subresource: &str) -> Fallible<Vec<CauseTuple>> {
        let old = old.map(|old| &old.0);
        Ok(tuples(&apart(usize::MAX, || self.0.lock().validate(old, subresource))?))
    }

    #[pyo3(signature = (patience, old=None, subresource=""))]
    fn validate_within(
        &self,
        patience: f64,
        old: Option<&Stored>,
        subresource: &str,
    ) -> Fallible<Option<Vec<CauseTuple>>> {
        let time = seconds(patience);
        let found = self.step(old, |draft, old| draft.validate_within(time, old, subresource))?;
        Ok(found.as_ref().map(tuples))
    }

    #[pyo3(signature = (old=None))]
    fn cluster_ip_causes(&self, old: Option<&Stored>) -> Fallible<Vec<CauseTuple>> {
        Ok(tuples(&self.0.lock().cluster_ip_causes(old.map(|old| &old.0))?))
    }

    #[pyo3(signature = (old=None, subresource=""))]
    fn warnings(&self, old: Option<&Stored>, subresource: &str) -> Fallible<Vec<String>> {
        Ok(self.step(None, |draft, _| draft.warnings(old.map(|old| &old.0), subresource))?)
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
