//! What a list selects, and one page of it.

#![allow(clippy::arithmetic_side_effects, reason = "it counts objects and bytes that are in memory")]
#![allow(clippy::indexing_slicing, reason = "places come from the structure that they lead through")]
#![allow(clippy::string_slice, reason = "it is cut at characters of ASCII that were found there")]

use std::sync::Arc;

use crate::view::leaf::Source;
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
    /// Whether nothing of it was given yet.
    fresh: bool,
}

/// Some versions of one leaf.
#[derive(Debug)]
pub struct Part {
    leaf: Arc<Leaf>,
    places: Places,
    complete: bool,
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

    /// Whether it is all that the list selects of the leaf: another list of the same selection has the same part.
    pub fn is_complete(&self) -> bool {
        self.complete
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
    /// The rank of the first key beyond the present run: numbers lead through the tree without looking at keys.
    next: usize,
    /// The rank behind the last key of the list.
    end: usize,
    /// The length of what all keys of this list begin with.
    prefix: usize,
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
        let tree = &snapshot.tree;
        let (prefix, end) = match selector.namespace.as_deref() {
            // '0' follows '/' directly, so it begins the first key after the namespace.
            Some(ns) if !ns.is_empty() => (format!("{ns}/"), tree.rank(&format!("{ns}0"))),
            _ => (String::new(), tree.len()),
        };
        let left = if limit == 0 { usize::MAX } else { limit };
        let start = format!("{prefix}{start}");
        if let Some(key) = selector.key().filter(|_| !selector.fields.is_viewed()) {
            // A list of one object at most: no walk.
            let found =
                tree.at(tree.rank(&key)).filter(|(leaf, at)| **leaf.versions()[*at].key() == *key && key >= start);
            let run = found.filter(|(leaf, at)| selector.matches(&leaf.versions()[*at])).map(|(leaf, at)| Run {
                leaf: Arc::clone(leaf),
                at,
                end: at + 1,
                picks: None,
                fresh: true,
            });
            let done = run.is_none();
            return Self { snapshot, selector, next: 0, end: 0, prefix: prefix.len(), run, left, last: None, done };
        }
        let next = if start.is_empty() { 0 } else { tree.rank(&start) };
        Self { snapshot, selector, next, end, prefix: prefix.len(), run: None, left, last: None, done: false }
    }

    /// The revision of the list.
    pub fn revision(&self) -> u64 {
        self.snapshot.revision
    }

    /// What it selects.
    pub fn selector(&self) -> &Selector {
        &self.selector
    }

    /// Raises the greatest number of objects to give.
    pub fn widen(&mut self, least: usize) {
        self.left = self.left.max(least);
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
            let versions = run.leaf.versions();
            let go_on = match &mut run.picks {
                None => {
                    let given = &versions[run.at..run.end.min(run.at.saturating_add(self.left))];
                    let stopped = given.iter().position(|version| !take(version));
                    let count = stopped.map_or(given.len(), |at| at + 1);
                    run.at += count;
                    self.left -= count;
                    stopped.is_none()
                }
                Some(picks) => {
                    let mut places = picks.map(usize::from);
                    // What was not known when the leaf was searched may be known now.
                    let viewed = self.selector.fields.is_viewed();
                    let place = places.find(|at| !viewed || self.selector.matches(&versions[*at]));
                    let Some(place) = place else {
                        run.at = run.end;
                        continue;
                    };
                    run.at = place + 1;
                    self.left -= 1;
                    take(&versions[place])
                }
            };
            run.fresh = false;
            self.last = Some(Arc::clone(versions[run.at - 1].key()));
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
                Some(picks) => {
                    let viewed = self.selector.fields.is_viewed();
                    let selected = |at: &u16| !viewed || self.selector.matches(&leaf.versions()[usize::from(*at)]);
                    Places::Picked(picks.filter(selected).take(count).collect())
                }
                None => Places::Range(run.at, run.end.min(run.at.saturating_add(count))),
            };
            let rest = match &run.picks {
                Some(picks) => picks.len(),
                None => run.end - run.at,
            };
            let mut part = Part { leaf, places, complete: false };
            let Some(last) = part.last() else {
                run.at = run.end;
                continue;
            };
            let left_over = if run.picks.is_some() { rest } else { rest - part.len() };
            part.complete = run.fresh && left_over == 0;
            run.fresh = false;
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
        let Some((leaf, at)) = self.snapshot.tree.at(self.next).filter(|_| self.next < self.end) else {
            self.finish();
            return;
        };
        let end = leaf.versions().len().min(at + (self.end - self.next));
        let picks = (!self.selector.is_plain()).then(|| self.selector.pick(leaf, at, end).into_iter());
        self.next += end - at;
        self.run = Some(Run { leaf: Arc::clone(leaf), at, end, picks, fresh: true });
    }

    fn finish(&mut self) {
        self.run = None;
        self.done = true;
    }

    /// Finds out whether the list ends here: what follows the last object given decides, selected or not, as
    /// upstream's pages end.
    fn settle(&mut self) {
        if !self.done && self.following() == 0 {
            self.finish();
        }
    }

    /// How many objects follow the last one given, selected or not.
    pub fn following(&self) -> usize {
        self.run.as_ref().map_or(0, |run| run.end - run.at) + self.end.saturating_sub(self.next)
    }

    /// After a full page: the last key given, relative to the namespace, and how many objects follow it, which is only
    /// known without selectors. `None` when the list is complete.
    pub fn rest(&self) -> Option<(&str, Option<usize>)> {
        if self.done {
            return None;
        }
        let last = self.last.as_deref()?;
        Some((&last[self.prefix..], self.selector.is_plain().then(|| self.following())))
    }
}
