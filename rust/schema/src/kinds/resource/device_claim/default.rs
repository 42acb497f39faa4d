//! Defaults of requests for devices.

use hydrofoil_types::Value;

use hydrofoil_types::read::{Read, Write};

/// Fill the requests of a specification in a version.
pub(crate) fn default(version: &str, spec: &mut Value) {
    spec.within("devices", |devices| {
        devices.each("requests", |request| {
            if version == "v1beta1" {
                // The one version whose requests are not split: those with a class are exact.
                if request.zero("deviceClassName") {
                    request.each("tolerations", toleration);
                } else {
                    exact(request);
                }
            } else {
                request.within("exactly", exact);
            }
            request.each("firstAvailable", exact);
        });
    });
}

/// `SetDefaults_ExactDeviceRequest`.
fn exact(request: &mut Value) {
    request.fill("allocationMode", "ExactCount");
    if request.text("allocationMode") == "ExactCount" {
        request.fill("count", 1);
    }
    request.each("tolerations", toleration);
}

/// `SetDefaults_DeviceToleration`.
pub(crate) fn toleration(toleration: &mut Value) {
    toleration.fill("operator", "Equal");
}
