//! Core kinds.

pub(crate) mod claim;
