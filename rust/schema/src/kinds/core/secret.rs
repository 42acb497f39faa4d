//! Secrets (`pkg/registry/core/secret/strategy.go`).

#![allow(clippy::arithmetic_side_effects, reason = "it counts what an object of a few megabytes has")]

use base64::Engine as _;
use hydrofoil_types::{Causes, Path, Value};

use crate::Request;
use crate::kind::Strategy;
use hydrofoil_rules::check::{Check, IMMUTABLE};
use hydrofoil_rules::format::name;
use hydrofoil_rules::table::{Subject, cells};
use hydrofoil_rules::{data, meta};
use hydrofoil_types::read::{Read, Write};

pub(crate) static STRATEGY: Strategy = Strategy {
    default: |_, object, _| default(object),
    after_decode,
    prepare_update: |_, object, old| prepare_update(object, old),
    validate: |_, object, causes| validate(object, causes),
    validate_update,
    warn_create: |_, object, out| warn(object, out),
    warn_update: |_, object, _, out| warn(object, out),
    row: Some(row),
    ..Strategy::DEFAULT
};

fn default(object: &mut Value) {
    // The conversion writes the texts over the bytes of the same names.
    if let Some(texts) = object.as_object_mut().and_then(|m| m.remove("stringData")) {
        let data = object.make("data");
        for (key, text) in texts.as_object().into_iter().flatten() {
            let text = text.as_str().unwrap_or("");
            data.put(key, base64::engine::general_purpose::STANDARD.encode(text));
        }
        if let Some(map) = data.as_object_mut() {
            map.sort_keys();
        }
        if object.zero("data") {
            object.drop("data");
        }
    }
    object.fill("type", "Opaque");
}

/// Move `stringData` of a Secret into `data`.
fn after_decode(object: &mut Value) {
    let Some(Value::Object(given)) = object.as_object_mut().and_then(|m| m.remove("stringData")) else { return };
    // No text makes no map: an immutable secret without data is left as it is.
    if given.is_empty() {
        return;
    }
    let data = object.object_at_mut(&["data"]);
    for (key, value) in given {
        let text = value.as_str().unwrap_or("");
        data.set(key, base64(text.as_bytes()));
    }
    data.sort_keys();
}

fn base64(bytes: &[u8]) -> String {
    base64::engine::general_purpose::STANDARD.encode(bytes)
}

/// Keep the type of a secret unless another is given.
fn prepare_update(object: &mut Value, old: &Value) {
    if object.zero("type") {
        object.copy_from(old, "type");
    }
}

const MAX: usize = 1024 * 1024;

const DATA: Path<'static> = Path::new("data");

/// `ValidateSecret` after its metadata.
fn validate(object: &Value, causes: &mut Causes) {
    let data = object.field("data");
    let mut size = 0;
    for (key, value) in object.entries("data") {
        causes.format(&DATA.key(key), key, name::config_key);
        size += data::decoded_len(value.as_str().unwrap_or(""));
    }
    if size > MAX {
        causes.too_long(&DATA, MAX);
    }
    let mut need = |key: &str| {
        if !data.has(key) {
            causes.need(&DATA.key(key));
        }
    };
    match object.text("type") {
        "kubernetes.io/service-account-token"
            if object.field("metadata").field("annotations").zero("kubernetes.io/service-account.name") =>
        {
            let meta = Path::new("metadata");
            causes.need(&meta.child("annotations").key("kubernetes.io/service-account.name"));
        }
        "kubernetes.io/dockercfg" => {
            need(".dockercfg");
            json(data, ".dockercfg", causes);
        }
        "kubernetes.io/dockerconfigjson" => {
            need(".dockerconfigjson");
            json(data, ".dockerconfigjson", causes);
        }
        "kubernetes.io/basic-auth" if !data.has("username") && !data.has("password") => {
            need("username");
            need("password");
        }
        "kubernetes.io/ssh-auth" if data.zero("ssh-privatekey") => {
            causes.need(&DATA.key("ssh-privatekey"));
        }
        "kubernetes.io/tls" => {
            need("tls.crt");
            need("tls.key");
        }
        _ => {}
    }
}

/// Require a JSON object as the value.
fn json(data: &Value, key: &str, causes: &mut Causes) {
    let Some(text) = data.opt(key).and_then(Value::as_str) else { return };
    let bytes = base64::engine::general_purpose::STANDARD.decode(text).unwrap_or_default();
    if let Some(problem) = hydrofoil_rules::format::json::object_problem(&bytes) {
        causes.invalid_str(&DATA.key(key), "<secret contents redacted>", &problem);
    }
}

fn validate_update(req: &Request<'_>, object: &Value, old: &Value, causes: &mut Causes) {
    if object.text("type") != old.text("type") {
        causes.invalid_str(&Path::new("type"), object.text("type"), IMMUTABLE);
    }
    data::immutable(object, old, &[("data", true)], causes);
    meta::create(req.kind, object, causes);
    validate(object, causes);
}

/// `warningsForSecret`: the error of `tls.X509KeyPair` for a pair without any PEM.
fn warn(object: &Value, out: &mut Vec<String>) {
    if object.text("type") != "kubernetes.io/tls" {
        return;
    }
    let data = object.field("data");
    for (key, name) in [("tls.crt", "certificate"), ("tls.key", "key")] {
        let bytes = base64::engine::general_purpose::STANDARD.decode(data.text(key)).unwrap_or_default();
        if !bytes.windows(11).any(|w| w == b"-----BEGIN ") {
            out.push(format!("tls: failed to find any PEM data in {name} input"));
            return;
        }
    }
}

/// `printSecret`.
fn row(subject: &Subject<'_>) -> Vec<Value> {
    cells![subject.name(), subject.object.text("type"), subject.object.entries("data").len() as i64, subject.age()]
}
