//! Writes: from a body, a patch or a configuration to the stored form.

mod admit;
mod apply;
mod at_once;
mod binding;
mod change;
mod conversions;
mod draft;
mod metadata;
mod patch;
mod raw;
mod session;
mod steps;

pub use admit::{Refusal, Used, limit_fill, limit_refusal, node_shortage, quota_charge, quota_usage, storage_grows};
pub use apply::{Apply, overlay};
pub use binding::Hindrance;
pub use change::Change;
pub use conversions::Conversions;
pub use draft::Draft;
pub use patch::{Patch, PatchType, json_patch};
pub use session::{Outcome, Prepare, Prepared, Read};
