//! Values, types and schemas of the Kubernetes API, without any encoding.

mod arena;
mod catalog;
mod cause;
pub mod go;
mod meta;
pub mod notation;
mod quantity;
mod raw;
mod schema;
mod time;
mod value;

pub use catalog::{Catalog, CatalogError, Column, Lifecycle, Resource};
pub use cause::{Cause, CauseReason, Causes, Path, go_json_string, quoted};
pub use meta::MetaView;
pub use quantity::{Quantity, QuantityFormat};
pub use raw::compact;
pub use schema::{Arena, Field, ListType, Nature, Proto, ProtoEntry, Schema, Shape, Special, TypeDef, TypeId, Zero};
pub use smol_str::SmolStr;
pub use time::Timestamp;
pub use value::{Map, Value};
