//! Custom resource definitions.

use hydrofoil_types::Value;

use crate::read::{Read, Write};

pub(super) fn definition(object: &mut Value) {
    let spec = object.make("spec");
    let names = spec.make("names");
    let kind = names.s("kind").to_owned();
    if !kind.is_empty() {
        names.fill("singular", kind.to_lowercase());
        names.fill("listKind", format!("{kind}List"));
    }
    if !spec.has("conversion") {
        spec.make("conversion").put("strategy", "None");
    }
    spec.within("conversion", |c| {
        c.within("webhook", |w| w.within("clientConfig", |c| c.within("service", |s| s.unset("port", 443))));
    });
    let storage = spec.list("versions").iter().find(|v| v.b("storage")).map(|v| v.s("name").to_owned());
    if let Some(storage) = storage
        && object.sub("status").list("storedVersions").is_empty()
    {
        object.make("status").put("storedVersions", vec![Value::from(storage)]);
    }
}
