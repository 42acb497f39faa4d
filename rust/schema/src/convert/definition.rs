//! Custom resource definitions in `v1beta1`, and as upstream holds them inside (apiextensions-apiserver
//! `pkg/apis/apiextensions/v1{,beta1}/conversion.go`).

#![allow(clippy::indexing_slicing, reason = "the place was found in the list, or the length looked at before")]

use hydrofoil_types::Value;

use crate::read::{Read, Write, same};

/// What all versions may share: its name in a version, and at the top.
const SHARED: [(&str, &str); 4] = [
    ("schema", "validation"),
    ("subresources", "subresources"),
    ("additionalPrinterColumns", "additionalPrinterColumns"),
    ("selectableFields", "selectableFields"),
];

/// A `spec` of `v1` with what its versions agree on at the top, as the internal type has it.
pub(crate) fn lifted(spec: &Value) -> Value {
    let mut out = spec.clone();
    let versions = spec.list("versions");
    let Some(first) = versions.first() else { return out };
    let own = first.s("name").to_owned();
    for (key, top) in SHARED {
        // A pointer to an empty struct is not the same as none.
        let shared = versions.iter().all(|v| {
            if key == "subresources" { v.opt(key) == first.opt(key) } else { same(v.sub(key), first.sub(key)) }
        });
        if shared {
            if let Some(value) = first.opt(key).cloned() {
                out.put(top, value);
            }
            out.each("versions", |v| v.drop(key));
        }
    }
    out.put("version", own);
    out
}

/// A `spec` of `v1beta1` in the words of `v1`, with what is at the top still there: the internal type.
pub(crate) fn reworded(spec: &Value) -> Value {
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

/// `v1beta1` to `v1`.
pub(super) fn up(object: &mut Value) {
    object.within("spec", |spec| {
        let mut out = reworded(spec);
        if out.list("versions").is_empty() && !out.zero("version") {
            let mut only = Value::object();
            only.put("name", out.s("version").to_owned());
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
        if !out.b("preserveUnknownFields") {
            out.drop("preserveUnknownFields");
        }
        *spec = out;
    });
}

/// `v1` to `v1beta1`.
pub(super) fn down(object: &mut Value) {
    object.within("spec", |spec| {
        let mut out = lifted(spec);
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

/// The columns of both places call their path otherwise.
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
        let second = &made.sub("spec").list("versions")[1];
        assert_eq!(second.sub("additionalPrinterColumns").as_array().unwrap()[0].s("jsonPath"), ".a");
        assert!(second.sub("subresources").has("status") && second.sub("schema").has("openAPIV3Schema"));
        assert_eq!(made.sub("spec").sub("conversion").sub("webhook").sub("clientConfig").s("url"), "https://h");
        assert!(!made.sub("spec").has("validation") && !made.sub("spec").has("version"));
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
        let spec = object.sub("spec");
        assert_eq!(spec.s("version"), "v2");
        assert!(spec.list("versions")[0].has("schema") && !spec.has("validation"));
        assert_eq!(spec.sub("preserveUnknownFields"), &Value::Bool(false));
    }
}
