//! Claims, their templates and device classes.

use hydrofoil_types::{Again, Causes, Path, Seen, Value, Whole};

use super::status;
use crate::Request;
use crate::internal::InternalCauses;
use crate::read::Read;
use crate::validate::check::Check;
use crate::validate::format::{label, name};
use crate::validate::meta;

const SPEC: Path<'static> = Path::new("spec");

pub(crate) fn class(object: &Value, causes: &mut Causes) {
    let spec = object.sub("spec");
    super::selectors(spec.list("selectors"), &SPEC.child("selectors"), causes);
    let at = SPEC.child("config");
    let configs = spec.list("config");
    for (i, config) in some(configs, &at, causes).iter().enumerate() {
        super::opaque(config, &at.index(i), causes);
    }
    if let Some(extended) = spec.opt("extendedResourceName") {
        let text = extended.as_str().unwrap_or("");
        if !crate::validate::resource::is_extended(text) {
            let detail = "must be a valid extended resource name";
            causes.invalid_str(&SPEC.child("extendedResourceName"), text, detail);
        }
    }
}

pub(crate) fn claim(version: &str, object: &Value, causes: &mut Causes) {
    let spec = object.sub("spec").sub("devices");
    devices(version, spec, &SPEC.child("devices"), causes);
    let requests = spec.list("requests");
    if requests.len() > MOST {
        // The declared rules of claims look for twins all the same.
        twins(requests, &SPEC.child("devices").child("requests"), causes);
    }
}

pub(crate) fn template(version: &str, object: &Value, causes: &mut Causes) {
    let spec = object.sub("spec");
    meta::template(spec.sub("metadata"), &SPEC.child("metadata"), causes);
    let at = SPEC.child("spec");
    devices(version, spec.sub("spec").sub("devices"), &at.child("devices"), causes);
}

pub(crate) fn update(req: &Request<'_>, object: &Value, old: &Value, causes: &mut Causes) {
    let kind = req.kind.kind.as_str();
    match (kind, req.subresource) {
        ("ResourceClaim", "status") => status::update(object, old, causes),
        ("ResourceClaim", _) => {
            causes.immutable_internal(&SPEC, "resource.ResourceClaimSpec", object.sub("spec"), old.sub("spec"));
        }
        ("ResourceClaimTemplate", _) => {
            template(&req.kind.version, object, causes);
            causes.immutable_internal(&SPEC, "resource.ResourceClaimTemplateSpec", object.sub("spec"), old.sub("spec"));
        }
        _ => class(object, causes),
    }
}

/// The names of requests and of their choices, as constraints and results write them.
pub(super) fn names(devices: &Value) -> Seen<String> {
    let mut out = Seen::default();
    for request in devices.list("requests") {
        let own = request.s("name");
        out.insert(own.to_owned());
        for sub in request.list("firstAvailable") {
            out.insert(format!("{own}/{}", sub.s("name")));
        }
    }
    out
}

/// How many requests, constraints and configurations a claim may have.
const MOST: usize = 32;

/// What of a list is looked at: none of one that is too long.
fn some<'a>(list: &'a [Value], path: &Path<'_>, causes: &mut Causes) -> &'a [Value] {
    if list.len() > MOST {
        causes.too_many(path, list.len(), MOST);
        return &[];
    }
    list
}

fn twins(requests: &[Value], path: &Path<'_>, causes: &mut Causes) {
    let again = Again::of(requests, |v| v.s("name"));
    for (i, one) in requests.iter().enumerate() {
        if again.at(i) {
            causes.duplicate_str(&path.index(i), one.s("name"));
        }
    }
}

/// `validateDeviceClaim`.
fn devices(version: &str, devices: &Value, path: &Path<'_>, causes: &mut Causes) {
    let names = names(devices);
    let at = path.child("requests");
    let requests = devices.list("requests");
    let again = Again::of(requests, |v| v.s("name"));
    for (i, one) in some(requests, &at, causes).iter().enumerate() {
        let at = at.index(i);
        request(version, one, &at, causes);
        if again.at(i) {
            causes.duplicate_str(&at, one.s("name"));
        }
    }
    let at = path.child("constraints");
    let constraints = devices.list("constraints");
    for (i, one) in some(constraints, &at, causes).iter().enumerate() {
        constraint(one, &names, &at.index(i), causes);
    }
    let at = path.child("config");
    let configs = devices.list("config");
    if configs.len() > 32 {
        causes.too_many(&at, configs.len(), 32);
    }
    for (i, config) in configs.iter().enumerate() {
        let at = at.index(i);
        request_names(config, &names, &at, causes);
        super::opaque(config, &at, causes);
    }
}

/// `validateRequestNames`.
fn request_names(holder: &Value, names: &Seen<String>, path: &Path<'_>, causes: &mut Causes) {
    let at = path.child("requests");
    let list = holder.list("requests");
    if list.len() > 32 {
        causes.too_many(&at, list.len(), 32);
    }
    let again = Again::of(list, Whole);
    for (i, value) in list.iter().enumerate() {
        request_name(value.as_str().unwrap_or(""), names, &at.index(i), causes);
        if again.at(i) {
            causes.duplicate(&at.index(i), value);
        }
    }
}

pub(super) fn request_name(text: &str, names: &Seen<String>, at: &Path<'_>, causes: &mut Causes) {
    let parts: Vec<&str> = text.split('/').collect();
    if parts.len() > 2 {
        let detail =
            "must be the name of a request in the claim or the name of a request and a subrequest separated by '/'";
        return causes.invalid_str(at, text, detail);
    }
    for part in parts {
        causes.format(at, part, name::label);
    }
    if !names.contains(&text.to_owned()) {
        let detail =
            "must be the name of a request in the claim or the name of a request and a subrequest separated by '/'";
        causes.invalid_str(at, text, detail);
    }
}

fn constraint(constraint: &Value, names: &Seen<String>, path: &Path<'_>, causes: &mut Causes) {
    request_names(constraint, names, path, causes);
    let (same, distinct) = (constraint.opt("matchAttribute"), constraint.opt("distinctAttribute"));
    match (same, distinct) {
        (None, None) => causes.required(
            path,
            "exactly one of \"matchAttribute\" or \"distinctAttribute\" is required, but multiple fields are set",
        ),
        (Some(value), _) => {
            super::fully_qualified(value.as_str().unwrap_or(""), &path.child("matchAttribute"), causes);
        }
        (None, Some(value)) => {
            super::fully_qualified(value.as_str().unwrap_or(""), &path.child("distinctAttribute"), causes);
        }
    }
}

fn request(version: &str, request: &Value, path: &Path<'_>, causes: &mut Causes) {
    causes.format(&path.child("name"), request.s("name"), name::label);
    let choices = request.list("firstAvailable");
    let exact = if version == "v1beta1" { !request.zero("deviceClassName") } else { request.has("exactly") };
    match (exact, choices.is_empty()) {
        (true, false) => {
            let detail = "exactly one of `exactly` or `firstAvailable` is required, but multiple fields are set";
            causes.invalid(path, &Value::Null, detail);
        }
        (false, true) => causes.required(path, "exactly one of `exactly` or `firstAvailable` is required"),
        _ => {}
    }
    if exact && !choices.is_empty() {
        return;
    }
    if !choices.is_empty() {
        let at = path.child("firstAvailable");
        if choices.len() > 8 {
            causes.too_many(&at, choices.len(), 8);
        }
        let again = Again::of(choices, |v| v.s("name"));
        for (i, choice) in choices.iter().enumerate() {
            let at = at.index(i);
            causes.format(&at.child("name"), choice.s("name"), name::label);
            exact_request(choice, &at, causes);
            if again.at(i) {
                causes.duplicate_str(&at, choice.s("name"));
            }
        }
    }
    if exact {
        if version == "v1beta1" {
            exact_request(request, path, causes);
        } else {
            exact_request(request.sub("exactly"), &path.child("exactly"), causes);
        }
    }
}

fn exact_request(request: &Value, path: &Path<'_>, causes: &mut Causes) {
    let at = path.child("deviceClassName");
    if request.zero("deviceClassName") {
        causes.need(&at);
    } else {
        causes.format(&at, request.s("deviceClassName"), name::subdomain);
    }
    super::selectors(request.list("selectors"), &path.child("selectors"), causes);
    let (at, count) = (path.child("count"), request.i("count"));
    match request.s("allocationMode") {
        "All" => {
            if count != 0 {
                causes.invalid_int(&at, count, "must not be specified when allocationMode is 'All'");
            }
        }
        "ExactCount" => {
            if count <= 0 {
                causes.invalid_int(&at, count, "must be greater than zero");
            }
        }
        other => causes.unsupported(&path.child("allocationMode"), other, &["All", "ExactCount"]),
    }
    let at = path.child("tolerations");
    let tolerations = request.list("tolerations");
    if tolerations.len() > 16 {
        causes.too_many(&at, tolerations.len(), 16);
    }
    for (i, toleration) in tolerations.iter().enumerate() {
        toleration_of(toleration, &at.index(i), causes);
    }
}

fn toleration_of(toleration: &Value, path: &Path<'_>, causes: &mut Causes) {
    if !toleration.zero("key") {
        causes.format(&path.child("key"), toleration.s("key"), label::key);
    }
    let value = toleration.s("value");
    match toleration.s("operator") {
        "Exists" => {
            if !value.is_empty() {
                causes.invalid_str(&path.child("value"), value, "must be empty for operator `Exists`");
            }
        }
        "Equal" => causes.format(&path.child("value"), value, label::value),
        "" => causes.need(&path.child("operator")),
        other => causes.unsupported(&path.child("operator"), other, &["Equal", "Exists"]),
    }
    let effect = toleration.s("effect");
    if !effect.is_empty() {
        causes.one_of(&path.child("effect"), effect, &["NoExecute", "NoSchedule", "None"]);
    }
}
