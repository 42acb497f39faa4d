//! Defaults (apiextensions-apiserver `pkg/apis/apiextensions/v1{,beta1}/defaults.go`).

use hydrofoil_types::Value;

use hydrofoil_types::read::{Read, Write};

/// Fill the defaults of `v1beta1`, which has some that `v1` requires, and preserves unknown fields.
pub(super) fn beta(object: &mut Value) {
    let spec = object.make("spec");
    spec.fill("scope", "Namespaced");
    if spec.list("versions").is_empty() && !spec.zero("version") {
        let mut only = Value::object();
        only.put("name", spec.text("version").to_owned());
        only.put("served", true);
        only.put("storage", true);
        spec.put("versions", vec![only]);
    }
    if let Some(first) =
        spec.list("versions").first().map(|v| v.text("name").to_owned()).filter(|name| !name.is_empty())
    {
        spec.fill("version", first);
    }
    spec.within("conversion", |c| {
        if c.text("strategy") == "Webhook" && c.list("conversionReviewVersions").is_empty() {
            c.put("conversionReviewVersions", vec![Value::from("v1beta1")]);
        }
        c.within("webhookClientConfig", |c| c.within("service", |s| s.unset("port", 443)));
    });
    spec.unset("preserveUnknownFields", true);
    definition(object);
}

/// Fill the defaults of `v1`, which both versions have.
pub(super) fn definition(object: &mut Value) {
    let spec = object.make("spec");
    let names = spec.make("names");
    let kind = names.text("kind").to_owned();
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
    let storage = spec.list("versions").iter().find(|v| v.flag("storage")).map(|v| v.text("name").to_owned());
    if let Some(storage) = storage
        && object.field("status").list("storedVersions").is_empty()
    {
        object.make("status").put("storedVersions", vec![Value::from(storage)]);
    }
}
