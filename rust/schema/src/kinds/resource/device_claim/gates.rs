//! Fields of the specs of claims behind feature gates (`pkg/api/resourceclaimspec`).

use hydrofoil_types::Value;

use hydrofoil_rules::{Gate, Release};
use hydrofoil_types::read::{Read, Write};

/// Drop the fields of features that are off, unless the old spec uses them (`DropDisabledFields`).
pub(crate) fn drop_disabled(release: Release, spec: &mut Value, old: &Value) {
    let old = old.field("devices");
    let lists = release.enabled(Gate::DRAPrioritizedList)
        || old.list("requests").iter().any(|r| !r.list("firstAvailable").is_empty());
    let tolerates = release.enabled(Gate::DRADeviceTaints) || any_request(old, |r| !r.list("tolerations").is_empty());
    let consumes = release.enabled(Gate::DRAConsumableCapacity) || consumes_capacity(old);
    if lists && tolerates && consumes {
        return;
    }
    spec.within("devices", |devices| {
        if !consumes {
            devices.each("constraints", |c| c.drop("distinctAttribute"));
        }
        devices.each("requests", |request| {
            if !lists {
                request.drop("firstAvailable");
            }
            let clear = |exact: &mut Value| {
                if !tolerates {
                    exact.drop("tolerations");
                }
                if !consumes {
                    exact.drop("capacity");
                }
            };
            request.within("exactly", clear);
            request.each("firstAvailable", clear);
        });
    });
}

/// `DRAConsumableCapacityFeatureInUse`.
pub(crate) fn consumes_capacity(devices: &Value) -> bool {
    devices.list("constraints").iter().any(|c| c.has("distinctAttribute"))
        || any_request(devices, |r| r.has("capacity"))
}

fn any_request(devices: &Value, is: impl Fn(&Value) -> bool) -> bool {
    devices.list("requests").iter().any(|r| is(r.field("exactly")) || r.list("firstAvailable").iter().any(&is))
}
