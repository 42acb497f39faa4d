//! Requests and devices of `resource.k8s.io/v1beta1`, where members of `exactly` and those of a device stand elsewhere
//! (`pkg/apis/resource/v1beta1/conversion.go`).

use hydrofoil_types::{Map, Value};

use crate::read::Write;

/// What a request has of its own there.
const REQUEST: [&str; 7] =
    ["deviceClassName", "selectors", "allocationMode", "count", "adminAccess", "tolerations", "capacity"];

/// An object of a kind as version 1 has it.
pub(super) fn up(kind: &str, object: &mut Value) {
    match kind {
        "ResourceSlice" => object.within("spec", |spec| {
            spec.each("devices", |device| {
                if let Some(Value::Object(basic)) = device.as_object_mut().and_then(|d| d.remove("basic")) {
                    put_all(device, basic);
                }
            });
        }),
        _ => requests(kind, object, &|request| {
            let mut exactly = Map::new();
            let Some(map) = request.as_object_mut() else { return };
            for name in REQUEST {
                if let Some(value) = map.remove(name) {
                    exactly.set(name, value);
                }
            }
            if !exactly.is_empty() {
                map.set("exactly", exactly);
            }
        }),
    }
}

/// An object of version 1 as `v1beta1` has it.
pub(super) fn down(kind: &str, object: &mut Value) {
    match kind {
        "ResourceSlice" => object.within("spec", |spec| {
            spec.each("devices", |device| {
                let Some(map) = device.as_object_mut() else { return };
                let name = map.remove("name");
                let basic = std::mem::take(map);
                if let Some(name) = name {
                    map.set("name", name);
                }
                map.set("basic", basic);
            });
        }),
        _ => requests(kind, object, &|request| {
            if let Some(Value::Object(exactly)) = request.as_object_mut().and_then(|r| r.remove("exactly")) {
                put_all(request, exactly);
            }
        }),
    }
}

fn put_all(into: &mut Value, members: impl IntoIterator<Item = (impl AsRef<str>, Value)>) {
    for (name, value) in members {
        into.put(name.as_ref(), value);
    }
}

/// Does something to each request of a claim or a template of claims.
fn requests(kind: &str, object: &mut Value, change: &dyn Fn(&mut Value)) {
    let of_spec = |spec: &mut Value| spec.within("devices", |devices| devices.each("requests", change));
    match kind {
        "ResourceClaim" => object.within("spec", of_spec),
        "ResourceClaimTemplate" => object.within("spec", |outer| outer.within("spec", of_spec)),
        _ => {}
    }
}
