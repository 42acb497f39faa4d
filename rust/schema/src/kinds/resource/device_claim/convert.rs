//! Requests in `v1beta1`, where the members of `exactly` are beside it (`pkg/apis/resource/v1beta1/conversion.go`).

use hydrofoil_types::{Map, Value};

use hydrofoil_types::read::{Read, Write};

/// The fields of a request itself there.
const REQUEST: [&str; 7] =
    ["deviceClassName", "selectors", "allocationMode", "count", "adminAccess", "tolerations", "capacity"];

/// Report whether a request has members of `exactly` (`hasAnyMainRequestFieldsSet`).
fn is_exact(request: &Value) -> bool {
    let lists = ["selectors", "adminAccess", "tolerations", "capacity"];
    lists.into_iter().any(|key| request.has(key))
        || ["deviceClassName", "allocationMode", "count"].into_iter().any(|key| !request.zero(key))
}

/// Convert the requests of a specification to version 1.
pub(crate) fn up(spec: &mut Value) {
    requests(spec, |request| {
        let exact = is_exact(request);
        let mut exactly = Map::new();
        let Some(map) = request.as_object_mut() else { return };
        for name in REQUEST {
            if let Some(value) = map.remove(name) {
                exactly.set(name, value);
            }
        }
        if exact {
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
