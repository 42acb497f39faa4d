//! Webhooks and admission policies (`pkg/apis/admissionregistration/validation/validation.go`).

mod binding;
mod expression;
mod policy;
mod rules;
mod webhook;

pub(crate) use binding::binding;
pub(crate) use expression::refuse;
pub(crate) use policy::{policy, status};
pub(crate) use webhook::{client, webhooks};
