//! Storage versions (`pkg/registry/apiserverinternal/storageversion/strategy.go`).

use std::collections::{HashMap, HashSet};

use hydrofoil_types::{Causes, Path, Value};

use crate::kind::{MetadataOrder, Request, Strategy, reset_metadata};
use hydrofoil_rules::check::Check;
use hydrofoil_rules::format::{label, name};
use hydrofoil_rules::meta;
use hydrofoil_rules::table::text::{deref, first_three};
use hydrofoil_rules::table::{Subject, cells};
use hydrofoil_types::read::{Read, Write};

pub(crate) static STRATEGY: Strategy = Strategy {
    allow_unconditional_update: false,
    has_status: true,
    reset_fields: reset_metadata,
    status_resets_metadata: true,
    metadata_order: MetadataOrder::Own,
    metadata_on_update: &[],
    metadata_on_status: &[],
    validate,
    validate_update: |req, object, _, causes| {
        if req.subresource == "status" {
            status(object.field("status"), causes);
        }
    },
    row: Some(row),
    ..Strategy::DEFAULT
};

/// `ValidateStorageVersion`; a new object has no status.
fn validate(req: &Request<'_>, object: &Value, causes: &mut Causes) {
    let path = Path::new("metadata");
    let generate = object.field("metadata").text("generateName");
    if !generate.is_empty() {
        causes.format(&path.child("generateName"), generate, own_name);
    }
    let mut own = object.clone();
    own.within("metadata", |meta| meta.drop("generateName"));
    meta::create_named(req.kind, &own, &path, own_name, causes);
}

/// `ValidateStorageVersionName`.
fn own_name(text: &str, bad: &mut dyn FnMut(&str)) {
    let Some((group, resource)) = text.rsplit_once('.') else {
        return bad("name must be in the form of <group>.<resource>");
    };
    name::subdomain(group, &mut |detail| bad(&format!("the group segment {detail}")));
    name::label_1035(resource, &mut |detail| bad(&format!("the resource segment {detail}")));
}

/// `validateStorageVersionStatus`.
fn status(status: &Value, causes: &mut Causes) {
    let path = Path::new("status");
    let (versions, at) = (status.list("storageVersions"), path.child("storageVersions"));
    let mut servers = HashSet::new();
    for (i, version) in versions.iter().enumerate() {
        let at = at.index(i);
        if !servers.insert(version.text("apiServerID")) {
            causes.duplicate_str(&at.child("apiServerID"), version.text("apiServerID"));
        }
        server(version, &at, causes);
    }
    common(status, versions, &path.child("commonEncodingVersion"), causes);
    conditions(status.list("conditions"), &path, causes);
}

/// `validateServerStorageVersion`.
fn server(version: &Value, at: &Path<'_>, causes: &mut Causes) {
    causes.format(&at.child("apiServerID"), version.text("apiServerID"), name::subdomain);
    let encoding = version.text("encodingVersion");
    api_version(encoding, &at.child("encodingVersion"), causes);
    let decodable: Vec<&str> = texts(version, "decodableVersions");
    for (i, one) in decodable.iter().enumerate() {
        api_version(one, &at.child("decodableVersions").index(i), causes);
    }
    if !decodable.contains(&encoding) {
        let detail = format!("decodableVersions must include encodingVersion {encoding}");
        causes.invalid(&at.child("decodableVersions"), version.field("decodableVersions"), &detail);
    }
    let at = at.child("servedVersions");
    for (i, one) in texts(version, "servedVersions").into_iter().enumerate() {
        let at = at.index(i);
        api_version(one, &at, causes);
        if !decodable.contains(&one) {
            let all = decodable.join(" ");
            let detail = format!("individual served version : {one} must be included in decodableVersions : [{all}]");
            causes.invalid_str(&at, one, &detail);
        }
    }
}

fn texts<'a>(of: &'a Value, key: &str) -> Vec<&'a str> {
    of.list(key).iter().map(|v| v.as_str().unwrap_or("")).collect()
}

/// `validateCommonVersion`.
fn common(status: &Value, versions: &[Value], at: &Path<'_>, causes: &mut Causes) {
    let first = versions.first().map(|v| v.text("encodingVersion"));
    let actual = first.filter(|f| versions.iter().all(|v| v.text("encodingVersion") == *f));
    let given = status.opt("commonEncodingVersion");
    match (actual, given.map(|g| g.as_str().unwrap_or(""))) {
        (None, Some(given)) => {
            let detail = "should be nil if servers do not agree on the same encoding version, or if there is no server reporting the supported versions yet";
            causes.invalid_str(at, given, detail);
        }
        (Some(actual), None) => {
            causes.invalid(at, &Value::Null, &format!("the common encoding version is {actual}"));
        }
        (Some(actual), Some(given)) if actual != given => {
            causes.invalid_str(at, given, &format!("the actual common encoding version is {actual}"));
        }
        _ => {}
    }
}

/// `validateStorageVersionCondition`, which leaves the name of the list out of paths.
fn conditions(list: &[Value], path: &Path<'_>, causes: &mut Causes) {
    let mut seen = HashMap::new();
    for (i, condition) in list.iter().enumerate() {
        let at = path.index(i);
        let kind = condition.text("type");
        if let Some(other) = seen.insert(kind, i) {
            let detail = format!("the type of the condition is not unique, it also appears in conditions[{other}]");
            causes.invalid_str(&at.child("type"), kind, &detail);
        }
        causes.format(&at.child("type"), kind, label::key);
        causes.format(&at.child("status"), condition.text("status"), label::key);
        for key in ["reason", "message"] {
            if condition.zero(key) {
                causes.need(&at.child(key));
            }
        }
    }
}

/// `isValidAPIVersion`: one cause has all that is wrong.
fn api_version(text: &str, at: &Path<'_>, causes: &mut Causes) {
    let mut wrong = Vec::new();
    let mut part = |name: &str, text: &str, format: hydrofoil_rules::format::Format| {
        if text.is_empty() {
            wrong.push(format!("{name} part: must be non-empty"));
        } else {
            format(text, &mut |detail| wrong.push(format!("{name} part: {detail}")));
        }
    };
    match text.split('/').collect::<Vec<_>>().as_slice() {
        [version] => part("version", version, name::label_1035),
        [group, version] => {
            part("group", group, name::subdomain);
            part("version", version, name::label_1035);
        }
        _ => wrong.push(MANY_PARTS.to_owned()),
    }
    if !wrong.is_empty() {
        causes.invalid_str(at, text, &wrong.join(","));
    }
}

const MANY_PARTS: &str = "an apiVersion is a DNS-1035 label, which must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?') with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyVersion')";

/// `printStorageVersion`.
fn row(subject: &Subject<'_>) -> Vec<Value> {
    let status = subject.status();
    let versions = status
        .list("storageVersions")
        .iter()
        .map(|v| format!("{}={}", v.text("apiServerID"), v.text("encodingVersion")));
    cells![subject.name(), deref(status, "commonEncodingVersion", "<unset>"), first_three(versions), subject.age()]
}
