//! Small objects for the tests of the view.

use std::sync::Arc;

use hydrofoil_types::{Fingerprint, SmolStr};

use crate::{
    Draft, Event, EventType, FieldSelector, FieldTarget, LabelSelector, Limits, Selector, Shard, Version, View,
};

/// Return an object with one label, `app`, and one field, `phase`; empty strings mean absent.
pub(crate) fn draft(app: &str, phase: &str) -> Draft {
    let head = format!(r#"{{"kind":"K","app":"{app}","phase":"{phase}","metadata":{{"resourceVersion":""#);
    let rv_at = head.len();
    let json = [&*head, r#""}}"#].concat().into_bytes();
    let label = (SmolStr::new("app"), SmolStr::new(app));
    let labels = if app.is_empty() { Box::default() } else { Box::from([label]) };
    Draft {
        json,
        given: None,
        rv_at,
        head: 0,
        labels,
        fields: Box::from([SmolStr::new(phase)]),
        fingerprint: Fingerprint::BUILTIN,
    }
}

/// Return a version of such an object.
pub(crate) fn version(key: &str, revision: u64, (app, phase): (&str, &str)) -> Arc<Version> {
    Arc::new(Version::new(Arc::from(key), revision, draft(app, phase), None))
}

/// Return the event between two states of an object, one of which may be absent.
pub(crate) fn event(key: &str, before: Option<(&str, &str)>, now: Option<(&str, &str)>) -> Event {
    let kind = match (before, now) {
        (_, None) => EventType::Deleted,
        (None, _) => EventType::Added,
        _ => EventType::Modified,
    };
    let current = version(key, 2, now.or(before).expect("a state"));
    Event::of(2, kind, current, before.map(|state| version(key, 1, state)))
}

/// Return a selector; an empty string selects all. Fields are those of the metadata and `phase`.
pub(crate) fn selector(namespace: &str, labels: &str, fields: &str) -> Selector {
    let resolve = |label: &str| match label {
        "metadata.name" => Ok(FieldTarget::Name),
        "metadata.namespace" => Ok(FieldTarget::Namespace),
        "phase" => Ok(FieldTarget::Index(0)),
        other => Err(other.to_owned()),
    };
    Selector {
        namespace: (!namespace.is_empty()).then(|| Arc::from(namespace)),
        labels: LabelSelector::parse(labels).expect("a label selector"),
        fields: FieldSelector::parse(fields, resolve).expect("a field selector"),
    }
}

/// Return an empty shard with a feed.
pub(crate) fn shard(limits: Limits) -> Arc<Shard> {
    View::new(limits, None, Arc::default()).shard("x")
}
