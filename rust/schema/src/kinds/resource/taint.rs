//! Taints of devices.

use hydrofoil_types::{Causes, Path, Timestamp, Value};

use hydrofoil_rules::check::Check;
use hydrofoil_rules::format::label;
use hydrofoil_types::read::{Read, Write};

/// `SetDefaults_DeviceTaint`: a taint is added at the present time.
pub(super) fn default(taint: &mut Value, now: Timestamp) {
    taint.unset("timeAdded", now.rfc3339());
}

/// `validateDeviceTaint`, but for the effect.
pub(super) fn validate(taint: &Value, at: &Path<'_>, causes: &mut Causes) {
    causes.format(&at.child("key"), taint.text("key"), label::key);
    causes.format(&at.child("value"), taint.text("value"), label::value);
}

/// Validate the effect of a taint.
pub(super) fn effect(taint: &Value, at: &Path<'_>, causes: &mut Causes) {
    causes.one_of_required(&at.child("effect"), taint.text("effect"), &["NoExecute", "NoSchedule", "None"]);
}
