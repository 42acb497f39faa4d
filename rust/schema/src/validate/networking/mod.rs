//! Networking (`pkg/apis/networking/validation/validation.go`).

pub(crate) mod address;
pub(crate) mod class;
pub(crate) mod ingress;
pub(crate) mod policy;
