//! API services (kube-aggregator `pkg/registry/apiservice/strategy.go`).

use hydrofoil_types::{Causes, Path, Timestamp, Value};

use crate::kind::{Kind, MetadataOrder, NameRule, Strategy, reset_metadata};
use hydrofoil_rules::check::Check;
use hydrofoil_rules::format::name;
use hydrofoil_rules::table::text::condition;
use hydrofoil_rules::table::{Subject, cells};
use hydrofoil_rules::{data, meta};
use hydrofoil_types::read::{Read, Write};

pub(crate) static STRATEGY: Strategy = Strategy {
    name_rule: NameRule::Other,
    allow_unconditional_update: false,
    has_status: true,
    status_resets_metadata: true,
    reset_fields: reset_metadata,
    default: |_, object, _| default(object),
    prepare_create: |_, object, now| prepare_create(object, now),
    metadata_order: MetadataOrder::Own,
    kube_finalizers: false,
    validate: |req, object, causes| validate(req.kind, object, causes),
    validate_update: |req, object, _, causes| {
        if req.subresource == "status" {
            validate_status(object, causes);
        } else {
            validate(req.kind, object, causes);
        }
    },
    row: Some(row),
    ..Strategy::DEFAULT
};

const SPEC: Path<'static> = Path::new("spec");

fn default(object: &mut Value) {
    object.within("spec", |s| s.within("service", |s| s.unset("port", 443)));
}

/// Make a service of this server itself available at once.
fn prepare_create(object: &mut Value, now: Timestamp) {
    if object.field("spec").has("service") {
        return;
    }
    let mut condition = Value::object();
    condition.put("type", "Available");
    condition.put("status", "True");
    condition.put("lastTransitionTime", now.rfc3339());
    condition.put("reason", "Local");
    condition.put("message", "Local APIServices are always available");
    object.make("status").put("conditions", vec![condition]);
}

/// `ValidateAPIService`: the name is made of version and group, on updates too.
fn validate(kind: &Kind, object: &Value, causes: &mut Causes) {
    let spec = object.field("spec");
    let (group, version) = (spec.text("group"), spec.text("version"));
    let required = format!("{version}.{group}");
    let own = object.field("metadata");
    if own.text("name").is_empty() {
        meta::create(kind, object, causes);
    } else {
        let path = Path::new("metadata");
        for key in ["generateName", "name"].into_iter().filter(|key| !own.text(key).is_empty()) {
            let before = causes.len();
            causes.format(&path.child(key), own.text(key), name::path_segment);
            if causes.len() == before && own.text(key) != required {
                let detail = format!("must be `spec.version+\".\"+spec.group`: \"{required}\"");
                causes.invalid_str(&path.child(key), own.text(key), &detail);
            }
        }
        meta::common(false, own, &path, causes);
    }
    rules(object, causes);
}

fn rules(object: &Value, causes: &mut Causes) {
    let spec = object.field("spec");
    let (group, version) = (spec.text("group"), spec.text("version"));
    if !group.is_empty() {
        causes.format(&SPEC.child("group"), group, name::subdomain);
    } else if version != "v1" {
        causes.required(&SPEC.child("group"), "only v1 may have an empty group and it better be legacy kube");
    }
    causes.format(&SPEC.child("version"), version, name::label_1035);
    let priority = spec.int("groupPriorityMinimum");
    if priority <= 0 || priority > 20_000 {
        let detail = "must be positive and less than 20000";
        causes.invalid_int(&SPEC.child("groupPriorityMinimum"), priority, detail);
    }
    let priority = spec.int("versionPriority");
    if priority <= 0 || priority > 1000 {
        causes.invalid_int(&SPEC.child("versionPriority"), priority, "must be positive and less than 1000");
    }
    let at = SPEC.child("insecureSkipTLSVerify");
    let Some(service) = spec.opt("service") else {
        if !spec.zero("caBundle") {
            let detail = "local APIServices may not have a caBundle";
            causes.invalid_str(
                &SPEC.child("caBundle"),
                &format!("{} bytes", data::decoded_len(spec.text("caBundle"))),
                detail,
            );
        }
        if spec.flag("insecureSkipTLSVerify") {
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
    let port = service.int("port");
    if !(1..=65535).contains(&port) {
        let detail = "port is not valid: must be between 1 and 65535, inclusive";
        causes.invalid_int(&service_at.child("port"), port, detail);
    }
    if spec.flag("insecureSkipTLSVerify") && !spec.zero("caBundle") {
        causes.invalid(&at, &Value::Bool(true), "may not be true if caBundle is present");
    }
}

/// `ValidateAPIServiceStatus`.
fn validate_status(object: &Value, causes: &mut Causes) {
    let path = Path::new("status");
    let at = path.child("conditions");
    for (i, condition) in object.field("status").list("conditions").iter().enumerate() {
        causes.one_of(&at.index(i).child("status"), condition.text("status"), &["True", "False", "Unknown"]);
    }
}

/// `ConvertToTable`.
fn row(subject: &Subject<'_>) -> Vec<Value> {
    let service = subject
        .spec()
        .opt("service")
        .map_or_else(|| "Local".to_owned(), |s| format!("{}/{}", s.text("namespace"), s.text("name")));
    let available = condition(subject.status(), "Available").map_or_else(
        || "Unknown".to_owned(),
        |c| match (c.text("status"), c.text("reason")) {
            (status @ "True", _) | (status, "") => status.to_owned(),
            (status, reason) => format!("{status} ({reason})"),
        },
    );
    cells![subject.name(), service, available, subject.age()]
}
