//! Server-side apply.

mod conflict;
mod last_applied;
mod merge;
mod overlay;
mod prune;

use hydrofoil_types::{Schema, Value};

use crate::compare::Comparison;
use crate::equal::equal;
use crate::fieldset::FieldSet;
use crate::managed::Managed;
use crate::owned::{self, never_owned};
use crate::place::Place;
use crate::track;
use crate::typed;
use crate::versions::Changes;
use crate::versions::ManagedRequest;

pub use conflict::{ApplyError, Conflict, Conflicts};
pub use overlay::overlay;

/// The manager of the fields that an object had before it was first applied.
const BEFORE: &str = "before-first-apply";

/// The outcome of an apply.
#[derive(Clone, Debug)]
pub struct Applied {
    /// The object as generic JSON, with its `managedFields`, not decoded and defaulted yet.
    pub object: Value,
    /// Whether a value changed. If not, the object is the live one, which upstream does not default again; only its
    /// managed fields are new, and kubectl's annotation.
    pub changed: bool,
}

/// Apply a configuration (`FieldManager.Apply` of apimachinery `pkg/util/managedfields/internal/fieldmanager.go`,
/// `Updater.Apply` of structured-merge-diff `merge/update.go`).
///
/// `live` is the object in loose form, `None` if the request creates it; `config` is generic JSON as given, with its
/// group, version and kind checked. Paths of `ignored` cannot be set through this endpoint.
pub fn apply(
    schema: &Schema,
    live: Option<&Value>,
    config: &Value,
    req: &ManagedRequest<'_>,
    force: bool,
    ignored: &FieldSet,
) -> Result<Applied, ApplyError> {
    last_applied::apply(schema, live, config, req, force, ignored)
}

/// Apply once, for any manager.
fn once(
    schema: &Schema,
    live: Option<&Value>,
    config: &Value,
    req: &ManagedRequest<'_>,
    force: bool,
    ignored: &FieldSet,
) -> Result<Applied, ApplyError> {
    let version = config.str_at(&["apiVersion"]);
    if version != req.api_version {
        return Err(ApplyError::BadRequest(format!(
            "Incorrect version specified in apply patch. Specified patch version: {version}, expected: {}",
            req.api_version
        )));
    }
    if config.at(&["metadata", "managedFields"]).is_some_and(|m| *m != Value::Null) {
        return Err(ApplyError::BadRequest("metadata.managedFields must be nil".to_owned()));
    }
    let place = Place::root(schema);
    let fits = |problem: Option<String>, what: &str| {
        problem.map_or(Ok(()), |why| Err(ApplyError::Internal(format!("failed to create typed {what} object {why}"))))
    };
    fits(typed::config_problem(schema, config), "patch")?;
    if let Some(live) = live.filter(|_| !place.is_struct()) {
        // Stored objects of built-in kinds always match their schema.
        fits(typed::object_problem(schema, live), "live")?;
    }

    let mut live = live.cloned().unwrap_or_else(Value::object);
    let decoded = Managed::of(&live);
    let mut managed = decoded.ok_or_else(|| ApplyError::Internal("failed to decode managed fields".to_owned()))?;
    if let Some(metadata) = live.get_mut("metadata").and_then(Value::as_object_mut) {
        metadata.remove("managedFields");
    }
    if managed.0.is_empty() {
        // Fields without a known owner must not be taken without a conflict.
        let before = ManagedRequest { manager: BEFORE, ..*req };
        track::update(place, &Value::object(), &live, &mut managed, &before, ignored)?;
    }
    let old = place.canonical(&live);
    let merged = merge::merge(place, Some(&old), Some(config)).unwrap_or_else(Value::object);
    managed.settle(req, &old)?;
    for entry in &mut managed.0 {
        track::reconcile(req.place(place, &entry.api_version), &mut entry.set);
    }

    let mut own = req.entry(true);
    let at = managed.0.iter().position(|entry| entry.is_same(&own));
    let last = at.map(|at| managed.0.remove(at));
    own.time = last.as_ref().map(|l| l.time.clone()).unwrap_or_default();
    own.set = owned::all(place, config).recursive_difference(ignored);
    let new = match &last {
        // A manager that still applies all its previous fields gives up none.
        Some(last) if last.api_version != req.api_version || !last.set.is_within(&own.set) => {
            prune::prune(place, req, merged, last, &own.set, &managed)
                .map_err(|why| why.within("failed to prune fields"))?
        }
        _ => merged,
    };

    let change = Comparison::of(place, &old, &new, ignored).split();
    let changes = Changes::between(change, &old, &new, &managed, req, ignored)?;
    if !force {
        Conflicts::between(&managed, &changes)?;
    }
    for entry in &mut managed.0 {
        let (written, removed) = changes.of(&entry.api_version).unwrap_or_else(|| changes.own());
        entry.set = std::mem::take(&mut entry.set).difference(written).difference(removed);
    }
    managed.0.retain(|entry| !entry.set.is_empty());
    let changed = !equal(&new, &old);
    if changed {
        own.time = req.now.into();
    }
    own.set = std::mem::take(&mut own.set).difference(never_owned());
    if !own.set.is_empty() {
        managed.0.push(own);
    }
    let mut object = if changed { new } else { live };
    managed.write(&mut object);
    Ok(Applied { object, changed })
}

#[cfg(test)]
mod tests;
