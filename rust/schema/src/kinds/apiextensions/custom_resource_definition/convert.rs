//! Custom resource definitions in `v1beta1`, and in upstream's internal type (apiextensions-apiserver
//! `pkg/apis/apiextensions/v1{,beta1}/conversion.go`).

#![allow(clippy::indexing_slicing, reason = "the place was found in the list, or the length looked at before")]

use hydrofoil_types::Value;

use super::internal;
use hydrofoil_types::read::{Read, Write};

/// The fields that all versions may share: the name in a version, and at the top level.
const SHARED: [(&str, &str); 4] = [
    ("schema", "validation"),
    ("subresources", "subresources"),
    ("additionalPrinterColumns", "additionalPrinterColumns"),
    ("selectableFields", "selectableFields"),
];

/// Return a `spec` of `v1` with shared fields of its versions at the top level, as in the internal type.
pub(super) fn lift(spec: &Value) -> Value {
    let mut out = spec.clone();
    let versions = spec.list("versions");
    let Some(first) = versions.first() else { return out };
    let own = first.text("name").to_owned();
    for (key, top) in SHARED {
        if versions.iter().all(|v| internal::same(key, v, first)) {
            if let Some(value) = first.opt(key).cloned() {
                out.put(top, value);
            }
            out.each("versions", |v| v.drop(key));
        }
    }
    out.put("version", own);
    out
}

/// Return a `spec` of `v1beta1` with the names of `v1`, its top-level fields kept: the internal type.
pub(super) fn reword(spec: &Value) -> Value {
    let mut out = spec.clone();
    columns(&mut out, "JSONPath", "jsonPath");
    out.within("conversion", |conversion| {
        let mut webhook = Value::object();
        for (old, new) in
            [("webhookClientConfig", "clientConfig"), ("conversionReviewVersions", "conversionReviewVersions")]
        {
            if let Some(value) = conversion.opt(old).cloned() {
                webhook.put(new, value);
            }
            conversion.drop(old);
        }
        if webhook.as_object().is_some_and(|w| !w.is_empty()) {
            conversion.put("webhook", webhook);
        }
    });
    out
}

/// Convert `v1beta1` to `v1`.
pub(super) fn up(object: &mut Value) {
    object.within("spec", |spec| {
        let mut out = reword(spec);
        if out.list("versions").is_empty() && !out.zero("version") {
            let mut only = Value::object();
            only.put("name", out.text("version").to_owned());
            only.put("served", true);
            only.put("storage", true);
            out.put("versions", vec![only]);
        }
        for (key, top) in SHARED {
            if let Some(value) = out.opt(top).cloned() {
                out.each("versions", |version| version.put(key, value.clone()));
            }
            out.drop(top);
        }
        out.drop("version");
        if !out.flag("preserveUnknownFields") {
            out.drop("preserveUnknownFields");
        }
        *spec = out;
    });
}

/// Convert `v1` to `v1beta1`.
pub(super) fn down(object: &mut Value) {
    object.within("spec", |spec| {
        let mut out = lift(spec);
        columns(&mut out, "jsonPath", "JSONPath");
        out.within("conversion", |conversion| {
            let Some(webhook) = conversion.opt("webhook").cloned() else { return };
            conversion.drop("webhook");
            for (new, old) in
                [("clientConfig", "webhookClientConfig"), ("conversionReviewVersions", "conversionReviewVersions")]
            {
                if let Some(value) = webhook.opt(new) {
                    conversion.put(old, value.clone());
                }
            }
        });
        out.unset("preserveUnknownFields", false);
        *spec = out;
    });
}

/// Rename the path of the columns in both places.
fn columns(spec: &mut Value, from: &str, to: &str) {
    let rename = |column: &mut Value| {
        if let Some(path) = column.opt(from).cloned() {
            column.drop(from);
            column.put(to, path);
        }
    };
    spec.each("additionalPrinterColumns", rename);
    spec.each("versions", |version| version.each("additionalPrinterColumns", rename));
}

#[cfg(test)]
mod tests {
    use hydrofoil_codec::json;

    use super::*;

    fn value(text: &str) -> Value {
        json::parse(text.as_bytes()).unwrap().value
    }

    #[test]
    fn both_ways_give_what_was_there() {
        let beta = value(
            r#"{"spec":{"group":"e.com","version":"v1","versions":[{"name":"v1","served":true,"storage":true},{"name":"v2"}],
            "validation":{"openAPIV3Schema":{"type":"object"}},"subresources":{"status":{}},
            "additionalPrinterColumns":[{"name":"A","type":"string","JSONPath":".a"}],
            "conversion":{"strategy":"Webhook","webhookClientConfig":{"url":"https://h"},"conversionReviewVersions":["v1beta1"]},
            "preserveUnknownFields":false}}"#,
        );
        let mut made = beta.clone();
        up(&mut made);
        let second = &made.field("spec").list("versions")[1];
        assert_eq!(second.field("additionalPrinterColumns").as_array().unwrap()[0].text("jsonPath"), ".a");
        assert!(second.field("subresources").has("status") && second.field("schema").has("openAPIV3Schema"));
        assert_eq!(
            made.field("spec").field("conversion").field("webhook").field("clientConfig").text("url"),
            "https://h"
        );
        assert!(!made.field("spec").has("validation") && !made.field("spec").has("version"));
        down(&mut made);
        let (mut made, mut beta) = (made, beta);
        made.sort_members();
        beta.sort_members();
        assert_eq!(made, beta);
    }

    #[test]
    fn what_versions_do_not_share_stays_theirs() {
        let mut object = value(
            r#"{"spec":{"versions":[{"name":"v2","schema":{"openAPIV3Schema":{"type":"object"}}},{"name":"v1"}]}}"#,
        );
        down(&mut object);
        let spec = object.field("spec");
        assert_eq!(spec.text("version"), "v2");
        assert!(spec.list("versions")[0].has("schema") && !spec.has("validation"));
        assert_eq!(spec.field("preserveUnknownFields"), &Value::Bool(false));
    }
}
