//! Devices in `v1beta1`, where their members are in `basic` (`pkg/apis/resource/v1beta1/conversion.go`).

use hydrofoil_types::Value;

use hydrofoil_types::read::{Read, Write};

/// Convert the devices of a slice to version 1.
pub(super) fn up(object: &mut Value) {
    object.within("spec", |spec| {
        // These are no pointers there.
        for key in ["nodeName", "allNodes"] {
            if spec.zero(key) {
                spec.drop(key);
            }
        }
        spec.each("devices", |device| {
            if let Some(Value::Object(basic)) = device.as_object_mut().and_then(|d| d.remove("basic")) {
                for (name, value) in basic {
                    device.put(&name, value);
                }
            }
        });
    });
}

/// Convert the devices of a slice to `v1beta1`.
pub(super) fn down(object: &mut Value) {
    object.within("spec", |spec| {
        spec.each("devices", |device| {
            let Some(map) = device.as_object_mut() else { return };
            let name = map.remove("name");
            let basic = std::mem::take(map);
            if let Some(name) = name {
                map.set("name", name);
            }
            map.set("basic", basic);
        });
    });
}
