//! The migration from client-side to server-side apply: the fields of kubectl's last-applied annotation are its own.

use hydrofoil_types::{Schema, Value};

use super::{Applied, ApplyError, Conflicts, FieldSet, ManagedRequest, once};
use crate::compare::Comparison;
use crate::owned;
use crate::place::Place;
use hydrofoil_types::notation;

const ANNOTATION: &str = "kubectl.kubernetes.io/last-applied-configuration";
/// The only manager that takes part; others opt out by their name.
const KUBECTL: &str = "kubectl";

/// Apply, by force if all conflicts concern fields whose values the annotation already sets, and keep the annotation
/// up to date (`internal/lastappliedmanager.go`, `lastappliedupdater.go`).
pub(super) fn apply(
    schema: &Schema,
    live: Option<&Value>,
    config: &Value,
    req: &ManagedRequest<'_>,
    force: bool,
    ignored: &FieldSet,
) -> Result<Applied, ApplyError> {
    let applied = match once(schema, live, config, req, force, ignored) {
        Err(ApplyError::Conflict(conflicts)) if req.manager == KUBECTL => {
            if let Some(left) = unresolved_conflicts(schema, live, req, conflicts) {
                return Err(ApplyError::Conflict(left));
            }
            once(schema, live, config, req, true, ignored)
        }
        other => other,
    };
    let mut applied = applied?;
    if req.manager == KUBECTL && !applied.object.str_at(&["metadata", "annotations", ANNOTATION]).is_empty() {
        applied.object.object_at_mut(&["metadata", "annotations"]).set(ANNOTATION, note(config));
    }
    Ok(applied)
}

/// Return the conflicts that the annotation does not resolve.
fn unresolved_conflicts(
    schema: &Schema,
    live: Option<&Value>,
    req: &ManagedRequest<'_>,
    conflicts: Conflicts,
) -> Option<Conflicts> {
    let Some(live) = live else { return Some(conflicts) };
    let noted = notation::parse(live.str_at(&["metadata", "annotations", ANNOTATION]));
    let Some(noted) = noted.filter(|noted| noted.str_at(&["apiVersion"]) == req.api_version) else {
        return Some(conflicts);
    };
    let place = Place::root(schema);
    let change = Comparison::of(place, &place.canonical(&noted), &place.canonical(live), &FieldSet::new());
    let (written, removed) = change.split();
    // Another client has set the fields that differ from the annotation.
    let own = owned::all(place, &noted).difference(&written).difference(&removed);
    conflicts.outside(&own)
}

/// Return a configuration in the form of the annotation.
fn note(config: &Value) -> String {
    let mut config = config.clone();
    if let Some(annotations) = config.get_mut("metadata").and_then(|m| m.get_mut("annotations")) {
        annotations.as_object_mut().map(|map| map.remove(ANNOTATION));
    }
    config.sort_members();
    let mut out = String::new();
    notation::write(&mut out, &config);
    out.push('\n');
    out
}
