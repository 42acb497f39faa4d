//! The Python binding: it converts and calls, nothing else.

#![allow(clippy::needless_pass_by_value, reason = "what Python hands over is owned")]

mod admit;
mod apart;
mod block;
mod catalog;
mod change;
mod clock;
mod custom;
mod draft;
mod error;
mod list;
mod patch;
mod render;
mod selector;
mod shard;
mod stored;
mod text;
mod typed;
mod versions;
mod view;
mod watch;

/// Writes are made of small pieces that live as long as the request: this allocator hands them out twice as fast as the
/// C library's.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// The module `hydrofoil._native`.
#[pyo3::pymodule(gil_used = false)]
mod _native {
    #[pymodule_export]
    use crate::admit::{limit_fill, limit_refusal, quota_charge, storage_grows};
    #[pymodule_export]
    use crate::catalog::{Catalog, ResourceType};
    #[pymodule_export]
    use crate::change::Change;
    #[pymodule_export]
    use crate::clock::Clock;
    #[pymodule_export]
    use crate::draft::Draft;
    #[pymodule_export]
    use crate::error::{
        ApplyConflictError, ConflictError, ConversionError, DecodeError, ExistsError, ExpiredError, FutureError,
        MissingError,
    };
    #[pymodule_export]
    use crate::list::ListCursor;
    #[pymodule_export]
    use crate::selector::Selector;
    #[pymodule_export]
    use crate::shard::{Reindexed, Shard};
    #[pymodule_export]
    use crate::stored::Stored;
    #[pymodule_export]
    use crate::text::{
        cbor_event, cbor_to_json, decode_continue, duration, encode_continue, json_to_cbor, json_to_yaml,
        openapi_protobuf, pretty, protobuf_event, yaml_to_json,
    };
    #[pymodule_export]
    use crate::view::{Local, View};
    #[pymodule_export]
    use crate::watch::Watcher;

    use pyo3::prelude::*;

    #[pymodule_init]
    fn init(m: &Bound<'_, PyModule>) -> PyResult<()> {
        m.add("ENVELOPE_TAIL", hydrofoil_codec::proto::ENVELOPE_TAIL.as_slice())?;
        m.add("PanicException", m.py().get_type::<pyo3::panic::PanicException>())?;
        m.add("build_profile", if cfg!(debug_assertions) { "debug" } else { "release" })
    }
}
