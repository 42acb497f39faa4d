//! Defaults, validation, conversion and tables of API objects.
//!
//! Every function here takes a decoded object in loose form (see
//! [`hydrofoil_types::Value`]) and follows the strategy of its kind in
//! kubernetes `pkg/registry/<group>/<resource>/strategy.go`.
//!
//! `kinds/` has a file or folder per kind: defaults, preparation, validation, warnings, table cells, conversion, and its
//! `STRATEGY`. What kinds share and what changes for other reasons are crates of their own below it: rules (and the
//! release), internal forms in causes, custom definitions, paths; admit, above it, has what quotas and limits charge.

// Input must not make the server panic: each place that could has been looked at.
#![warn(clippy::string_slice, clippy::indexing_slicing, clippy::arithmetic_side_effects)]

pub mod convert;
pub mod default;
mod kind;
mod kinds;
pub mod prepare;
pub mod selectable;
mod strategy;
pub mod table;
pub mod validate;
pub mod warn;

pub use hydrofoil_rules::{Gate, Release};
pub use kind::{Kind, Request};
pub use strategy::{NameRule, Traits, reset_fields, traits};
