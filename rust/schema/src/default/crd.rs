//! Custom resource definitions.

use hydrofoil_types::Value;

use crate::read::{Read, Write};

/// `v1beta1` has defaults that `v1` asks its clients for, and keeps what no schema knows.
pub(super) fn beta(object: &mut Value) {
    let spec = object.make("spec");
    spec.fill("scope", "Namespaced");
    if spec.list("versions").is_empty() && !spec.zero("version") {
        let mut only = Value::object();
        only.put("name", spec.s("version").to_owned());
        only.put("served", true);
        only.put("storage", true);
        spec.put("versions", vec![only]);
    }
    if let Some(first) = spec.list("versions").first().map(|v| v.s("name").to_owned()).filter(|name| !name.is_empty()) {
        spec.fill("version", first);
    }
    spec.within("conversion", |c| {
        if c.s("strategy") == "Webhook" && c.list("conversionReviewVersions").is_empty() {
            c.put("conversionReviewVersions", vec![Value::from("v1beta1")]);
        }
        c.within("webhookClientConfig", |c| c.within("service", |s| s.unset("port", 443)));
    });
    spec.unset("preserveUnknownFields", true);
    definition(object);
}

/// `v1`, and what both versions have.
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
