//! Rules that kinds share: metadata, names, selectors, quantities, pod templates, conditions, tables.

// Input must not make the server panic: each place that could has been looked at.
#![warn(clippy::string_slice, clippy::indexing_slicing, clippy::arithmetic_side_effects)]

pub mod address;
pub mod check;
pub mod conditions;
pub mod data;
pub mod domain_path;
pub mod expression;
pub mod format;
pub mod gates;
pub mod hostname;
pub mod load_balancer;
pub mod meta;
pub mod node_label;
pub mod persistent_volume;
pub mod pod_template;
pub mod qos;
pub mod quantities;
mod release;
pub mod resource;
pub mod selector;
pub mod signer;
pub mod table;
pub mod volume_claim;
pub mod volume_source;
pub mod webhook_client;
pub mod workload;
pub mod workload_status;

// For the macro `cells`.
#[doc(hidden)]
pub use hydrofoil_types::Value;
pub use release::{Gate, Release};
