//! Defaults, validation, conversion and tables of API objects.
//!
//! Every function here takes a decoded object in loose form (see
//! [`hydrofoil_types::Value`]) and follows the strategy of its kind in
//! kubernetes `pkg/registry/<group>/<resource>/strategy.go`.

pub mod admit;
pub mod convert;
pub mod custom;
pub mod default;
mod internal;
mod kind;
pub mod prepare;
mod read;
pub mod selectable;
mod strategy;
pub mod table;
pub mod validate;
pub mod warn;

pub use kind::{Kind, Request};
pub use strategy::{NameRule, Traits, reset_fields, traits};
