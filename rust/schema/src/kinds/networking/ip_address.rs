//! IP addresses (`pkg/registry/networking/ipaddress/strategy.go`).

use hydrofoil_types::{Causes, Path, Value};

use crate::kind::{Kind, MetadataCheck, MetadataOrder, NameRule, Strategy};
use hydrofoil_internal::InternalCauses;
use hydrofoil_rules::check::Check;
use hydrofoil_rules::format::{ip, name};
use hydrofoil_rules::meta;
use hydrofoil_rules::table::text::{group_resource, lower};
use hydrofoil_rules::table::{Subject, cells};
use hydrofoil_types::read::Read;

pub(crate) static STRATEGY: Strategy = Strategy {
    name_rule: NameRule::Other,
    metadata_order: MetadataOrder::Own,
    metadata_on_update: &[MetadataCheck::Update],
    validate: |req, object, causes| validate(req.kind, object, causes),
    validate_update: |req, object, old, causes| {
        validate(req.kind, object, causes);
        validate_update(object, old, causes);
    },
    row: Some(row),
    ..Strategy::DEFAULT
};

const SPEC: Path<'static> = Path::new("spec");

/// `ValidateIPAddress`: the name is the address.
fn validate(kind: &Kind, object: &Value, causes: &mut Causes) {
    meta::create_named(kind, object, &Path::new("metadata"), ip::ip, causes);
    parent(object, causes);
}

/// `validateIPAddressParentReference`.
fn parent(object: &Value, causes: &mut Causes) {
    let at = SPEC.child("parentRef");
    let Some(parent) = object.field("spec").opt("parentRef") else { return causes.need(&at) };
    if !parent.zero("group") {
        causes.format(&at.child("group"), parent.text("group"), name::subdomain);
    }
    for key in ["resource", "name"] {
        if parent.zero(key) {
            causes.need(&at.child(key));
        } else {
            causes.format(&at.child(key), parent.text(key), name::path_segment);
        }
    }
    if !parent.zero("namespace") {
        causes.format(&at.child("namespace"), parent.text("namespace"), name::path_segment);
    }
}

/// `ValidateIPAddressUpdate`.
fn validate_update(object: &Value, old: &Value, causes: &mut Causes) {
    let (now, before) = (object.field("spec").field("parentRef"), old.field("spec").field("parentRef"));
    causes.immutable_internal(&SPEC.child("parentRef"), "*networking.ParentReference", now, before);
}

/// `printIPAddress`, which returns an age though there is no column for it.
fn row(subject: &Subject<'_>) -> Vec<Value> {
    let parent = subject.spec().opt("parentRef").map_or_else(
        || "<none>".to_owned(),
        |p| {
            let resource = lower(&group_resource(p.text("resource"), p.text("group")));
            match p.text("namespace") {
                "" => format!("{resource}/{}", p.text("name")),
                namespace => format!("{resource}/{namespace}/{}", p.text("name")),
            }
        },
    );
    cells![subject.name(), parent, subject.age()]
}
