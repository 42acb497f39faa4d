//! The spec shared by claims and their templates (`DeviceClaim`).

pub(super) mod convert;
pub(super) mod default;
pub(super) mod gates;
pub(super) mod requests;
pub(super) mod validate;
