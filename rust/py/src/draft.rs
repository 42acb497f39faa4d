//! An object while it is being written.

use std::borrow::Cow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use hydrofoil_codec::{json, proto};
use hydrofoil_merge::{ManagedRequest, track_update};
use hydrofoil_schema::{Request, custom, default, prepare, validate, warn};
use hydrofoil_types::{Again, Causes, MetaView, Timestamp, Value, Whole};
use parking_lot::Mutex;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::apart::apart;
use crate::clock::Clock;
use crate::custom::Custom;
use crate::error::decode_error;
use crate::stored::Stored;
use crate::typed::{Cell, Typed};

/// A mutable object of a known type, in loose form.
#[pyclass(frozen)]
pub(crate) struct Draft {
    pub(crate) typed: Arc<Typed>,
    pub(crate) value: Cell,
    /// About how many bytes it is written in: what working on it costs.
    size: usize,
    /// The object as a webhook converted it for the store.
    converted: Mutex<Option<Value>>,
    /// What validation let pass with a warning.
    passed: Mutex<Vec<String>>,
    /// Whether a new object came without labels.
    unlabelled: AtomicBool,
    /// The object as the store takes it, made ahead of the commit.
    sealed: Mutex<Option<hydrofoil_store::Draft>>,
}

impl Draft {
    /// An object that came in so many bytes.
    pub(crate) fn new(typed: Arc<Typed>, value: Value, size: usize) -> Self {
        Self {
            typed,
            value: Cell::new(value),
            size,
            converted: Mutex::default(),
            passed: Mutex::default(),
            unlabelled: AtomicBool::new(false),
            sealed: Mutex::default(),
        }
    }

    /// The object as the store takes it.
    pub(crate) fn stored(&self) -> hydrofoil_store::Draft {
        if let Some(sealed) = self.sealed.lock().take() {
            return sealed;
        }
        self.encoded()
    }

    fn encoded(&self) -> hydrofoil_store::Draft {
        match &*self.converted.lock() {
            Some(converted) => self.typed.stored_draft(converted),
            None => self.typed.stored_draft(&self.value.lock()),
        }
    }

    fn own_changes(&self, old: Option<&Value>, new: &mut Value, manager: &str, subresource: &str, now: Timestamp) {
        if manager.is_empty() {
            return;
        }
        let now = now.rfc3339();
        let typed = &*self.typed;
        let request =
            ManagedRequest { manager, api_version: &typed.api_version, subresource, now: &now, versions: typed };
        track_update(self.typed.owned(), old, new, &request, self.typed.reset_fields(subresource));
    }

    /// What `default` does.
    fn complete(&self, namespace: Option<&str>, now: Timestamp) -> String {
        // A custom resource has to say itself what it is, and has its defaults since it was read.
        if self.typed.custom.is_none() {
            self.set_type();
        }
        let mut value = self.value.lock();
        let version = MetaView::of(&value).resource_version().to_owned();
        if let Some(namespace) = namespace {
            let meta = value.object_at_mut(&["metadata"]);
            for gone in ["selfLink", "deletionTimestamp", "deletionGracePeriodSeconds", "resourceVersion"] {
                meta.remove(gone);
            }
            if namespace.is_empty() {
                meta.remove("namespace");
            } else {
                meta.set("namespace", namespace);
            }
        }
        if self.typed.custom.is_some() {
            return version;
        }
        if namespace.is_some() {
            let unlabelled = value.get("metadata").and_then(|m| m.get("labels")).is_none_or(Value::is_zero);
            self.unlabelled.store(unlabelled, Ordering::Relaxed);
        }
        default::apply(&self.typed.kind, &mut value, now);
        version
    }

    /// What `keep_metadata` does.
    fn take_over(&self, old: &Stored) -> PyResult<()> {
        let revision = old.version.revision();
        let old = old.value(&self.typed)?;
        let mut value = self.value.lock();
        let before = MetaView::of(&old);
        let meta = value.object_at_mut(&["metadata"]);
        for kept in ["generation", "creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds", "namespace"]
        {
            let given = meta.get(kept).cloned();
            match (before.get(kept), given) {
                // A changed time of deletion is refused by validation; only an absent one is filled.
                (Some(was), Some(now)) if kept.starts_with("deletion") && *was != now => {}
                (None, Some(_)) if kept.starts_with("deletion") => {}
                (Some(was), _) => meta.set(kept, was.clone()),
                (None, _) => drop(meta.remove(kept)),
            }
        }
        if meta.str("uid").is_empty() {
            meta.set("uid", before.uid());
        }
        meta.remove("selfLink");
        // An update without a version is one of the present version.
        if matches!(meta.str("resourceVersion"), "" | "0") {
            meta.set("resourceVersion", revision.to_string());
        }
        Ok(())
    }

    /// What `prepare` does.
    fn arrange(&self, old: Option<&Stored>, subresource: &str, now: Timestamp) -> PyResult<()> {
        let old = self.old_value(old)?;
        let mut value = self.value.lock();
        match (&self.typed.custom, old.as_deref()) {
            (Some(c), Some(old)) => custom::begin_update(c.version(), subresource, &mut value, old),
            (Some(c), None) => custom::begin_create(c.version(), &mut value),
            (None, old) => {
                let request = Request { kind: &self.typed.kind, subresource, old };
                match old {
                    Some(_) => prepare::update(&request, &mut value, now),
                    None => prepare::create(&request, &mut value, now),
                }
            }
        }
        Ok(())
    }

    fn old_value<'a>(&self, old: Option<&'a Stored>) -> PyResult<Option<Cow<'a, Value>>> {
        old.map(|o| o.value(&self.typed)).transpose()
    }

    /// What `dedup_owners` does.
    fn without_twins(&self) -> Vec<String> {
        let mut value = self.value.lock();
        let Some(owners) =
            value.get_mut("metadata").and_then(|m| m.get_mut("ownerReferences")).and_then(Value::as_array_mut)
        else {
            return Vec::new();
        };
        let again = Again::of(owners, Whole);
        let again: Vec<bool> = (0..owners.len()).map(|at| again.at(at)).collect();
        let mut twice = Vec::new();
        let mut places = again.iter();
        owners.retain(|owner| {
            let again = *places.next().unwrap_or(&false);
            if again {
                twice.push(owner.str_at(&["uid"]).to_owned());
            }
            !again
        });
        twice
    }

    /// What `validate` does.
    fn causes(&self, old: Option<&Stored>, subresource: &str) -> PyResult<Vec<CauseTuple>> {
        let old = self.old_value(old)?;
        let mut value = self.value.lock();
        let request = Request { kind: &self.typed.kind, subresource, old: old.as_deref() };
        let causes = match (&self.typed.custom, old.as_deref()) {
            (Some(c), old) => {
                let mut causes = Causes::new();
                match old {
                    Some(old) => custom::update(&c.definition, c.version(), subresource, &value, old, &mut causes),
                    None => custom::create(&c.definition, c.version(), &value, &mut causes),
                }
                *self.passed.lock() = causes.take_warnings();
                causes
            }
            (None, Some(_)) => validate::update(&request, &value),
            (None, None) => validate::create(&request, &value),
        };
        // Upstream fills this in when it reads the object back, past validation.
        if self.unlabelled.load(Ordering::Relaxed) && causes.as_slice().is_empty() {
            prepare::unlabelled(&self.typed.kind, &mut value);
        }
        Ok(tuples(&causes))
    }

    /// What `warnings` does.
    fn told(&self, old: Option<&Stored>, subresource: &str) -> PyResult<Vec<String>> {
        let old = self.old_value(old)?;
        let value = self.value.lock();
        if self.typed.custom.is_some() {
            let mut out = std::mem::take(&mut *self.passed.lock());
            if subresource != "status" {
                out.extend(custom::warnings(&value, old.as_deref()));
            }
            return Ok(out);
        }
        let request = Request { kind: &self.typed.kind, subresource, old: old.as_deref() };
        Ok(match old {
            Some(_) => warn::update(&request, &value),
            None => warn::create(&request, &value),
        })
    }
}

/// `apiVersion`, `kind`, name, generateName, namespace, uid, resourceVersion.
type Head = (String, String, String, String, String, String, String);
/// Reason, message, field.
type CauseTuple = (&'static str, String, String);

fn tuples(causes: &Causes) -> Vec<CauseTuple> {
    causes.as_slice().iter().map(|c| (c.reason.wire(), c.message.to_string(), c.field.to_string())).collect()
}

#[pymethods]
impl Draft {
    /// Encode the object for the store off the loop, as the last step before its commit.
    fn seal(&self, py: Python<'_>) {
        py.detach(|| *self.sealed.lock() = Some(self.encoded()));
    }

    /// The members that decide where the object belongs.
    fn head(&self) -> Head {
        let value = self.value.lock();
        let m = MetaView::of(&value);
        (
            value.str_at(&["apiVersion"]).to_owned(),
            value.str_at(&["kind"]).to_owned(),
            m.name().to_owned(),
            m.generate_name().to_owned(),
            m.namespace().to_owned(),
            m.uid().to_owned(),
            m.resource_version().to_owned(),
        )
    }

    /// Generation, deletionTimestamp, deletionGracePeriodSeconds, finalizers.
    fn lifecycle(&self) -> (i64, String, Option<i64>, Vec<String>) {
        let value = self.value.lock();
        let m = MetaView::of(&value);
        (
            m.generation(),
            m.deletion_timestamp().to_owned(),
            m.get("deletionGracePeriodSeconds").and_then(Value::as_int),
            m.finalizers().map(str::to_owned).collect(),
        )
    }

    /// The same object, to be written on its own: each try of a write begins from it as it is now.
    fn fork(&self, py: Python<'_>) -> Self {
        let value = apart(py, self.size, || self.value.lock().clone());
        let fork = Self::new(Arc::clone(&self.typed), value, self.size);
        fork.unlabelled.store(self.unlabelled.load(Ordering::Relaxed), Ordering::Relaxed);
        fork
    }

    /// The value at a path of member names as JSON, `None` when absent.
    fn get<'py>(&self, py: Python<'py>, path: Vec<String>) -> Option<Bound<'py, PyBytes>> {
        let value = self.value.lock();
        let path: Vec<&str> = path.iter().map(String::as_str).collect();
        value.at(&path).filter(|v| !matches!(v, Value::Null)).map(|v| PyBytes::new(py, &json::encode_any(v)))
    }

    /// Sets the value at a path from JSON; `None` takes it out.
    fn set(&self, path: Vec<String>, data: Option<&[u8]>) -> PyResult<()> {
        let parsed = data.map(json::parse).transpose().map_err(|e| decode_error(&e))?;
        let Some((last, parents)) = path.split_last() else { return Ok(()) };
        let parents: Vec<&str> = parents.iter().map(String::as_str).collect();
        let mut value = self.value.lock();
        if parsed.is_none() && value.at(&parents).is_none() {
            return Ok(());
        }
        let map = value.object_at_mut(&parents);
        match parsed {
            Some(parsed) => map.set(last.as_str(), parsed.value),
            None => drop(map.remove(last)),
        }
        Ok(())
    }

    /// Sets `kind` and `apiVersion` to those of the type.
    fn set_type(&self) {
        self.typed.set_type(&mut self.value.lock());
    }

    /// Sets type and defaults; of what becomes a new object in `namespace`, takes out what only the server sets.
    /// Gives the version that the object names.
    #[pyo3(signature = (clock, namespace=None))]
    fn default(&self, py: Python<'_>, clock: &Clock, namespace: Option<&str>) -> String {
        let now = clock.0.now();
        apart(py, self.size, || self.complete(namespace, now))
    }

    /// Makes `manager` the owner of what the body says and, where there is an old object, of what it changes.
    #[pyo3(signature = (clock, manager, old=None, subresource=""))]
    fn track(
        &self,
        py: Python<'_>,
        clock: &Clock,
        manager: &str,
        old: Option<&Stored>,
        subresource: &str,
    ) -> PyResult<()> {
        let now = clock.0.now();
        let size = self.size + old.map_or(0, |old| old.version.json().len());
        apart(py, size, || {
            // What the endpoint puts back after this is owned by nobody new where the strategy says so: `reset_fields`.
            let old = self.old_value(old)?;
            self.own_changes(old.as_deref(), &mut self.value.lock(), manager, subresource, now);
            Ok(())
        })
    }

    /// Gives a new object its name, unless it is empty, its uid and the time.
    fn fill_metadata(&self, clock: &Clock, name: &str, uid: &str) {
        let mut value = self.value.lock();
        let meta = value.object_at_mut(&["metadata"]);
        meta.set("uid", uid);
        meta.set("creationTimestamp", clock.0.now().rfc3339());
        if !name.is_empty() {
            meta.set("name", name);
        }
    }

    /// Takes over the metadata that an update may not change.
    fn keep_metadata(&self, old: &Stored) -> PyResult<()> {
        self.take_over(old)
    }

    /// Takes over what was allocated to a service and is not named anew.
    fn keep_allocated(&self, old: &Stored) -> PyResult<()> {
        let old = old.value(&self.typed)?;
        prepare::allocated(&mut self.value.lock(), &old);
        Ok(())
    }

    /// What the strategy makes of a new object or of an update.
    #[pyo3(signature = (clock, old=None, subresource=""))]
    fn prepare(&self, py: Python<'_>, clock: &Clock, old: Option<&Stored>, subresource: &str) -> PyResult<()> {
        let now = clock.0.now();
        let size = self.size + old.map_or(0, |old| old.version.json().len());
        apart(py, size, || self.arrange(old, subresource, now))
    }

    /// Makes `manager` the owner of what the body of an object that is not stored says.
    #[pyo3(signature = (clock, manager, subresource=""))]
    fn own(&self, py: Python<'_>, clock: &Clock, manager: &str, subresource: &str) {
        let now = clock.0.now();
        apart(py, self.size, || {
            let mut value = self.value.lock();
            default::apply(&self.typed.kind, &mut value, now);
            self.own_changes(None, &mut value, manager, subresource, now);
        });
    }

    /// Drops owners named twice; gives the uids that were.
    fn dedup_owners(&self, py: Python<'_>) -> Vec<String> {
        apart(py, self.size, || self.without_twins())
    }

    /// The causes for which the object is refused; a new object without any is completed.
    #[pyo3(signature = (old=None, subresource=""))]
    fn validate(&self, py: Python<'_>, old: Option<&Stored>, subresource: &str) -> PyResult<Vec<CauseTuple>> {
        let size = self.size + old.map_or(0, |old| old.version.json().len());
        apart(py, size, || self.causes(old, subresource))
    }

    /// What is wrong with the addresses of a service, before any are allocated.
    #[pyo3(signature = (old=None))]
    fn cluster_ip_causes(&self, old: Option<&Stored>) -> PyResult<Vec<CauseTuple>> {
        let old = self.old_value(old)?;
        Ok(tuples(&validate::cluster_ips(&self.value.lock(), old.as_deref())))
    }

    /// What the kind warns about.
    #[pyo3(signature = (old=None, subresource=""))]
    fn warnings(&self, py: Python<'_>, old: Option<&Stored>, subresource: &str) -> PyResult<Vec<String>> {
        apart(py, self.size, || self.told(old, subresource))
    }

    /// The JSON that a webhook has to convert before the object is stored, if one has to.
    fn source<'py>(&self, py: Python<'py>) -> Option<Bound<'py, PyBytes>> {
        let foreign = self.typed.custom.as_ref().is_some_and(Custom::is_foreign);
        foreign.then(|| self.json(py))
    }

    /// Has what a webhook made of the object stored.
    fn store_as(&self, json: &[u8]) -> PyResult<()> {
        if let Some(custom) = &self.typed.custom {
            *self.converted.lock() = Some(custom.converted(&self.typed.schema, json)?);
        }
        Ok(())
    }

    /// The canonical JSON, with the resource version it carries.
    fn json<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &apart(py, self.size, || json::encode(&self.typed.schema, &self.value.lock())))
    }

    /// The object as enveloped protobuf.
    fn protobuf<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        let raw = apart(py, self.size, || proto::encode(&self.typed.schema, &self.value.lock()));
        PyBytes::new(py, &proto::envelope(&self.typed.api_version, &self.typed.kind.kind, &raw))
    }

    /// A version that is shown but not stored: what a dry run answers.
    fn preview(&self, py: Python<'_>, revision: u64) -> PyResult<Stored> {
        apart(py, self.size, || {
            let value = self.value.lock();
            let value = match &self.typed.custom {
                Some(custom) => custom.as_read(&value)?,
                None => Cow::Borrowed(&*value),
            };
            let meta = MetaView::of(&value);
            let key = crate::stored::key(meta.namespace(), meta.name());
            let draft = self.typed.own_draft(&value);
            Ok(Stored::preview(&self.typed, &key, revision, draft))
        })
    }
}
