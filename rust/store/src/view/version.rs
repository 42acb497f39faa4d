//! One immutable version of one object.

#![allow(clippy::arithmetic_side_effects, reason = "it counts objects and bytes that are in memory")]
#![allow(clippy::indexing_slicing, reason = "places come from the structure that they lead through")]

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

use hydrofoil_shared::Block;
use hydrofoil_types::{Fingerprint, SmolStr};
use parking_lot::Mutex;

use crate::view::json::Json;
use crate::view::saved::Outline;

mod delta;
mod past;

use past::Past;

/// An object ready to be committed: encoded, but without a revision.
#[derive(Clone, Debug)]
pub struct Draft {
    /// The canonical JSON with an empty resource version.
    pub json: Vec<u8>,
    /// The same with raw members as given, if different.
    pub given: Option<Vec<u8>>,
    /// The offset of the digits of the resource version.
    pub rv_at: usize,
    /// The length of `{"kind":...,"apiVersion":...,`, which items of lists omit.
    pub head: usize,
    /// The labels, sorted by key.
    pub labels: Box<[(SmolStr, SmolStr)]>,
    /// The values of the kind's field selectors, in the order of its table.
    pub fields: Box<[SmolStr]>,
    /// The schema that wrote the JSON.
    pub fingerprint: Fingerprint,
}

/// One version of one object: its bytes, and the values for selectors.
#[derive(Debug)]
pub struct Version {
    key: Arc<str>,
    revision: u64,
    /// The text; of a version of the past it is made when it is asked for.
    json: OnceLock<Json>,
    /// The difference to the next version, in place of the text.
    past: Option<Box<Past>>,
    rv_at: u32,
    head: u32,
    labels: Box<[(SmolStr, SmolStr)]>,
    fields: Box<[SmolStr]>,
    binary: OnceLock<Box<[u8]>>,
    fingerprint: Fingerprint,
    others: OnceLock<Others>,
    /// Which history counts the cached forms, and how many bytes they are: a form that is added while the version
    /// enters or leaves a ring must be counted there exactly once, or the bound on a history's bytes drifts.
    kept: Mutex<Kept>,
    /// The number of the event that made it, if any: 0 is as good as any other that has another version.
    event: AtomicU64,
}

/// The count of the cached forms of a version.
#[derive(Debug, Default)]
struct Kept {
    bytes: usize,
    /// The counter of the history that includes them.
    history: Option<Arc<AtomicUsize>>,
}

/// The object in forms other than the stored one.
type Others = Box<Mutex<Vec<Other>>>;

#[derive(Debug)]
struct Other {
    /// The view of the form.
    view: Fingerprint,
    /// The JSON; `None` if it equals the stored one.
    json: Option<Arc<[u8]>>,
    /// The values of field selectors in this view.
    fields: Arc<[SmolStr]>,
}

impl Other {
    fn size(&self) -> usize {
        let fields: usize = self.fields.iter().map(|field| field.len() + size_of::<SmolStr>()).sum();
        size_of::<Self>() + self.json.as_ref().map_or(0, |json| json.len()) + fields
    }
}

/// The view with raw members as given: that of the built-in kinds, which have no others.
const GIVEN: Fingerprint = Fingerprint::BUILTIN;

/// The maximum number of cached forms: an object is rarely read in more versions.
const KEPT_FORMS: usize = 4;

impl Version {
    /// Return a draft at its revision. Its cached forms are counted in `history`.
    pub(crate) fn new(key: Arc<str>, revision: u64, draft: Draft, history: Option<Arc<AtomicUsize>>) -> Self {
        let at = draft.rv_at;
        let json = Json::Own(splice(&draft.json[..at], revision, &draft.json[at..]));
        let given = draft.given.as_ref().map(|given| splice(&given[..at], revision, &given[at..]));
        Self::of_json(key, revision, json, draft, given.as_deref(), history)
    }

    /// Return the version whose bytes are `json` and whose other members are those of a draft.
    pub(crate) fn of_json(
        key: Arc<str>,
        revision: u64,
        json: Json,
        draft: Draft,
        given: Option<&[u8]>,
        history: Option<Arc<AtomicUsize>>,
    ) -> Self {
        let version = Self {
            key,
            revision,
            json: OnceLock::from(json),
            past: None,
            rv_at: draft.rv_at as u32,
            head: draft.head as u32,
            labels: draft.labels,
            fields: draft.fields,
            binary: OnceLock::new(),
            fingerprint: draft.fingerprint,
            others: OnceLock::new(),
            kept: Mutex::new(Kept { bytes: 0, history }),
            event: AtomicU64::new(0),
        };
        if let Some(given) = given {
            version.keep_other(GIVEN, given, Box::default());
        }
        version
    }

    /// Return what is known of the object beside its bytes.
    pub(crate) fn outline(&self) -> Outline<&[(SmolStr, SmolStr)], &[SmolStr]> {
        let (rv_at, head) = (self.rv_at as usize, self.head as usize);
        Outline { rv_at, head, fingerprint: self.fingerprint, labels: &self.labels, fields: &self.fields }
    }

    /// Return the bytes, wherever they are; of a version of the past they are made now.
    #[inline]
    pub(crate) fn json_bytes(&self) -> &Json {
        match self.json.get() {
            Some(json) => json,
            None => self.make_json(),
        }
    }

    #[cold]
    fn make_json(&self) -> &Json {
        self.json.get_or_init(|| {
            let text = self.past.as_ref().map(|past| past.text()).unwrap_or_default();
            self.keeps(text.len(), 0);
            Json::Own(text)
        })
    }

    /// Return the bytes, unless they would have to be made.
    pub(crate) fn own_json(&self) -> Option<&Json> {
        self.json.get()
    }

    /// Return the block of the bytes, if they are in one that no other version has.
    pub(crate) fn into_block(self) -> Option<Block> {
        match self.json.into_inner()? {
            Json::Shared(block, _) => Arc::into_inner(block),
            Json::Own(_) => None,
        }
    }

    /// Set the place of the bytes, which are the same.
    pub(crate) fn set_json(&mut self, json: Json) {
        self.json = OnceLock::from(json);
    }

    /// Return a version outside of any store: the result of a dry run.
    pub fn detach(key: &str, revision: u64, mut draft: Draft) -> Self {
        const NAME: &[u8] = br#""resourceVersion":""#;
        if revision > 0 {
            return Self::new(Arc::from(key), revision, draft, None);
        }
        // A version that was never committed has no resource version: omit the member, with one comma.
        let (start, end) = (draft.rv_at - NAME.len(), draft.rv_at + 1);
        match (draft.json[start - 1], draft.json.get(end)) {
            (b',', _) => drop(draft.json.drain(start - 1..end)),
            (_, Some(b',')) => drop(draft.json.drain(start..=end)),
            _ => drop(draft.json.drain(start..end)),
        }
        let json = draft.json;
        Self {
            key: Arc::from(key),
            revision: 0,
            json: OnceLock::from(Json::Own(json.into_boxed_slice())),
            past: None,
            rv_at: 0,
            head: draft.head as u32,
            labels: draft.labels,
            fields: draft.fields,
            binary: OnceLock::new(),
            fingerprint: draft.fingerprint,
            others: OnceLock::new(),
            kept: Mutex::default(),
            event: AtomicU64::new(0),
        }
    }

    /// Return the last state of an object that could not be read: only its key and the revision are known.
    pub fn unread(key: &str, revision: u64) -> Self {
        const JSON: &[u8] = br#"{"metadata":{"resourceVersion":""}}"#;
        let draft = Draft {
            json: JSON.to_vec(),
            given: None,
            rv_at: JSON.len() - 3,
            head: 0,
            labels: Box::default(),
            fields: Box::default(),
            fingerprint: Fingerprint::BUILTIN,
        };
        Self::new(Arc::from(key), revision, draft, None)
    }

    /// Report whether a draft has the same content, except for the revision.
    pub fn same_content(&self, draft: &Draft) -> bool {
        let (at, end) = (self.rv_at as usize, self.rv_at as usize + digits(self.revision));
        let same = |json: &[u8], draft: &[u8]| {
            json.len() == draft.len() + end - at && json[..at] == draft[..at] && json[end..] == draft[at..]
        };
        at == draft.rv_at
            && same(self.json(), &draft.json)
            && match (self.given_text(), &draft.given) {
                (None, None) => true,
                (Some(given), Some(draft)) => same(&given, draft),
                _ => false,
            }
    }

    /// Report whether a draft has the same content, except at offsets of its JSON that `may_differ` allows.
    pub fn same_but(&self, draft: &Draft, mut may_differ: impl FnMut(usize) -> bool) -> bool {
        let (at, end) = (self.rv_at as usize, self.rv_at as usize + digits(self.revision));
        if at != draft.rv_at || self.json().len() != draft.json.len() + end - at || draft.given.is_some() {
            return false;
        }
        let own = self.json()[..at].iter().chain(&self.json()[end..]);
        own.zip(&draft.json).enumerate().all(|(i, (own, new))| own == new || may_differ(i))
    }

    /// Return the same object at another revision, as sent to watchers for a deletion.
    pub(crate) fn at_revision(&self, revision: u64, history: Option<Arc<AtomicUsize>>) -> Self {
        let at = self.rv_at as usize;
        let end = at + digits(self.revision);
        Self {
            key: Arc::clone(&self.key),
            revision,
            json: OnceLock::from(Json::Own(splice(&self.json()[..at], revision, &self.json()[end..]))),
            past: None,
            rv_at: self.rv_at,
            head: self.head,
            labels: self.labels.clone(),
            fields: self.fields.clone(),
            binary: OnceLock::new(),
            fingerprint: self.fingerprint,
            others: OnceLock::new(),
            kept: Mutex::new(Kept { bytes: 0, history }),
            event: AtomicU64::new(0),
        }
    }

    /// Report whether another version has the same content, except for the revision.
    pub(crate) fn same_state(&self, other: &Self) -> bool {
        // Most differ in their lengths, which are known without their bytes.
        if self.json().len() - digits(self.revision) != other.json().len() - digits(other.revision) {
            return false;
        }
        let (own, others) = (self.around(self.json()), other.around(other.json()));
        let given = match (self.given_text(), other.given_text()) {
            (None, None) => true,
            (Some(own), Some(others)) => self.around(&own) == other.around(&others),
            _ => false,
        };
        own == others && given
    }

    /// Return the bytes before and after the digits of the revision.
    fn around<'j>(&self, json: &'j [u8]) -> (&'j [u8], &'j [u8]) {
        let (at, end) = (self.rv_at as usize, self.rv_at as usize + digits(self.revision));
        (&json[..at], &json[end..])
    }

    /// Return the same object, committed again at another revision.
    pub(crate) fn again(&self, revision: u64, history: Arc<AtomicUsize>) -> Self {
        let again = self.at_revision(revision, Some(history));
        if let Some(given) = self.given_text() {
            let (at, end) = (self.rv_at as usize, self.rv_at as usize + digits(self.revision));
            again.keep_other(GIVEN, &splice(&given[..at], revision, &given[end..]), Box::default());
        }
        again
    }

    /// Return the object as it was committed, without its revision.
    pub fn draft(&self) -> Draft {
        let (at, end) = (self.rv_at as usize, self.rv_at as usize + digits(self.revision));
        let without = |json: &[u8]| [&json[..at], &json[end..]].concat();
        Draft {
            json: without(self.json()),
            given: self.given_text().map(|given| without(&given)),
            rv_at: at,
            head: self.head as usize,
            labels: self.labels.clone(),
            fields: self.fields.clone(),
            fingerprint: self.fingerprint,
        }
    }

    /// Read one byte of each cache line of the JSON up to a length, whose sum has no meaning. A reader of many
    /// versions that are anywhere in memory waits once for several of them, if they are touched first.
    pub(crate) fn touch(&self, most: usize) -> usize {
        let lines = self.json().iter().take(most).step_by(64);
        lines.map(|byte| usize::from(*byte)).sum::<usize>() + self.fields.len() + self.labels.len()
    }

    /// Return the key: `namespace/name`, or `name` of a cluster-scoped object.
    pub fn key(&self) -> &Arc<str> {
        &self.key
    }

    /// Return the namespace; empty for cluster-scoped objects.
    pub fn namespace(&self) -> &str {
        self.key.split_once('/').map_or("", |(ns, _)| ns)
    }

    /// Return the name.
    pub fn name(&self) -> &str {
        self.key.split_once('/').map_or(&*self.key, |(_, name)| name)
    }

    /// Return the revision of this version.
    pub fn revision(&self) -> u64 {
        self.revision
    }

    /// Return the whole object as canonical JSON.
    pub fn json(&self) -> &[u8] {
        self.json_bytes()
    }

    /// Return the whole object with raw members as given, if different.
    pub fn given_text(&self) -> Option<Arc<[u8]>> {
        if self.fingerprint == Fingerprint::BUILTIN { self.other(GIVEN).flatten() } else { None }
    }

    /// Return the object as an item of a typed list: the text after kind and apiVersion, without `{`.
    pub fn item(&self) -> &[u8] {
        &self.json()[self.head as usize..]
    }

    /// Return the binary encoding, cached after the first call.
    pub fn binary<E>(&self, make: impl FnOnce() -> Result<Vec<u8>, E>) -> Result<&[u8], E> {
        if let Some(found) = self.binary.get() {
            return Ok(found);
        }
        let made = make()?.into_boxed_slice();
        Ok(self.binary.get_or_init(|| {
            self.keeps(made.len(), 0);
            made
        }))
    }

    /// Return the fingerprint of the schema that wrote the JSON.
    pub fn fingerprint(&self) -> Fingerprint {
        self.fingerprint
    }

    /// Return the JSON in a view, if cached: `Some(None)` if it equals the stored one.
    pub fn other(&self, view: Fingerprint) -> Option<Option<Arc<[u8]>>> {
        let others = self.others.get()?.lock();
        others.iter().find(|other| other.view == view).map(|other| other.json.clone())
    }

    /// Return the values of field selectors in a view, if cached.
    pub fn fields_in(&self, view: Fingerprint) -> Option<Arc<[SmolStr]>> {
        let others = self.others.get()?.lock();
        others.iter().find(|other| other.view == view).map(|other| Arc::clone(&other.fields))
    }

    /// Cache the JSON in a view, and the values of field selectors there.
    pub fn keep_other(&self, view: Fingerprint, json: &[u8], fields: Box<[SmolStr]>) {
        let mut others = self.others.get_or_init(Others::default).lock();
        let before: usize = others.iter().map(Other::size).sum();
        others.retain(|other| other.view != view);
        if others.len() >= KEPT_FORMS {
            others.remove(0);
        }
        let json = (*json != *self.json()).then(|| Arc::from(json));
        others.push(Other { view, json, fields: fields.into() });
        self.keeps(others.iter().map(Other::size).sum(), before);
    }

    /// Update the count of cached bytes.
    fn keeps(&self, more: usize, less: usize) {
        let mut kept = self.kept.lock();
        kept.bytes = (kept.bytes + more).saturating_sub(less);
        if let Some(history) = &kept.history {
            history.fetch_add(more, Ordering::Relaxed);
            history.fetch_sub(less, Ordering::Relaxed);
        }
    }

    /// Add the cached bytes to the counter of the history, unless they are counted already.
    pub(crate) fn count_in(&self, history: &Arc<AtomicUsize>) {
        let mut kept = self.kept.lock();
        if kept.history.is_none() {
            history.fetch_add(kept.bytes, Ordering::Relaxed);
            kept.history = Some(Arc::clone(history));
        }
    }

    /// Subtract the cached bytes from the counter of the history.
    pub(crate) fn uncount(&self) {
        let mut kept = self.kept.lock();
        if let Some(history) = kept.history.take() {
            history.fetch_sub(kept.bytes, Ordering::Relaxed);
        }
    }

    /// Return the number of the event that made it; the event of that number may have another version.
    pub(crate) fn event(&self) -> u64 {
        self.event.load(Ordering::Relaxed)
    }

    /// Set the number of the event that made it.
    pub(crate) fn set_event(&self, event: u64) {
        self.event.store(event, Ordering::Relaxed);
    }

    /// Return the same version with other values of field selectors.
    pub(crate) fn with_fields(&self, fields: Box<[SmolStr]>) -> Self {
        Self {
            key: Arc::clone(&self.key),
            revision: self.revision,
            json: OnceLock::from(self.json_bytes().clone()),
            past: None,
            rv_at: self.rv_at,
            head: self.head,
            labels: self.labels.clone(),
            fields,
            binary: OnceLock::new(),
            fingerprint: self.fingerprint,
            others: OnceLock::new(),
            kept: Mutex::default(),
            event: AtomicU64::new(0),
        }
    }

    /// Return the labels, sorted by key.
    pub fn labels(&self) -> &[(SmolStr, SmolStr)] {
        &self.labels
    }

    /// Return the values of the kind's field selectors.
    pub fn fields(&self) -> &[SmolStr] {
        &self.fields
    }

    /// Return the size of this version in bytes, without cached forms.
    pub fn size(&self) -> usize {
        let text = self.past.as_ref().map_or_else(|| self.json().len(), |past| past.size());
        text + size_of::<Self>() + self.labels.len() * size_of::<(SmolStr, SmolStr)>() + self.key.len()
    }
}

fn digits(n: u64) -> usize {
    n.checked_ilog10().map_or(1, |d| d as usize + 1)
}

fn splice(before: &[u8], revision: u64, after: &[u8]) -> Box<[u8]> {
    let mut out = Vec::with_capacity(before.len() + digits(revision) + after.len());
    out.extend_from_slice(before);
    out.extend_from_slice(revision.to_string().as_bytes());
    out.extend_from_slice(after);
    out.into_boxed_slice()
}

#[cfg(test)]
mod tests;
