//! The collections that are followed, and their keys.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use hydrofoil_engine::kind::ObjectKind;
use hydrofoil_store as store;
use hydrofoil_store::{Change, Shard};
use hydrofoil_types::Clock;
use parking_lot::Mutex;

use crate::messages::{Event, KeyValue};
use crate::values::{Unread, Values};

/// A function that sets the values of field selectors of an object from another server.
pub type Adapt = Arc<dyn Fn(&str, store::Draft) -> store::Draft + Send + Sync>;

/// A collection to follow.
#[derive(Clone)]
pub struct Followed {
    /// The name of the resource.
    pub name: Arc<str>,
    /// Its objects.
    pub shard: Arc<Shard>,
    /// Any kind of them.
    pub kind: Arc<dyn ObjectKind>,
    /// The last step of their decoding.
    pub adapt: Adapt,
}

impl fmt::Debug for Followed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Followed").field("name", &self.name).finish_non_exhaustive()
    }
}

/// A value that cannot be read.
#[derive(Clone, Debug)]
pub struct Fault {
    /// Its key in etcd.
    pub place: String,
    /// Why it cannot be decrypted or decoded.
    pub why: Unread,
    /// Its revision.
    pub revision: u64,
}

/// Values that cannot be read, by the name of the resource and the key, which others choose: the hash has a secret.
pub(crate) type Broken = Arc<Mutex<HashMap<(Arc<str>, String), Fault>>>;

/// The part of a collection that is in the view.
#[derive(Debug)]
pub(crate) enum State {
    /// The state at a revision is being read; the events after it wait.
    Loading { base: u64, events: Vec<Event> },
    /// It has all events that are applied.
    Current,
}

/// A collection, and its place in the keys.
#[derive(Debug)]
pub(crate) struct Place {
    pub(crate) followed: Followed,
    /// The prefix of its keys, which ends with a slash.
    pub(crate) prefix: Arc<str>,
    pub(crate) state: State,
    /// The numbers of those who wait until it is loaded.
    pub(crate) waiting: Vec<u64>,
}

/// A decoder of the values of one collection, for any thread.
#[derive(Clone, Debug)]
pub(crate) struct Decoder {
    pub(crate) followed: Followed,
    pub(crate) clock: Arc<Clock>,
    pub(crate) broken: Broken,
    pub(crate) values: Values,
}

impl Decoder {
    /// Decode the value of a key of etcd; `None` if that cannot be done, which is kept under the key of the object.
    pub(crate) fn decode(&self, key: &str, kv: &KeyValue) -> Option<store::Draft> {
        let Followed { name, kind, adapt, .. } = &self.followed;
        match self.values.read(name, (&kv.key, key), &**kind, &kv.value, self.clock.now()) {
            Ok(draft) => {
                self.heal(key);
                Some(adapt(key, draft))
            }
            Err(why) => {
                let place = String::from_utf8_lossy(&kv.key).into_owned();
                let fault = Fault { place, why, revision: kv.mod_revision as u64 };
                self.broken.lock().insert((Arc::clone(name), key.to_owned()), fault);
                None
            }
        }
    }

    /// Forget that a key had a value that could not be decoded.
    pub(crate) fn heal(&self, key: &str) {
        let mut broken = self.broken.lock();
        if !broken.is_empty() {
            broken.remove(&(Arc::clone(&self.followed.name), key.to_owned()));
        }
    }

    /// Return the change of an event. An object that can no longer be read is no longer shown.
    pub(crate) fn change(&self, key: &str, event: &Event) -> Change {
        if event.deletes() {
            self.heal(key);
            return Change::Delete;
        }
        self.decode(key, &event.kv).map_or(Change::Delete, Change::Put)
    }
}

/// Return the prefix of the keys of a resource below the prefix of all (kubernetes
/// `pkg/kubeapiserver/default_storage_factory_builder.go`, apiextensions `customresource/etcd.go`): by group and plural.
pub(crate) fn prefix(kind: &dyn ObjectKind) -> String {
    let resource = &kind.info().resource;
    let (group, plural) = (&*resource.group, &*resource.plural);
    match (group, plural) {
        ("", "services") => "services/specs/".to_owned(),
        ("", "endpoints") => "services/endpoints/".to_owned(),
        ("", "nodes") => "minions/".to_owned(),
        ("", "replicationcontrollers") => "controllers/".to_owned(),
        ("networking.k8s.io", "ingresses") => "ingress/".to_owned(),
        ("apiextensions.k8s.io" | "apiregistration.k8s.io", _) => format!("{group}/{plural}/"),
        // The ranges of allocations are no resource.
        ("", "") => "ranges/".to_owned(),
        _ if kind.stores_many_versions() => format!("{group}/{plural}/"),
        _ => format!("{plural}/"),
    }
}

/// Return the parts of a key below the prefix of all that may be the prefix of a collection, and the rest of each: two
/// segments before one.
pub(crate) fn split(key: &str) -> impl Iterator<Item = (&str, &str)> {
    let ends = key.match_indices('/').map(|(at, _)| at.saturating_add(1)).take(2);
    let ends: Vec<_> = ends.collect();
    ends.into_iter().rev().filter_map(|at| key.split_at_checked(at))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_has_its_prefix_in_one_or_two_segments() {
        let found: Vec<_> = split("services/specs/a/x").collect();
        assert_eq!(found, [("services/specs/", "a/x"), ("services/", "specs/a/x")]);
        assert_eq!(split("pods").count(), 0);
    }
}
