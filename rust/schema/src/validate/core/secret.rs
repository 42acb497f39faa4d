//! Secrets.

#![allow(clippy::arithmetic_side_effects, reason = "it counts what an object of a few megabytes has")]

use base64::Engine as _;
use hydrofoil_types::{Causes, Path, Value};

use super::plain;
use crate::Request;
use crate::read::Read;
use crate::validate::check::{Check, IMMUTABLE};
use crate::validate::format::name;
use crate::validate::meta;

const MAX: usize = 1024 * 1024;
const DATA: Path<'static> = Path::new("data");

/// `ValidateSecret` after its metadata.
pub(crate) fn rules(object: &Value, causes: &mut Causes) {
    let data = object.sub("data");
    let mut size = 0;
    for (key, value) in object.entries("data") {
        causes.format(&DATA.key(key), key, name::config_key);
        size += plain::decoded_len(value.as_str().unwrap_or(""));
    }
    if size > MAX {
        causes.too_long(&DATA, MAX);
    }
    let mut need = |key: &str| {
        if !data.has(key) {
            causes.need(&DATA.key(key));
        }
    };
    match object.s("type") {
        "kubernetes.io/service-account-token"
            if object.sub("metadata").sub("annotations").zero("kubernetes.io/service-account.name") =>
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

/// The value must hold a JSON object.
fn json(data: &Value, key: &str, causes: &mut Causes) {
    let Some(text) = data.opt(key).and_then(Value::as_str) else { return };
    let bytes = base64::engine::general_purpose::STANDARD.decode(text).unwrap_or_default();
    if let Some(problem) = crate::validate::format::json::object_problem(&bytes) {
        causes.invalid_str(&DATA.key(key), "<secret contents redacted>", &problem);
    }
}

pub(crate) fn update(req: &Request<'_>, object: &Value, old: &Value, causes: &mut Causes) {
    if object.s("type") != old.s("type") {
        causes.invalid_str(&Path::new("type"), object.s("type"), IMMUTABLE);
    }
    plain::immutable(object, old, &["data"], causes);
    meta::create(req.kind, object, causes);
    rules(object, causes);
}
