//! What a list selects, and one page of it.

use std::sync::Arc;

use crate::{FieldSelector, FieldTarget, LabelSelector, Snapshot, Version};

/// Everything that narrows a list or a watch.
#[derive(Clone, Debug, Default)]
pub struct Selector {
    /// The namespace, if the request names one.
    pub namespace: Option<Arc<str>>,
    /// The label selector.
    pub labels: LabelSelector,
    /// The field selector.
    pub fields: FieldSelector,
}

impl Selector {
    /// Whether it selects all objects of its namespace.
    pub fn is_plain(&self) -> bool {
        self.labels.is_empty() && self.fields.is_empty()
    }

    /// Whether an object is selected.
    pub fn matches(&self, version: &Version) -> bool {
        self.namespace.as_ref().is_none_or(|ns| version.namespace() == &**ns)
            && self.labels.matches(version.labels())
            && self.fields.matches(version)
    }

    /// The one key it can select, if it names it.
    pub fn key(&self) -> Option<String> {
        let name = self.fields.required(FieldTarget::Name)?;
        let namespace = self.namespace.as_deref().or_else(|| self.fields.required(FieldTarget::Namespace))?;
        Some(if namespace.is_empty() { name.to_owned() } else { format!("{namespace}/{name}") })
    }
}

/// The cursor of a list over a snapshot, giving versions in pieces.
#[derive(Clone, Debug)]
pub struct Page {
    snapshot: Snapshot,
    selector: Selector,
    /// The least key still to be looked at.
    next: String,
    /// The keys of this list begin with this.
    prefix: String,
    /// The greatest number of objects still to be given.
    left: usize,
    /// The last key given.
    last: Option<Arc<str>>,
    done: bool,
}

impl Page {
    /// A list over a snapshot from `start`, a key relative to the namespace (empty: the beginning).
    pub fn new(snapshot: Snapshot, selector: Selector, start: &str, limit: usize) -> Self {
        let prefix = match selector.namespace.as_deref() {
            Some(ns) if !ns.is_empty() => format!("{ns}/"),
            _ => String::new(),
        };
        let left = if limit == 0 { usize::MAX } else { limit };
        Self { snapshot, selector, next: format!("{prefix}{start}"), prefix, left, last: None, done: false }
    }

    /// The revision of the list.
    pub fn revision(&self) -> u64 {
        self.snapshot.revision
    }

    /// Whether nothing is left to give.
    pub fn is_done(&self) -> bool {
        self.done
    }

    /// Whether as many objects were given as the limit allows.
    pub fn is_full(&self) -> bool {
        self.left == 0
    }

    /// Gives versions to `take` until it answers false, the page is full or the list ends.
    pub fn take(&mut self, mut take: impl FnMut(&Arc<Version>) -> bool) {
        if self.done {
            return;
        }
        if let Some(key) = self.selector.key() {
            // One object at most: no walk.
            self.done = true;
            if *key >= *self.next
                && let Some(v) = self.snapshot.tree.get(&key).filter(|v| self.selector.matches(v))
            {
                take(v);
            }
            return;
        }
        let mut paused = false;
        for version in self.snapshot.tree.range(&self.next) {
            if !version.key().starts_with(&self.prefix) {
                break;
            }
            if paused || self.left == 0 {
                self.next = version.key().to_string();
                return;
            }
            if !self.selector.is_plain() && !self.selector.matches(version) {
                continue;
            }
            self.left -= 1;
            self.last = Some(Arc::clone(version.key()));
            // After the last one, what follows decides whether the list goes on: selected or not, as upstream's
            // pages end.
            paused = !take(version);
        }
        self.done = true;
    }

    /// After a full page: the last key given, relative to the prefix, and how many objects follow it,
    /// which is only known without selectors. `None` when the list is complete.
    pub fn rest(&self) -> Option<(&str, Option<usize>)> {
        if self.done {
            return None;
        }
        let last = self.last.as_deref()?;
        let remaining = self.selector.is_plain().then(|| {
            let end = match self.prefix.strip_suffix('/') {
                // '0' follows '/' directly, so this is the first key after the namespace.
                Some(ns) => self.snapshot.tree.rank(&format!("{ns}0")),
                None => self.snapshot.tree.len(),
            };
            end - self.snapshot.tree.rank(&self.next)
        });
        Some((&last[self.prefix.len()..], remaining))
    }
}
