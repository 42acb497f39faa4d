//! Versioned defaults: `SetDefaults_*` of kubernetes `pkg/apis/<group>/<version>/defaults.go`.
//!
//! Every default is idempotent, as upstream applies them on each decode.

use hydrofoil_types::{Timestamp, Value};

use crate::Kind;

/// Fill the defaults of a decoded object at a moment.
pub fn apply(kind: &Kind, object: &mut Value, now: Timestamp) {
    (kind.strategy.default)(kind.release, object, now);
}
