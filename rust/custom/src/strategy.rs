//! Steps of a write of custom resources (apiextensions-apiserver
//! `pkg/apiserver/customresource_handler.go` and `pkg/registry/customresource/strategy.go`).

use hydrofoil_cel::Patience;
use hydrofoil_types::{CauseReason, Causes, Path, Value};

use super::definition::{Definition, Version};
use super::embedded::{self, ReadMeta};
use super::{default, lists, prune as pruning, rules as cel, validate};
use hydrofoil_rules::format::{label, name};
use hydrofoil_rules::meta;
use hydrofoil_types::read::{Read, Write};

/// Bring a decoded object into the form of its schema: prune unknown members and nulls that are not values, read the
/// metadata of embedded resources, fill in defaults (`unstructuredSchemaCoercer`, `unstructuredDefaulter`).
///
/// Return the findings of strict field validation; the error is why an embedded resource cannot be read.
pub fn decode(
    definition: &Definition,
    version: &Version,
    object: &mut Value,
    read: ReadMeta<'_>,
) -> Result<Vec<String>, String> {
    let mut unknown = Vec::new();
    if !definition.preserve {
        unknown = prune(object, version);
    }
    unknown.append(&mut fill(version, object, read)?);
    Ok(unknown.into_iter().map(|path| format!("unknown field \"{path}\"")).collect())
}

/// Put embedded metadata into its form and fill defaults; return the paths that metadata does not have.
///
/// Nulls stay: upstream checks those of an applied configuration against the schema.
pub fn fill(version: &Version, object: &mut Value, read: ReadMeta<'_>) -> Result<Vec<String>, String> {
    let mut paths = Vec::new();
    embedded::coerce(object, &version.schema, read, &mut paths)?;
    paths.sort();
    default::apply(object, &version.schema);
    Ok(paths)
}

/// Remove the members unknown to a version, and nulls that are not values; return the paths of the former.
pub fn prune(object: &mut Value, version: &Version) -> Vec<String> {
    let gone = pruning::object(object, &version.schema);
    pruning::nulls(object, Some(&version.schema));
    gone
}

/// `PrepareForCreate`.
pub fn begin_create(version: &Version, object: &mut Value) {
    if version.status {
        object.drop("status");
        // Objects are defaulted on reads, so the stored form is defaulted too.
        default::apply(object, &version.schema);
    }
    object.make("metadata").put("generation", 1);
}

/// `PrepareForUpdate` of the object or of its status.
pub fn begin_update(version: &Version, subresource: &str, object: &mut Value, old: &Value) {
    if subresource == "status" {
        return begin_status(object, old);
    }
    if version.status {
        object.copy_from(old, "status");
    }
    let generation = old.field("metadata").int("generation");
    let changed = !same_beside_metadata(object, old);
    object.make("metadata").put("generation", generation.wrapping_add(i64::from(changed)).max(1));
}

/// Take over the status and the managed fields, and nothing else.
fn begin_status(object: &mut Value, old: &Value) {
    let status = object.as_object_mut().and_then(|m| m.remove("status"));
    let managed = object.field("metadata").get("managedFields").cloned();
    let version = object.field("metadata").get("resourceVersion").cloned();
    *object = old.clone();
    let metadata = object.make("metadata");
    for (key, value) in [("managedFields", managed), ("resourceVersion", version)] {
        match value {
            Some(value) => metadata.put(key, value),
            None => metadata.drop(key),
        }
    }
    match status {
        Some(status) => object.put("status", status),
        None => object.drop("status"),
    }
}

fn same_beside_metadata(object: &Value, old: &Value) -> bool {
    let members = |v: &Value| v.as_object().map_or(0, |m| m.iter().filter(|(k, _)| k != "metadata").count());
    members(object) == members(old)
        && object
            .as_object()
            .is_some_and(|map| map.iter().filter(|(k, _)| k != "metadata").all(|(k, v)| old.get(k) == Some(v)))
}

/// `Validate`. Causes may be missing if the time budget of the caller ran out.
pub fn create(
    definition: &Definition,
    version: &Version,
    object: &Value,
    patience: Option<&Patience>,
    causes: &mut Causes,
) {
    if !kind(definition, version, object, causes) {
        return;
    }
    meta::base(definition.namespaced, object, &Path::new("metadata"), name::subdomain, causes);
    validate::check(object, None, &version.schema, None, causes);
    if let Some(scale) = &version.scale {
        scale.check_spec(object, causes);
        scale.check_status(object, causes);
    }
    embedded::check(object, &version.schema, &Path::root(), causes);
    lists::unique(object, &version.schema, &Path::root(), causes);
    rules(version, object, None, patience, causes);
}

/// `ValidateUpdate` of the object or of its status. Causes may be missing if the time budget of the caller ran out.
pub fn update(
    definition: &Definition,
    version: &Version,
    subresource: &str,
    object: &Value,
    old: &Value,
    patience: Option<&Patience>,
    causes: &mut Causes,
) {
    // `validateCommonFields` of `rest.BeforeUpdate`; what is wrong in the metadata is a cause again below.
    meta::base(definition.namespaced, object, &Path::new("metadata"), name::path_segment, causes);
    meta::base_update(object, old, causes);
    if !kind(definition, version, object, causes) {
        return;
    }
    meta::base_update(object, old, causes);
    let schema = &version.schema;
    if subresource == "status" {
        if let Some(node) = schema.property("status")
            && let Some(status) = object.get("status")
        {
            validate::check(status, old.get("status"), node, Some("status"), causes);
        }
        if let Some(scale) = &version.scale {
            scale.check_status(object, causes);
        }
    } else {
        validate::check(object, Some(old), schema, None, causes);
        if let Some(scale) = &version.scale {
            scale.check_spec(object, causes);
            scale.check_status(object, causes);
        }
        embedded::check(object, schema, &Path::root(), causes);
    }
    if schema.keyed {
        let mut before = Causes::new();
        lists::unique(old, schema, &Path::root(), &mut before);
        if before.is_empty() {
            lists::unique(object, schema, &Path::root(), causes);
        }
    }
    rules(version, object, Some(old), patience, causes);
}

/// `ValidateTypeMeta`.
fn kind(definition: &Definition, version: &Version, object: &Value, causes: &mut Causes) -> bool {
    let mut fits = true;
    for (key, expected) in [("kind", &definition.kind), ("apiVersion", &version.api_version)] {
        if object.text(key) != expected {
            causes.invalid_str(&Path::new(key), object.text(key), &format!("must be {expected}"));
            fits = false;
        }
    }
    fits
}

/// `x-kubernetes-validations`: they are evaluated once the object is valid by the schema itself.
fn rules(version: &Version, object: &Value, old: Option<&Value>, patience: Option<&Patience>, causes: &mut Causes) {
    let blocking = |reason: CauseReason| {
        use CauseReason::{NotSupported, Required, TooLong, TooMany, TypeInvalid};
        matches!(reason, NotSupported | Required | TooLong | TooMany | TypeInvalid)
    };
    if !version.schema.ruled {
        return;
    }
    if causes.as_slice().iter().any(|c| blocking(c.reason)) {
        let why = "some validation rules were not checked because the object was invalid; correct the existing errors to complete validation";
        return causes.invalid(&Path::new("<nil>"), &Value::Null, why);
    }
    cel::check(&version.schema, object, old, &Path::root(), patience, causes);
}

/// Return the warnings: names of finalizers that are not qualified (`validateKubeFinalizerName`).
pub fn warnings(object: &Value, old: Option<&Value>) -> Vec<String> {
    let had = old.map_or(&[][..], |o| o.field("metadata").list("finalizers"));
    let mut added: Vec<&str> = object
        .field("metadata")
        .list("finalizers")
        .iter()
        .filter(|f| !had.contains(f))
        .filter_map(Value::as_str)
        .collect();
    added.sort_unstable();
    added.dedup();
    let mut out = Vec::new();
    for finalizer in added {
        let at = format!("metadata.finalizers: {finalizer:?}");
        label::key(finalizer, &mut |why| out.push(format!("{at}: {why}")));
        if !finalizer.contains('/') && !matches!(finalizer, "orphan" | "foregroundDeletion" | "kubernetes") {
            let path = if finalizer.contains('.') { " including a path (/)" } else { "" };
            out.push(format!(
                "{at}: prefer a domain-qualified finalizer name{path} to avoid accidental conflicts with other finalizer writers"
            ));
        }
    }
    out
}
