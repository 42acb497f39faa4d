//! Resources inside of resources (apiextensions-apiserver `pkg/apiserver/schema/objectmeta`).

use hydrofoil_types::{Causes, Path, Value};

use super::structural::{Additional, Node};
use hydrofoil_rules::check::Check;
use hydrofoil_rules::format::name;
use hydrofoil_rules::meta;
use hydrofoil_types::read::Read;

/// A reader of metadata as `metav1.ObjectMeta`: its canonical form, and the paths in it that have no field.
pub type ReadMeta<'a> = &'a dyn Fn(&Value) -> Result<(Value, Vec<String>), String>;

/// The members of `metav1.ObjectMeta`.
const FIELDS: [&str; 15] = [
    "annotations",
    "creationTimestamp",
    "deletionGracePeriodSeconds",
    "deletionTimestamp",
    "finalizers",
    "generateName",
    "generation",
    "labels",
    "managedFields",
    "name",
    "namespace",
    "ownerReferences",
    "resourceVersion",
    "selfLink",
    "uid",
];

/// Report whether metadata has a member.
pub(super) fn has_field(key: &str) -> bool {
    FIELDS.contains(&key)
}

/// Remove the fields that metadata does not have.
pub(super) fn prune_metadata(value: &mut Value) {
    if let Some(map) = value.as_object_mut() {
        map.retain(|key, _| has_field(key));
    }
}

/// Put the metadata of every embedded resource into its form.
///
/// `unknown` receives the paths of unknown fields. The error is why a member cannot be read.
pub fn coerce(value: &mut Value, schema: &Node, read: ReadMeta<'_>, unknown: &mut Vec<String>) -> Result<(), String> {
    walk(value, schema, &Path::root(), read, unknown)
}

fn walk(
    value: &mut Value,
    schema: &Node,
    path: &Path<'_>,
    read: ReadMeta<'_>,
    unknown: &mut Vec<String>,
) -> Result<(), String> {
    if !schema.embeds {
        return Ok(());
    }
    match value {
        Value::Object(map) => {
            for (key, value) in map.iter_mut() {
                if schema.embedded {
                    let at = path.child(key);
                    match key.as_str() {
                        "apiVersion" | "kind" if value.as_str().is_none() => {
                            let mut causes = Causes::new();
                            causes.invalid(&at, value, "must be a string");
                            return Err(causes
                                .as_slice()
                                .first()
                                .map_or_else(String::new, |c| format!("{at}: {}", c.message)));
                        }
                        "metadata" if matches!(value, Value::Null) => *value = Value::object(),
                        "metadata" => {
                            let (mut read, paths) = read(value).map_err(|why| {
                                let mut causes = Causes::new();
                                causes.invalid(&at, value, &why);
                                causes.as_slice().first().map_or(why, |c| format!("{at}: {}", c.message))
                            })?;
                            if read.zero("creationTimestamp")
                                && let Some(map) = read.as_object_mut()
                            {
                                map.remove("creationTimestamp");
                            }
                            *value = read;
                            unknown.extend(paths.into_iter().map(|p| format!("{at}.{p}")));
                        }
                        _ => {}
                    }
                }
                if let Some(node) = schema.property(key) {
                    walk(value, node, &path.child(key), read, unknown)?;
                } else if let Additional::Of(node) = &schema.additional {
                    walk(value, node, &path.key(key), read, unknown)?;
                }
            }
        }
        Value::Array(items) => {
            if let Some(inner) = schema.items.as_deref() {
                for (i, item) in items.iter_mut().enumerate() {
                    walk(item, inner, &path.index(i), read, unknown)?;
                }
            }
        }
        _ => {}
    }
    Ok(())
}

/// Add the causes of invalid types and metadata of embedded resources.
pub fn check(value: &Value, schema: &Node, path: &Path<'_>, causes: &mut Causes) {
    if !schema.embeds {
        return;
    }
    match value {
        Value::Object(map) => {
            if schema.embedded {
                resource(value, path, causes);
            }
            for (key, value) in map {
                if let Some(node) = schema.property(key) {
                    check(value, node, &path.child(key), causes);
                } else if let Additional::Of(node) = &schema.additional {
                    check(value, node, &path.key(key), causes);
                }
            }
        }
        Value::Array(items) => {
            if let Some(inner) = schema.items.as_deref() {
                for (i, item) in items.iter().enumerate() {
                    check(item, inner, &path.index(i), causes);
                }
            }
        }
        _ => {}
    }
}

/// `validateEmbeddedResource`.
fn resource(value: &Value, path: &Path<'_>, causes: &mut Causes) {
    for key in ["apiVersion", "kind"] {
        let at = path.child(key);
        match value.get(key) {
            None => causes.need(&at),
            Some(Value::Str(text)) if text.is_empty() => causes.invalid_str(&at, "", "must not be empty"),
            Some(Value::Str(text)) if key == "kind" => {
                name::label_1035(&text.to_lowercase(), &mut |why| {
                    let why = format!("may have mixed case, but should otherwise match: {why}");
                    causes.invalid_str(&at, text, &why);
                });
            }
            Some(Value::Str(text)) if text.bytes().filter(|b| *b == b'/').count() > 1 => {
                causes.invalid_str(&at, text, &format!("unexpected GroupVersion string: {text}"));
            }
            Some(Value::Str(_)) => {}
            Some(other) => causes.invalid(&at, other, "must be a string"),
        }
    }
    if let Some(metadata) = value.opt("metadata") {
        let at = path.child("metadata");
        // A name is optional, but must be a valid path segment.
        if !metadata.zero("name") {
            causes.format(&at.child("name"), metadata.text("name"), name::path_segment);
        }
        meta::common(!metadata.zero("namespace"), metadata, &at, causes);
    }
}
