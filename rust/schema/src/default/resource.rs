//! Dynamic resource allocation.

use hydrofoil_types::{Timestamp, Value};

use crate::read::{Read, Write};

pub(super) fn claim(version: &str, object: &mut Value) {
    object.within("spec", |spec| devices(version, spec));
    object.within("status", |status| {
        status.within("allocation", |a| {
            a.within("devices", |d| d.each("results", |r| r.each("tolerations", toleration)));
        });
    });
}

pub(super) fn claim_template(version: &str, object: &mut Value) {
    object.within("spec", |spec| spec.within("spec", |spec| devices(version, spec)));
}

fn devices(version: &str, spec: &mut Value) {
    spec.within("devices", |devices| {
        devices.each("requests", |request| {
            if version == "v1beta1" {
                // The one version whose requests are not split; a list of choices excludes the rest.
                if request.list("firstAvailable").is_empty() {
                    exact(request);
                }
            } else {
                request.within("exactly", exact);
            }
            request.each("firstAvailable", exact);
        });
    });
}

fn exact(request: &mut Value) {
    request.fill("allocationMode", "ExactCount");
    if request.s("allocationMode") == "ExactCount" {
        request.fill("count", 1);
    }
    request.each("tolerations", toleration);
}

fn toleration(toleration: &mut Value) {
    toleration.fill("operator", "Equal");
}

pub(super) fn slice(version: &str, object: &mut Value, now: Timestamp) {
    object.within("spec", |spec| {
        spec.each("devices", |device| {
            if version == "v1beta1" {
                device.within("basic", |d| d.each("taints", |t| taint(t, now)));
            } else {
                device.each("taints", |t| taint(t, now));
            }
        });
    });
}

fn taint(taint: &mut Value, now: Timestamp) {
    taint.unset("timeAdded", now.rfc3339());
}

pub(super) fn taint_rule(object: &mut Value, now: Timestamp) {
    object.within("spec", |s| s.within("taint", |t| taint(t, now)));
}
