//! The Python binding: it only converts and calls. Methods are documented at those of the engine that they call.
//!
//! Each class is a handle (`handles.rs`); `logins.rs` keeps logins and `fairness.rs` drives the queues of priority
//! levels, both on the clock of the server.

#![allow(clippy::needless_pass_by_value, reason = "what Python hands over is owned")]

mod admission;
mod audit;
mod catalog;
mod causes;
mod change;
mod client;
mod clock;
mod counting;
mod draft;
mod durable;
mod encryption;
mod error;
mod etcd;
mod expression;
mod fairness;
mod flow;
mod frame;
mod functions;
mod handles;
mod link;
mod list;
mod logins;
mod memo;
mod memos;
mod repeat;
mod shard;
mod step;
mod stored;
mod tls;
mod upstream;
mod view;
mod watch;

/// Writes allocate small pieces that live as long as the request: this allocator is twice as fast for them as the C
/// library's.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// The module `hydrofoil._native`.
#[pyo3::pymodule(gil_used = false)]
mod _native {
    #[pymodule_export]
    use crate::{
        audit::{AuditLines, AuditRecord, audit_record, audit_sources},
        client::{ClientError, ClientRun, ClientTarget},
        counting::{Histogram, merge_metrics, rule_durations},
        durable::{data_backup, data_check, data_compact, data_export, data_restore},
        error::TypeMetaError,
        error::{ApplyConflictError, ConflictError, ConversionError, DataError, DecodeError},
        error::{EvaluationError, ExistsError, ExpiredError, FutureError, MissingError, RefusedError},
        fairness::{LoopTurns, Queues, RequestClock, Ticket},
        flow::{Flow, FlowCounts, Work},
        functions::{cbor_to_json, decode_continue, duration, encode_continue, json_to_cbor, json_to_yaml},
        functions::{field_requirements, is_label_requirement, label_requirements},
        functions::{json_patch, json_path, limit_fill, limit_refusal, openapi_protobuf, pretty, watch_event},
        functions::{node_shortage, quota_charge, quota_usage, storage_grows, yaml_fault_line, yaml_to_json},
        handles::{
            Catalog, Change, Checkpoint, Clock, Declaration, Document, Draft, Durable, Encryption, Etcd, Expression,
            Expressions, Lifecycle, LinkOwner, LinkRequest, LinkWorker, ListCursor, Local, ObjectMeta, Region,
            Reindexed,
        },
        handles::{ResourceType, Selector, Shard, Stored, View, Watcher},
        logins::Logins,
        memo::{AuditIds, Memo},
        memos::Memos,
        repeat::KnownHeads,
        step::{PrepareResult, ReadResult, Step},
        tls::{CertificateError, ClientCa, TlsConfig, TlsConnection, TlsError},
        tls::{certificate_end, new_authority, new_certificate, token_digest, usable_certificate},
        upstream::UpstreamFeed,
        watch::watchers_wait,
    };

    use pyo3::prelude::*;

    #[pymodule_init]
    fn init(m: &Bound<'_, PyModule>) -> PyResult<()> {
        m.add("ENVELOPE_TAIL", hydrofoil_codec::proto::ENVELOPE_TAIL.as_slice())?;
        m.add("LARGE", hydrofoil_pace::LARGE)?;
        m.add("PanicException", m.py().get_type::<pyo3::panic::PanicException>())?;
        m.add("version", env!("CARGO_PKG_VERSION"))?;
        m.add("build_profile", if cfg!(debug_assertions) { "debug" } else { "release" })
    }
}
