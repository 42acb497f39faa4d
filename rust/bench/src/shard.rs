//! A shard of small objects.

use std::sync::Arc;

use hydrofoil_codec::json;
use hydrofoil_shared::Region;
use hydrofoil_store::{Draft, Limits, Local, Shard, View};
use hydrofoil_types::Fingerprint;

use crate::Subject;

/// Return the key of the `i`th object.
pub fn key(i: usize) -> String {
    format!("default/object-{i:06}")
}

/// Return an object in the form that the store takes.
pub fn draft(subject: &Subject) -> Draft {
    let encoded = json::encode_stored(&subject.schema, &subject.value);
    let head = format!(r#"{{"kind":"{}","apiVersion":"{}","#, subject.kind.kind, subject.value.str_at(&["apiVersion"]));
    assert!(encoded.json.starts_with(head.as_bytes()));
    Draft {
        json: encoded.json,
        given: encoded.given,
        rv_at: encoded.rv_at,
        head: head.len(),
        labels: Box::default(),
        fields: Box::default(),
        fingerprint: Fingerprint::BUILTIN,
    }
}

/// Return a shard with the keys from 0, and its log.
pub fn fill_shard(subject: &Subject, count: usize) -> (Local, Arc<Shard>) {
    fill(&View::new(Limits::default(), None, Arc::default()), subject, count)
}

/// Return the same as the owner of some worker processes has it, which never read what they are told.
pub fn publish_shard(subject: &Subject, count: usize, workers: usize) -> (Local, Arc<Shard>) {
    let region = Arc::new(Region::create().expect("there is memory"));
    let view = View::new(Limits::default(), None, Arc::default());
    view.publish(&region);
    let (log, shard) = fill(&view, subject, count);
    for slot in 1..=workers {
        view.attach(slot);
    }
    (log, shard)
}

fn fill(view: &View, subject: &Subject, count: usize) -> (Local, Arc<Shard>) {
    let log = Local::open(view, 1);
    let shard = view.shard("objects");
    for i in 0..count {
        log.create(&shard, &key(i), draft(subject)).expect("a new key");
    }
    (log, shard)
}
