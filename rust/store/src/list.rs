//! What a list selects, and one page of it.

use std::sync::Arc;

use crate::leaf::Source;
use crate::{FieldSelector, FieldTarget, LabelSelector, Leaf, Snapshot, Version};

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

    /// A value that every selected object has, and where it has it: what a leaf can be searched for.
    fn required(&self) -> Option<(Source, &str)> {
        if let Some((index, value)) = self.fields.required_index() {
            return Some((Source::Field(index), value));
        }
        self.labels.required().map(|(key, value)| (Source::Label(key.clone()), value.as_str()))
    }

    /// The places in `from..to` of a leaf that are selected.
    fn pick(&self, leaf: &Leaf, from: usize, to: usize) -> Vec<u16> {
        let mut places = Vec::new();
        match self.required() {
            Some((source, value)) => leaf.candidates(&source, value, from, to, &mut places),
            None => places.extend((from as u16)..(to as u16)),
        }
        places.retain(|at| self.matches(&leaf.versions()[usize::from(*at)]));
        places
    }
}

/// A part of one leaf that a list goes through.
#[derive(Clone, Debug)]
struct Run {
    leaf: Arc<Leaf>,
    /// The next place to look at.
    at: usize,
    /// The first place that does not belong to the list.
    end: usize,
    /// The selected places from `at` on; `None` when all are.
    picks: Option<std::vec::IntoIter<u16>>,
}

/// Some versions of one leaf.
#[derive(Debug)]
pub struct Part {
    leaf: Arc<Leaf>,
    places: Places,
}

#[derive(Debug)]
enum Places {
    Range(usize, usize),
    Picked(Vec<u16>),
}

impl Part {
    /// The leaf.
    pub fn leaf(&self) -> &Leaf {
        &self.leaf
    }

    /// Whether it is all of the leaf.
    pub fn is_whole(&self) -> bool {
        self.len() == self.leaf.versions().len()
    }

    /// How many versions it has; never none.
    #[allow(clippy::len_without_is_empty, reason = "it is never empty")]
    pub fn len(&self) -> usize {
        match &self.places {
            Places::Range(from, to) => to - from,
            Places::Picked(places) => places.len(),
        }
    }

    /// The places of its versions in the leaf.
    pub fn places(&self) -> impl Iterator<Item = usize> + '_ {
        let (range, picked) = match &self.places {
            Places::Range(from, to) => (*from..*to, &[][..]),
            Places::Picked(places) => (0..0, &places[..]),
        };
        range.chain(picked.iter().map(|at| usize::from(*at)))
    }

    /// Its versions.
    pub fn versions(&self) -> impl Iterator<Item = &Arc<Version>> {
        self.places().map(|at| &self.leaf.versions()[at])
    }

    fn last(&self) -> Option<usize> {
        match &self.places {
            Places::Range(from, to) => (from < to).then(|| to - 1),
            Places::Picked(places) => places.last().map(|at| usize::from(*at)),
        }
    }
}

/// The cursor of a list over a snapshot, giving versions one by one or as parts of leaves.
#[derive(Clone, Debug)]
pub struct Page {
    snapshot: Snapshot,
    selector: Selector,
    /// The least key still to be looked at, beyond the present run.
    next: String,
    /// The keys of this list begin with this.
    prefix: String,
    run: Option<Run>,
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
        let next = format!("{prefix}{start}");
        let mut page = Self { snapshot, selector, next, prefix, run: None, left, last: None, done: false };
        if let Some(key) = page.selector.key() {
            page.single(&key);
        }
        page
    }

    /// A list of one object at most: no walk.
    fn single(&mut self, key: &str) {
        let found = self.snapshot.tree.leaf(key).filter(|(leaf, at)| &**leaf.versions()[*at].key() == key);
        match found {
            Some((leaf, at)) if *key >= *self.next && self.selector.matches(&leaf.versions()[at]) => {
                self.run = Some(Run { leaf: Arc::clone(leaf), at, end: at + 1, picks: None });
            }
            _ => self.done = true,
        }
        // Nothing lies beyond the run.
        self.next.clear();
        self.next.push('\u{10FFFF}');
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
        while self.left > 0 && self.load() {
            let run = self.run.as_mut().expect("a run was loaded");
            let place = match &mut run.picks {
                Some(picks) => picks.next().map(usize::from),
                None => (run.at < run.end).then_some(run.at),
            };
            let Some(place) = place else {
                run.at = run.end;
                continue;
            };
            run.at = place + 1;
            let version = &run.leaf.versions()[place];
            self.left -= 1;
            let go_on = take(version);
            self.last = Some(Arc::clone(version.key()));
            if !go_on {
                break;
            }
        }
        self.settle();
    }

    /// Gives the next versions that stand in one leaf, `max` of them at most. `None` at the end of the page.
    pub fn part(&mut self, max: usize) -> Option<Part> {
        while self.left > 0 && self.load() {
            let run = self.run.as_mut().expect("a run was loaded");
            let count = max.min(self.left);
            let leaf = Arc::clone(&run.leaf);
            let places = match &mut run.picks {
                Some(picks) => Places::Picked(picks.take(count).collect()),
                None => Places::Range(run.at, run.end.min(run.at.saturating_add(count))),
            };
            let part = Part { leaf, places };
            let Some(last) = part.last() else {
                run.at = run.end;
                continue;
            };
            run.at = last + 1;
            self.left -= part.len();
            self.last = Some(Arc::clone(part.leaf.versions()[last].key()));
            self.settle();
            return Some(part);
        }
        None
    }

    /// Makes a run with something to look at the present one. False at the end of the list.
    fn load(&mut self) -> bool {
        while !self.done {
            if self.run.as_ref().is_some_and(|run| run.at < run.end) {
                return true;
            }
            self.advance();
        }
        false
    }

    /// Goes to the next leaf that holds keys of the list.
    fn advance(&mut self) {
        let Some((leaf, at)) = self.snapshot.tree.leaf(&self.next) else {
            self.finish();
            return;
        };
        let versions = leaf.versions();
        let inside = |v: &Arc<Version>| self.prefix.is_empty() || v.key().starts_with(&self.prefix);
        let end = if versions.last().is_some_and(inside) {
            versions.len()
        } else {
            at + versions[at..].partition_point(inside)
        };
        if end == at {
            self.finish();
            return;
        }
        let picks = (!self.selector.is_plain()).then(|| self.selector.pick(leaf, at, end).into_iter());
        self.next.clear();
        self.next.push_str(versions[end - 1].key());
        self.next.push('\0');
        self.run = Some(Run { leaf: Arc::clone(leaf), at, end, picks });
    }

    fn finish(&mut self) {
        self.run = None;
        self.done = true;
    }

    /// Finds out whether the list ends here: what follows the last object given decides, selected or not, as
    /// upstream's pages end.
    fn settle(&mut self) {
        if !self.done && self.following().is_none() {
            self.finish();
        }
    }

    /// The first key after the last one given, selected or not.
    fn following(&self) -> Option<&Arc<str>> {
        if let Some(run) = &self.run
            && run.at < run.end
        {
            return Some(run.leaf.versions()[run.at].key());
        }
        let (leaf, at) = self.snapshot.tree.leaf(&self.next)?;
        let key = leaf.versions()[at].key();
        key.starts_with(&self.prefix).then_some(key)
    }

    /// After a full page: the last key given, relative to the prefix, and how many objects follow it,
    /// which is only known without selectors. `None` when the list is complete.
    pub fn rest(&self) -> Option<(&str, Option<usize>)> {
        if self.done {
            return None;
        }
        let last = self.last.as_deref()?;
        let following = self.following()?;
        let remaining = self.selector.is_plain().then(|| {
            let end = match self.prefix.strip_suffix('/') {
                // '0' follows '/' directly, so this is the first key after the namespace.
                Some(ns) => self.snapshot.tree.rank(&format!("{ns}0")),
                None => self.snapshot.tree.len(),
            };
            end - self.snapshot.tree.rank(following)
        });
        Some((&last[self.prefix.len()..], remaining))
    }
}
