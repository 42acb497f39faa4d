//! Taints of devices.

use hydrofoil_types::{Timestamp, Value};

use crate::read::Write;

/// `SetDefaults_DeviceTaint`: a taint is added at the present time.
pub(super) fn default(taint: &mut Value, now: Timestamp) {
    taint.unset("timeAdded", now.rfc3339());
}
