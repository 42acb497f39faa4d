//! The classes of the module: handles of the engine's objects. The methods of each are in a file of their own.

use std::sync::Arc;

use hydrofoil_engine::kind::{self, ObjectKind};
use hydrofoil_engine::{Shard as EngineShard, Signal, View as EngineView, read, stored, watch, write};
use hydrofoil_store as store;
use hydrofoil_types as types;
use parking_lot::Mutex;
use pyo3::pyclass;

use crate::frame::Bytes;

/// The clock of one server, usable from any thread.
#[pyclass(frozen, module = "hydrofoil._native")]
pub(crate) struct Clock(pub(crate) Arc<types::Clock>);

/// The built-in types and resources.
#[pyclass(frozen)]
pub(crate) struct Catalog(pub(crate) kind::Catalog);

/// One resource in one version: decodes bodies and resolves field labels.
#[pyclass(frozen)]
pub(crate) struct ResourceType(pub(crate) Arc<dyn ObjectKind>);

/// A mutable object of a known type, and its approximate encoded size, which determines the cost of work on it.
#[pyclass(frozen)]
pub(crate) struct Draft(pub(crate) Mutex<write::Draft>, pub(crate) usize);

/// The identifying members of an object.
#[pyclass(frozen, get_all)]
pub(crate) struct ObjectMeta {
    pub(crate) api_version: String,
    pub(crate) kind: String,
    pub(crate) name: String,
    pub(crate) generate_name: String,
    pub(crate) namespace: String,
    pub(crate) uid: String,
    pub(crate) resource_version: String,
}

/// The state of the deletion of an object.
#[pyclass(frozen, get_all)]
pub(crate) struct Lifecycle {
    pub(crate) generation: i64,
    pub(crate) deletion_timestamp: String,
    pub(crate) grace_period: Option<i64>,
    pub(crate) finalizers: Vec<String>,
}

/// One immutable version of one object.
#[pyclass(frozen)]
pub(crate) struct Stored(pub(crate) stored::Stored);

/// The change of the object of one key, and the shard of the write.
#[pyclass(frozen)]
pub(crate) struct Change(pub(crate) write::Change, pub(crate) Arc<EngineShard<Bytes>>);

/// A compiled expression of one variable.
#[pyclass(frozen)]
pub(crate) struct Expression(pub(crate) hydrofoil_engine::Expression);

/// Compiled expressions about an admission request.
#[pyclass(frozen)]
pub(crate) struct Expressions(pub(crate) hydrofoil_engine::admission::Expressions);

/// The type of the objects of one kind, in expressions.
#[pyclass(frozen)]
pub(crate) struct Declaration(pub(crate) hydrofoil_engine::admission::Declaration);

/// A value that expressions read, and the size of its JSON, which determines the cost of work on it.
#[pyclass(frozen)]
pub(crate) struct Document(pub(crate) hydrofoil_engine::admission::Document, pub(crate) usize);

/// The selection of a list or watch.
#[pyclass(frozen)]
pub(crate) struct Selector(pub(crate) Arc<store::Filter>);

/// The cursor of one list.
#[pyclass(frozen)]
pub(crate) struct ListCursor(pub(crate) read::ListCursor<Bytes>);

/// A cursor into the events of a resource.
#[pyclass(frozen)]
pub(crate) struct Watcher(pub(crate) watch::Watcher<Bytes>);

/// The objects of one resource.
#[pyclass(frozen)]
pub(crate) struct Shard(pub(crate) Arc<EngineShard<Bytes>>);

/// A state in which objects have other values of field selectors.
///
/// It is taken when it is put in force, which can be done once.
#[pyclass(frozen)]
pub(crate) struct Reindexed(pub(crate) Mutex<Option<store::Reindexed>>);

/// All objects of a server.
#[pyclass(frozen)]
pub(crate) struct View(pub(crate) EngineView<Bytes>);

/// The log of a view without an external source.
#[pyclass(frozen)]
pub(crate) struct Local(pub(crate) store::Local);

/// The log of a view on a disk, and the signal that it gives when there are outcomes.
#[pyclass(frozen)]
pub(crate) struct Durable(pub(crate) hydrofoil_log::Log<Arc<dyn ObjectKind>>, pub(crate) Arc<Signal>);

/// The log of a view in etcd, and the signal that it gives when there are outcomes or events.
#[pyclass(frozen)]
pub(crate) struct Etcd(pub(crate) hydrofoil_etcd::Log, pub(crate) Arc<Signal>);

/// Memory that the processes of one server map.
#[pyclass(frozen)]
pub(crate) struct Region(pub(crate) Arc<hydrofoil_shared::Region>);

/// The owner of the truth, for its workers, and the signal that it gives when there are requests.
#[pyclass(frozen)]
pub(crate) struct LinkOwner {
    pub(crate) owner: Arc<hydrofoil_link::Owner>,
    pub(crate) view: pyo3::Py<View>,
    pub(crate) signal: Arc<Signal>,
}

/// A write that a worker asks for.
#[pyclass(frozen)]
pub(crate) struct LinkRequest(pub(crate) Mutex<Option<hydrofoil_link::Request>>);

/// A worker, and its writes under way, by their numbers.
#[pyclass(frozen)]
pub(crate) struct LinkWorker {
    pub(crate) worker: Arc<hydrofoil_link::Worker>,
    /// An outcome finds its write here: it is added before the request can be sent.
    pub(crate) writes: Mutex<std::collections::HashMap<u64, pyo3::Py<Change>>>,
}

/// The encryption of objects at rest.
#[pyclass(frozen)]
pub(crate) struct Encryption(pub(crate) Arc<hydrofoil_encryption::Transformers>);

/// The state of all objects of a server at one moment.
#[pyclass(frozen)]
pub(crate) struct Checkpoint(pub(crate) store::Checkpoint);

/// A draft, and its errors of strict field validation.
pub(crate) type Made = (Draft, Vec<String>);
