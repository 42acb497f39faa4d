//! The selector of a list, and one page of it.

#![allow(clippy::arithmetic_side_effects, reason = "it counts objects and bytes that are in memory")]
#![allow(clippy::indexing_slicing, reason = "places come from the structure that they lead through")]
#![allow(clippy::string_slice, reason = "it is cut at characters of ASCII that were found there")]

use std::slice;
use std::sync::Arc;

use crate::view::column::{Source, Wanted};
use crate::{FieldSelector, FieldTarget, LabelSelector, Leaf, Snapshot, Version};

/// The number of objects that are looked at in the time of one whose value is not cached.
const KNOWN: usize = 16;

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
    /// Report whether it selects all objects of its namespace.
    pub fn is_plain(&self) -> bool {
        self.labels.is_empty() && self.fields.is_empty()
    }

    /// Report whether an object is selected.
    pub fn matches(&self, version: &Version) -> bool {
        self.namespace.as_ref().is_none_or(|ns| version.namespace() == &**ns)
            && self.labels.matches(version.labels())
            && self.fields.matches(version)
    }

    /// Return the only key that it can select, if it names one.
    pub fn key(&self) -> Option<String> {
        let name = self.fields.required_value(FieldTarget::Name)?;
        let namespace = self.namespace.as_deref().or_else(|| self.fields.required_value(FieldTarget::Namespace))?;
        Some(if namespace.is_empty() { name.to_owned() } else { format!("{namespace}/{name}") })
    }

    /// Return the values of which every selected object has one, to search leaves for.
    fn wanted_values(&self) -> Option<Wanted> {
        if let Some((index, value)) = self.fields.required_index() {
            return Some(Wanted::new(Source::Field(index), slice::from_ref(value)));
        }
        self.labels.required_label().map(|(key, values)| Wanted::new(Source::Label(key.clone()), values))
    }
}

/// The part of one leaf that a list visits.
#[derive(Clone, Debug)]
struct Run {
    leaf: Arc<Leaf>,
    /// The next place.
    at: usize,
    /// The first place after the list.
    end: usize,
    /// The selected places from `at` on; `None` if all are.
    picks: Option<std::vec::IntoIter<u16>>,
    /// Whether all that is selected of the leaf is still to be returned.
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
    /// Return the leaf.
    pub fn leaf(&self) -> &Leaf {
        &self.leaf
    }

    /// Report whether it is the whole leaf.
    pub fn is_whole(&self) -> bool {
        self.len() == self.leaf.versions().len()
    }

    /// Report whether it is all that the list selects of the leaf: another list of the same selection has the same
    /// part.
    pub fn is_complete(&self) -> bool {
        self.complete
    }

    /// Return the number of versions, at least one.
    #[allow(clippy::len_without_is_empty, reason = "it is never empty")]
    pub fn len(&self) -> usize {
        match &self.places {
            Places::Range(from, to) => to - from,
            Places::Picked(places) => places.len(),
        }
    }

    /// Return the places of its versions in the leaf.
    pub fn places(&self) -> impl Iterator<Item = usize> + '_ {
        let (range, picked) = match &self.places {
            Places::Range(from, to) => (*from..*to, &[][..]),
            Places::Picked(places) => (0..0, &places[..]),
        };
        range.chain(picked.iter().map(|at| usize::from(*at)))
    }

    /// Return its versions.
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

/// The cursor of a list over a snapshot, which returns single versions or parts of leaves.
#[derive(Clone, Debug)]
pub struct Page {
    snapshot: Snapshot,
    selector: Selector,
    /// The values of which every selected object has one.
    wanted: Option<Wanted>,
    /// The rank of the first key after the present run: ranks address the tree without comparing keys.
    next: usize,
    /// The rank of the first key of the namespace, from which a list of several pages continues later.
    first: usize,
    /// The rank after the last key of the list.
    end: usize,
    /// The length of the common prefix of all keys of the list.
    prefix: usize,
    run: Option<Run>,
    /// The number of objects left until the limit.
    left: usize,
    /// The last returned key.
    last: Option<Arc<str>>,
    done: bool,
}

impl Page {
    /// Return a list over a snapshot from `start`, a key relative to the namespace (empty: the beginning).
    pub fn new(snapshot: Snapshot, selector: Selector, start: &str, limit: usize) -> Self {
        let tree = &snapshot.tree;
        let wanted = selector.wanted_values();
        let (prefix, end) = match selector.namespace.as_deref() {
            // '0' directly follows '/', so it precedes the first key after the namespace.
            Some(ns) if !ns.is_empty() => (format!("{ns}/"), tree.rank(&format!("{ns}0"))),
            _ => (String::new(), tree.len()),
        };
        let left = if limit == 0 { usize::MAX } else { limit };
        let start = format!("{prefix}{start}");
        if let Some(key) = selector.key().filter(|_| !selector.fields.is_viewed()) {
            // A list of at most one object does not visit the tree.
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
            let prefix = prefix.len();
            return Self { snapshot, selector, wanted, next: 0, first: 0, end: 0, prefix, run, left, last: None, done };
        }
        let rank = |key: &str| if key.is_empty() { 0 } else { tree.rank(key) };
        let next = rank(&start);
        let first = if start == prefix { next } else { rank(&prefix) };
        let prefix = prefix.len();
        Self { snapshot, selector, wanted, next, first, end, prefix, run: None, left, last: None, done: false }
    }

    /// Return the revision of the list.
    pub fn revision(&self) -> u64 {
        self.snapshot.revision
    }

    /// Return the selector.
    pub fn selector(&self) -> &Selector {
        &self.selector
    }

    /// Raise the limit to at least a number of objects.
    pub fn widen(&mut self, least: usize) {
        self.left = self.left.max(least);
    }

    /// Report whether the list is at its end.
    pub fn is_done(&self) -> bool {
        self.done
    }

    /// Report whether nothing of the page is left: the list is at its end, or the limit is reached.
    pub fn is_over(&self) -> bool {
        self.done || self.is_full()
    }

    /// Report whether the limit is reached.
    pub fn is_full(&self) -> bool {
        self.left == 0
    }

    /// Pass versions to `take` until it returns false, the page is full or the list ends.
    pub fn take(&mut self, mut take: impl FnMut(&Arc<Version>) -> bool) {
        self.take_while(Self::load, &mut take);
    }

    fn take_while(&mut self, load: impl Fn(&mut Self) -> bool, take: &mut impl FnMut(&Arc<Version>) -> bool) {
        while self.left > 0 && load(self) {
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
                    let place = usize::from(picks.next().expect("a selected version was found"));
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

    /// Return the next versions in one leaf, at most `max`. `None` at the end of the page.
    pub fn part(&mut self, max: usize) -> Option<Part> {
        if self.left > 0 && self.load() {
            let run = self.run.as_mut().expect("a run was loaded");
            let count = max.min(self.left);
            let leaf = Arc::clone(&run.leaf);
            let viewed = self.selector.fields.is_viewed();
            let places = match &mut run.picks {
                Some(picks) => {
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
            let last = part.last().expect("a selected version was found");
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

    /// Search for the next version, past about `most` others that are not selected, of which it takes the number that was
    /// read. Return false if it is further away: another search continues there.
    ///
    /// A search of a million objects takes milliseconds: it belongs on a thread.
    pub fn look(&mut self, most: &mut usize) -> bool {
        while !self.done && self.left > 0 && !self.finds() {
            if *most == 0 {
                return false;
            }
            self.advance(most);
        }
        true
    }

    /// Pass the selected versions of the leaf where [`Self::look`] found one to `take` until it returns false or the page
    /// is full.
    pub fn take_found(&mut self, mut take: impl FnMut(&Arc<Version>) -> bool) {
        let leaf = self.next;
        self.take_while(|page| page.next == leaf && page.finds(), &mut take);
    }

    /// Report whether the present run has a selected version.
    fn finds(&mut self) -> bool {
        let Some(run) = self.run.as_mut().filter(|run| run.at < run.end) else { return false };
        let Some(picks) = &mut run.picks else { return true };
        if self.selector.fields.is_viewed() {
            // Values unknown when the leaf was searched may be known now.
            let versions = run.leaf.versions();
            while picks.as_slice().first().is_some_and(|at| !self.selector.matches(&versions[usize::from(*at)])) {
                picks.next();
            }
        }
        if picks.as_slice().is_empty() {
            run.at = run.end;
        }
        run.at < run.end
    }

    /// Load the next run with a selected version if the present one is exhausted. Return false at the end of the list.
    fn load(&mut self) -> bool {
        let mut all = usize::MAX;
        self.look(&mut all) && !self.done
    }

    /// Advance to the next leaf with keys of the list, and take the number of objects that were read.
    fn advance(&mut self, most: &mut usize) {
        if let Some(wanted) = &self.wanted {
            // Only a search without a limit may read all leaves of a node at once.
            let found = self.snapshot.tree.seek(self.next, &(self.first..self.end), wanted, *most == usize::MAX);
            self.next = found.unwrap_or(self.end);
        }
        let Some((leaf, at)) = self.snapshot.tree.at(self.next).filter(|_| self.next < self.end) else {
            self.finish();
            return;
        };
        let end = leaf.versions().len().min(at + (self.end - self.next));
        if *most < usize::MAX {
            let is_known = self.wanted.as_ref().is_some_and(|wanted| leaf.knows(&wanted.source));
            *most = most.saturating_sub(if is_known { (end - at) / KNOWN } else { end - at });
        }
        let picks = (!self.selector.is_plain()).then(|| self.pick(leaf, at, end).into_iter());
        // A list that continues within a leaf has returned the objects before.
        let fresh = at == 0 || self.next == self.first;
        self.next += end - at;
        self.run = Some(Run { leaf: Arc::clone(leaf), at, end, picks, fresh });
    }

    /// Return the selected places in `from..to` of a leaf.
    fn pick(&self, leaf: &Leaf, from: usize, to: usize) -> Vec<u16> {
        let mut places = Vec::new();
        match &self.wanted {
            Some(wanted) => leaf.candidates(wanted, from, to, &mut places),
            None => places.extend((from as u16)..(to as u16)),
        }
        places.retain(|at| self.selector.matches(&leaf.versions()[usize::from(*at)]));
        places
    }

    fn finish(&mut self) {
        self.run = None;
        self.done = true;
    }

    /// Check whether the list ends here: as in upstream's pages, it continues if any object follows the last returned
    /// one, selected or not.
    fn settle(&mut self) {
        if !self.done && self.following() == 0 {
            self.finish();
        }
    }

    /// Return the number of objects after the last returned one, selected or not.
    pub fn following(&self) -> usize {
        self.run.as_ref().map_or(0, |run| run.end - run.at) + self.end.saturating_sub(self.next)
    }

    /// Return the last key of a full page, relative to the namespace, and the number of remaining objects, which is
    /// known only without selectors. `None` if the list is complete.
    pub fn rest(&self) -> Option<(&str, Option<usize>)> {
        if self.done {
            return None;
        }
        let last = self.last.as_deref()?;
        Some((&last[self.prefix..], self.selector.is_plain().then(|| self.following())))
    }
}

#[cfg(test)]
mod tests;
