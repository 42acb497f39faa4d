//! Core kinds without workloads (`pkg/apis/core/validation/validation.go`).

pub(crate) mod claim;
pub(crate) mod cluster_ips;
pub(crate) mod endpoints;
pub(crate) mod event;
pub(crate) mod limits;
pub(crate) mod node;
pub(crate) mod plain;
pub(crate) mod quota;
pub(crate) mod secret;
pub(crate) mod service;
pub(crate) mod volume;
