//! Controller revisions (`pkg/registry/apps/controllerrevision/strategy.go`).

use hydrofoil_types::{Causes, Path, Value};

use crate::Request;
use crate::kind::{MetadataCheck, Strategy};
use hydrofoil_rules::check::{Check, IMMUTABLE};
use hydrofoil_rules::table::text::{group_resource, lower};
use hydrofoil_rules::table::{Subject, cells};
use hydrofoil_types::read::Read;

pub(crate) static STRATEGY: Strategy = Strategy {
    metadata_on_update: &[MetadataCheck::Update, MetadataCheck::Object],
    validate: |_, object, causes| validate(object, causes),
    validate_update,
    row: Some(row),
    ..Strategy::DEFAULT
};

/// `ValidateControllerRevisionCreate`.
fn validate(object: &Value, causes: &mut Causes) {
    causes.not_negative(&Path::new("revision"), object.int("revision"));
    match object.opt("data") {
        None => causes.required(&Path::new("data"), "data is mandatory"),
        Some(Value::Raw(text)) if text.starts_with('{') => {}
        Some(_) => causes.required(&Path::new("data"), "data must be a valid JSON object"),
    }
}

/// `ValidateControllerRevisionUpdate`.
fn validate_update(_req: &Request<'_>, object: &Value, old: &Value, causes: &mut Causes) {
    causes.not_negative(&Path::new("revision"), object.int("revision"));
    if object.field("data") != old.field("data") {
        causes.invalid(&Path::new("data"), object.field("data"), IMMUTABLE);
    }
}

/// `printControllerRevision`.
fn row(subject: &Subject<'_>) -> Vec<Value> {
    let owner = subject.meta().owners().iter().find(|o| o.flag("controller"));
    let controller = owner.map_or_else(
        || "<none>".to_owned(),
        |o| {
            let group = o.text("apiVersion").split_once('/').map_or("", |(group, _)| group);
            match group_resource(o.text("kind"), group).as_str() {
                "" => o.text("name").to_owned(),
                kind => format!("{}/{}", lower(kind), o.text("name")),
            }
        },
    );
    cells![subject.name(), controller, subject.object.int("revision"), subject.age()]
}
