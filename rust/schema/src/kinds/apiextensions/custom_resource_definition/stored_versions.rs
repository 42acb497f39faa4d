//! The versions in which objects may be stored.

use hydrofoil_types::{Causes, Duplicates, KeySet, Path, Value};

use hydrofoil_types::read::{Read, Write};

/// Record the storage version as stored.
pub(super) fn record(object: &mut Value) {
    let Some(name) =
        object.field("spec").list("versions").iter().find(|v| v.flag("storage")).map(|v| v.text("name").to_owned())
    else {
        return;
    };
    let status = object.make("status");
    let mut stored = status.list("storedVersions").to_vec();
    if !stored.iter().any(|v| v.as_str() == Some(&name)) {
        stored.push(Value::from(name));
        status.put("storedVersions", stored);
    }
}

/// `ValidateCustomResourceDefinitionStoredVersions`.
pub(super) fn validate(object: &Value, path: &Path<'_>, causes: &mut Causes) {
    let list = object.field("status").list("storedVersions");
    let shown = object.field("status").field("storedVersions");
    if list.is_empty() {
        return causes.invalid(path, shown, "must have at least one stored version");
    }
    let versions = object.field("spec").list("versions");
    let named: KeySet<_> = list.iter().map(Value::as_str).collect();
    let known: KeySet<_> = versions.iter().map(|v| v.text("name")).collect();
    let duplicates = Duplicates::of(versions, |v| v.text("name"));
    for (i, version) in versions.iter().enumerate().filter(|(_, v)| v.flag("storage")) {
        // A name counts for the first version that has it.
        if duplicates.is_repeat(i) || !named.contains(&Some(version.text("name"))) {
            causes.invalid(path, shown, &format!("must have the storage version {}", version.text("name")));
        }
    }
    for (i, stored) in list.iter().enumerate() {
        let text = stored.as_str().unwrap_or("");
        if !known.contains(&text) {
            let detail = format!(
                "missing from spec.versions; {text} was previously a storage version, and must remain in spec.versions until a storage migration ensures no data remains persisted in {text} and removes {text} from status.storedVersions"
            );
            causes.invalid_str(&path.index(i), text, &detail);
        }
    }
}
