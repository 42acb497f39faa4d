//! Who owns the replicas of an object, as its scale subresource tells it (apimachinery
//! `pkg/util/managedfields/scalehandler.go`).

use hydrofoil_types::{SmolStr, Value};

use crate::fieldset::{FieldSet, PathElement};
use crate::managed::{Entry, Managed};

/// The version of every Scale.
const SCALE: &str = "autoscaling/v1";

/// The path of the replicas in a version of an object; an empty path in one that cannot be scaled, none for a version
/// that is not known.
pub type ReplicasPath<'a> = &'a dyn Fn(&str) -> Option<Vec<PathElement>>;

/// A path of field names.
pub fn field_path<'a>(names: impl IntoIterator<Item = &'a str>) -> Vec<PathElement> {
    names.into_iter().map(|name| PathElement::Field(name.into())).collect()
}

/// The entries of managed fields that the Scale of an object has: of those who own its replicas (`ToSubresource`).
pub fn scale_owners(object: &Value, replicas: ReplicasPath<'_>) -> Vec<Value> {
    let mut owners = Managed::of(object).unwrap_or_default();
    owners.0.retain_mut(|entry| {
        let owns = replicas(&entry.api_version).is_some_and(|path| entry.set.has(&path));
        entry.api_version = SmolStr::new_static(SCALE);
        entry.set = FieldSet::of_fields(&[&["spec", "replicas"]]);
        owns
    });
    entries(owners)
}

/// Gives the replicas of an object, written in `version`, to those who own them in its Scale (`ToParent`).
///
/// An update never is the same as the entry that it had in the object, for its version is the Scale's: the replicas move
/// out of an entry that the manager has otherwise. Upstream keeps no time of what was written so.
pub fn own_scaled(object: &mut Value, scale: &Value, version: &str, replicas: ReplicasPath<'_>) {
    let (Some(before), Some(mut scaled)) = (Managed::of(object), Managed::of(scale)) else { return };
    let mut owners = Managed::default();
    for entry in &before.0 {
        let Some(path) = replicas(&entry.api_version) else { continue };
        let mut entry = entry.clone();
        if entry.set.has(&path) {
            match scaled.0.iter().position(|other| other.is_same(&entry)) {
                Some(at) => drop(scaled.0.remove(at)),
                None => entry.set = entry.set.difference(&one(&path)),
            }
        }
        if !entry.set.is_empty() {
            owners.0.push(entry);
        }
    }
    let path = replicas(version).unwrap_or_default();
    for entry in scaled.0 {
        if !entry.set.has(&field_path(["spec", "replicas"])) {
            continue;
        }
        let time = before.0.iter().find(|other| other.is_same(&entry)).map(|other| other.time.clone());
        owners.0.retain(|other| !other.is_same(&entry));
        let mut moved =
            Entry::new(entry.manager, entry.applied, version.into(), entry.subresource, time.unwrap_or_default());
        moved.set = one(&path);
        owners.0.push(moved);
    }
    owners.write(object);
}

fn one(path: &[PathElement]) -> FieldSet {
    let mut out = FieldSet::new();
    out.insert(path);
    out
}

/// Entries as an object holds them.
fn entries(managed: Managed) -> Vec<Value> {
    let mut holder = Value::object();
    holder.object_at_mut(&["metadata"]);
    managed.write(&mut holder);
    holder.list_at(&["metadata", "managedFields"]).to_vec()
}

#[cfg(test)]
mod tests {
    use hydrofoil_types::Value;

    use super::{field_path, own_scaled, scale_owners};
    use crate::fieldset::PathElement;
    use crate::testing::{json, text};

    fn path(version: &str) -> Option<Vec<PathElement>> {
        match version {
            "apps/v1" => Some(field_path(["spec", "replicas"])),
            "apps/v2" => Some(field_path(["spec", "the_replicas"])),
            "apps/none" => Some(Vec::new()),
            _ => None,
        }
    }

    /// Manager, operation, version, subresource, time, fields of `spec`.
    fn entry(who: [&str; 5], fields: &[&str]) -> String {
        let [manager, operation, version, subresource, time] = who;
        let fields: Vec<_> = fields.iter().map(|f| format!(r#""f:{f}":{{}}"#)).collect();
        let time = if time.is_empty() { String::new() } else { format!(r#","time":"{time}""#) };
        let sub = if subresource.is_empty() { String::new() } else { format!(r#","subresource":"{subresource}""#) };
        format!(
            r#"{{"manager":"{manager}","operation":"{operation}","apiVersion":"{version}"{time},"fieldsType":"FieldsV1"{sub},"fieldsV1":{{"f:spec":{{{}}}}}}}"#,
            fields.join(",")
        )
    }

    fn object(entries: &[String]) -> Value {
        json(&format!(r#"{{"metadata":{{"managedFields":[{}]}}}}"#, entries.join(",")))
    }

    /// The table of `scalehandler_test.go`, `TestTransformManagedFieldsToSubresource`.
    #[test]
    fn a_scale_shows_who_owns_replicas() {
        let object = object(&[
            entry(["a", "Apply", "apps/v1", "", "2001-01-01T00:00:01Z"], &["other"]),
            entry(["b", "Apply", "apps/v1", "", "2001-01-01T00:00:01Z"], &["replicas"]),
            entry(["c", "Apply", "apps/v1", "scale", ""], &["replicas"]),
            entry(["d", "Update", "apps/v2", "", ""], &["the_replicas", "x"]),
            entry(["e", "Apply", "apps/v10", "", ""], &["replicas"]),
            entry(["f", "Apply", "apps/none", "", ""], &["replicas"]),
        ]);
        let shown: Vec<_> = scale_owners(&object, &path).iter().map(text).collect();
        let expected = [
            entry(["c", "Apply", "autoscaling/v1", "scale", ""], &["replicas"]),
            entry(["b", "Apply", "autoscaling/v1", "", "2001-01-01T00:00:01Z"], &["replicas"]),
            entry(["d", "Update", "autoscaling/v1", "", ""], &["replicas"]),
        ];
        assert_eq!(shown, expected);
    }

    /// The table of `scalehandler_test.go`, `TestTransformingManagedFieldsToParent`.
    #[test]
    fn replicas_move_to_who_scaled() {
        let then = "2001-01-01T00:00:01Z";
        let moved = |before: &[String], scale: &[String]| -> Vec<String> {
            let mut parent = object(before);
            own_scaled(&mut parent, &object(scale), "apps/v1", &path);
            parent.list_at(&["metadata", "managedFields"]).iter().map(text).collect()
        };
        for first in ["Apply", "Update"] {
            for second in ["Apply", "Update"] {
                for manager in ["test", "scale"] {
                    let got = moved(
                        &[entry(["test", first, "apps/v1", "", then], &["replicas", "selector"])],
                        &[entry([manager, second, "autoscaling/v1", "scale", then], &["replicas"])],
                    );
                    let mut expected = vec![
                        entry([manager, second, "apps/v1", "scale", ""], &["replicas"]),
                        entry(["test", first, "apps/v1", "", then], &["selector"]),
                    ];
                    if (first, second) == ("Apply", "Update") {
                        expected.reverse();
                    }
                    assert_eq!(got, expected, "{first} {second} {manager}");
                }
            }
        }
        let own = entry(["test", "Apply", "apps/v1", "scale", then], &["replicas"]);
        let shown = entry(["test", "Apply", "autoscaling/v1", "scale", then], &["replicas"]);
        let own = [own];
        assert_eq!(moved(&own, &[shown]), own, "shared or kept");
        assert!(moved(&own, &[]).is_empty(), "stolen, and nothing is left");
        let unknown = entry(["old", "Update", "apps/v10", "", then], &["replicas"]);
        let none = entry(["other", "Update", "apps/none", "", then], &["replicas"]);
        assert_eq!(moved(&[unknown, none.clone()], &[]), [none]);
    }
}
