//! Webhooks and admission policies (`pkg/apis/admissionregistration/validation/validation.go`).
//!
//! Whether CEL expressions compile is not told here: this crate has no compiler.

mod binding;
mod policy;
mod rules;
mod webhook;

pub(crate) use binding::binding;
pub(crate) use policy::{policy, status};
pub(crate) use webhook::{client, webhooks};
