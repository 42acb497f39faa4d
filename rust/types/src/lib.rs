//! Values, types and schemas of the Kubernetes API, without any encoding.
//!
//! Values (`finite.rs`: no value is a number that JSON cannot hold), type schemas, identities of schemas
//! (`fingerprint.rs`), the catalog, quantities, times, and causes of validation errors.

// Input from outside must not make the server panic: each operation that could panic is reviewed.
#![warn(clippy::string_slice, clippy::indexing_slicing, clippy::arithmetic_side_effects)]

mod arena;
mod catalog;
mod cause;
mod clock;
mod distinct;
mod fingerprint;
mod finite;
pub mod go;
mod map;
mod meta;
pub mod notation;
mod quantity;
mod raw;
pub mod read;
mod schema;
mod time;
mod value;

pub use catalog::{Catalog, CatalogError, Column, Lifecycle, Resource};
pub use cause::{Cause, CauseReason, Causes, Path};
pub use clock::Clock;
pub use distinct::{Duplicates, KeySet, Lookup, Whole};
pub use fingerprint::{Digest, Fingerprint};
pub use finite::Finite;
pub use map::Map;
pub use meta::MetaView;
pub use quantity::{Quantity, QuantityFormat};
pub use raw::compact;
pub use schema::{Arena, Field, ListType, Nature, Proto, ProtoEntry, Schema, Shape, Special, TypeDef, TypeId, Zero};
pub use smol_str::SmolStr;
pub use time::Timestamp;
pub use value::Value;
