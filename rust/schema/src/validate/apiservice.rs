//! API services (`kube-aggregator/pkg/apis/apiregistration/validation/validation.go`).

use hydrofoil_types::{Causes, Path, Value};

use super::check::Check;
use super::format::name;
use super::meta;
use crate::Kind;
use crate::read::Read;

const SPEC: Path<'static> = Path::new("spec");

/// The name is made of version and group, on updates too.
pub(crate) fn whole(kind: &Kind, object: &Value, causes: &mut Causes) {
    let spec = object.sub("spec");
    let (group, version) = (spec.s("group"), spec.s("version"));
    let required = format!("{version}.{group}");
    let own = object.sub("metadata");
    if own.s("name").is_empty() {
        meta::create(kind, object, causes);
    } else {
        let path = Path::new("metadata");
        for key in ["generateName", "name"].into_iter().filter(|key| !own.s(key).is_empty()) {
            let before = causes.len();
            causes.format(&path.child(key), own.s(key), name::path_segment);
            if causes.len() == before && own.s(key) != required {
                let detail = format!("must be `spec.version+\".\"+spec.group`: \"{required}\"");
                causes.invalid_str(&path.child(key), own.s(key), &detail);
            }
        }
        meta::common(false, own, &path, causes);
    }
    rules(object, causes);
}

fn rules(object: &Value, causes: &mut Causes) {
    let spec = object.sub("spec");
    let (group, version) = (spec.s("group"), spec.s("version"));
    if !group.is_empty() {
        causes.format(&SPEC.child("group"), group, name::subdomain);
    } else if version != "v1" {
        causes.required(&SPEC.child("group"), "only v1 may have an empty group and it better be legacy kube");
    }
    causes.format(&SPEC.child("version"), version, name::label_1035);
    let priority = spec.i("groupPriorityMinimum");
    if priority <= 0 || priority > 20_000 {
        let detail = "must be positive and less than 20000";
        causes.invalid_int(&SPEC.child("groupPriorityMinimum"), priority, detail);
    }
    let priority = spec.i("versionPriority");
    if priority <= 0 || priority > 1000 {
        causes.invalid_int(&SPEC.child("versionPriority"), priority, "must be positive and less than 1000");
    }
    let at = SPEC.child("insecureSkipTLSVerify");
    let Some(service) = spec.opt("service") else {
        if !spec.zero("caBundle") {
            let detail = "local APIServices may not have a caBundle";
            causes.invalid_str(
                &SPEC.child("caBundle"),
                &format!("{} bytes", super::core::plain::decoded_len(spec.s("caBundle"))),
                detail,
            );
        }
        if spec.b("insecureSkipTLSVerify") {
            causes.invalid(&at, &Value::Bool(true), "local APIServices may not have insecureSkipTLSVerify");
        }
        return;
    };
    let service_at = SPEC.child("service");
    for key in ["namespace", "name"] {
        if service.zero(key) {
            causes.need(&service_at.child(key));
        }
    }
    let port = service.i("port");
    if !(1..=65535).contains(&port) {
        let detail = "port is not valid: must be between 1 and 65535, inclusive";
        causes.invalid_int(&service_at.child("port"), port, detail);
    }
    if spec.b("insecureSkipTLSVerify") && !spec.zero("caBundle") {
        causes.invalid(&at, &Value::Bool(true), "may not be true if caBundle is present");
    }
}

/// `ValidateAPIServiceStatus`.
pub(crate) fn status(object: &Value, causes: &mut Causes) {
    let path = Path::new("status");
    let at = path.child("conditions");
    for (i, condition) in object.sub("status").list("conditions").iter().enumerate() {
        causes.one_of(&at.index(i).child("status"), condition.s("status"), &["True", "False", "Unknown"]);
    }
}
