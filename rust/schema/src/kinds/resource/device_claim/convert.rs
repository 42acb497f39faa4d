//! Requests in `v1beta1`, where the members of `exactly` are beside it (`pkg/apis/resource/v1beta1/conversion.go`).

use hydrofoil_types::{Map, Value};

use crate::read::Write;

/// The fields of a request itself there.
const REQUEST: [&str; 7] =
    ["deviceClassName", "selectors", "allocationMode", "count", "adminAccess", "tolerations", "capacity"];

/// Convert the requests of a specification to version 1.
pub(crate) fn up(spec: &mut Value) {
    requests(spec, |request| {
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
    });
}

/// Convert the requests of a specification to `v1beta1`.
pub(crate) fn down(spec: &mut Value) {
    requests(spec, |request| {
        if let Some(Value::Object(exactly)) = request.as_object_mut().and_then(|r| r.remove("exactly")) {
            for (name, value) in exactly {
                request.put(&name, value);
            }
        }
    });
}

fn requests(spec: &mut Value, change: impl FnMut(&mut Value)) {
    spec.within("devices", |devices| devices.each("requests", change));
}
