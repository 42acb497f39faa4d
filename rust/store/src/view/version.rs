//! One immutable version of one object.

#![allow(clippy::arithmetic_side_effects, reason = "it counts objects and bytes that are in memory")]
#![allow(clippy::indexing_slicing, reason = "places come from the structure that they lead through")]

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

use hydrofoil_types::SmolStr;
use parking_lot::Mutex;

/// An object that is ready to be committed: encoded, but without a revision.
#[derive(Clone, Debug)]
pub struct Draft {
    /// The canonical JSON with an empty resource version.
    pub json: Vec<u8>,
    /// The same with raw members as they were given, where that is another text.
    pub given: Option<Vec<u8>>,
    /// Where the digits of the resource version belong.
    pub rv_at: usize,
    /// The length of `{"kind":...,"apiVersion":...,`, which items of lists leave out.
    pub head: usize,
    /// The labels, sorted by key.
    pub labels: Box<[(SmolStr, SmolStr)]>,
    /// The values of the kind's field selectors, in the order of its table.
    pub fields: Box<[SmolStr]>,
    /// What the JSON was written by: 0 for kinds whose form never changes.
    pub form: u64,
}

/// One version of one object: its bytes, and what selectors look at.
#[derive(Debug)]
pub struct Version {
    key: Arc<str>,
    revision: u64,
    json: Box<[u8]>,
    rv_at: u32,
    head: u32,
    labels: Box<[(SmolStr, SmolStr)]>,
    fields: Box<[SmolStr]>,
    binary: OnceLock<Box<[u8]>>,
    form: u64,
    others: OnceLock<Others>,
    kept: Mutex<Kept>,
}

/// What is kept beside the JSON of a version.
#[derive(Debug, Default)]
struct Kept {
    bytes: usize,
    /// Where the history counts that.
    history: Option<Arc<AtomicUsize>>,
}

/// The object in other forms than the one it is stored in.
type Others = Box<Mutex<Vec<Other>>>;

#[derive(Debug)]
struct Other {
    /// The name of the form.
    form: u64,
    /// `None` where it is what is stored.
    json: Option<Arc<[u8]>>,
    /// What field selectors look at in this form.
    fields: Arc<[SmolStr]>,
}

impl Other {
    fn size(&self) -> usize {
        let fields: usize = self.fields.iter().map(|field| field.len() + size_of::<SmolStr>()).sum();
        size_of::<Self>() + self.json.as_ref().map_or(0, |json| json.len()) + fields
    }
}

/// The name of the form in which raw members are as they were given: that of the built-in kinds, which have no others.
const GIVEN: u64 = 0;

/// How many other forms are kept: an object is seldom read in more versions.
const KEPT_FORMS: usize = 4;

impl Version {
    /// A draft at its revision. What is kept beside it counts in `history`.
    pub(crate) fn new(key: Arc<str>, revision: u64, draft: Draft, history: Option<Arc<AtomicUsize>>) -> Self {
        let at = draft.rv_at;
        let json = splice(&draft.json[..at], revision, &draft.json[at..]);
        let version = Self {
            key,
            revision,
            json,
            rv_at: draft.rv_at as u32,
            head: draft.head as u32,
            labels: draft.labels,
            fields: draft.fields,
            binary: OnceLock::new(),
            form: draft.form,
            others: OnceLock::new(),
            kept: Mutex::new(Kept { bytes: 0, history }),
        };
        if let Some(given) = draft.given {
            version.keep_other(GIVEN, &splice(&given[..at], revision, &given[at..]), Box::default());
        }
        version
    }

    /// A version that no store holds: what a dry run shows.
    pub fn detached(key: &str, revision: u64, mut draft: Draft) -> Self {
        const NAME: &[u8] = br#""resourceVersion":""#;
        if revision > 0 {
            return Self::new(Arc::from(key), revision, draft, None);
        }
        // A version that was never committed has no resource version: its member goes, with one comma.
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
            json: json.into_boxed_slice(),
            rv_at: 0,
            head: draft.head as u32,
            labels: draft.labels,
            fields: draft.fields,
            binary: OnceLock::new(),
            form: draft.form,
            others: OnceLock::new(),
            kept: Mutex::default(),
        }
    }

    /// Whether a draft says the same, revision aside.
    pub fn same_content(&self, draft: &Draft) -> bool {
        let (at, end) = (self.rv_at as usize, self.rv_at as usize + digits(self.revision));
        let same = |json: &[u8], draft: &[u8]| {
            json.len() == draft.len() + end - at && json[..at] == draft[..at] && json[end..] == draft[at..]
        };
        at == draft.rv_at
            && same(&self.json, &draft.json)
            && match (self.given(), &draft.given) {
                (None, None) => true,
                (Some(given), Some(draft)) => same(&given, draft),
                _ => false,
            }
    }

    /// Whether a draft says the same but in places of its JSON, by index, where it may say something else.
    pub fn same_but(&self, draft: &Draft, mut may_differ: impl FnMut(usize) -> bool) -> bool {
        let (at, end) = (self.rv_at as usize, self.rv_at as usize + digits(self.revision));
        if at != draft.rv_at || self.json.len() != draft.json.len() + end - at || draft.given.is_some() {
            return false;
        }
        let own = self.json[..at].iter().chain(&self.json[end..]);
        own.zip(&draft.json).enumerate().all(|(i, (own, new))| own == new || may_differ(i))
    }

    /// The same object at another revision: what a watcher is told of a deletion.
    pub(crate) fn at_revision(&self, revision: u64, history: Option<Arc<AtomicUsize>>) -> Self {
        let at = self.rv_at as usize;
        let end = at + digits(self.revision);
        Self {
            key: Arc::clone(&self.key),
            revision,
            json: splice(&self.json[..at], revision, &self.json[end..]),
            rv_at: self.rv_at,
            head: self.head,
            labels: self.labels.clone(),
            fields: self.fields.clone(),
            binary: OnceLock::new(),
            form: self.form,
            others: OnceLock::new(),
            kept: Mutex::new(Kept { bytes: 0, history }),
        }
    }

    /// The key: `namespace/name`, or `name` of a cluster-scoped object.
    pub fn key(&self) -> &Arc<str> {
        &self.key
    }

    /// The namespace; empty for cluster-scoped objects.
    pub fn namespace(&self) -> &str {
        self.key.split_once('/').map_or("", |(ns, _)| ns)
    }

    /// The name.
    pub fn name(&self) -> &str {
        self.key.split_once('/').map_or(&*self.key, |(_, name)| name)
    }

    /// The revision of this version.
    pub fn revision(&self) -> u64 {
        self.revision
    }

    /// The whole object as canonical JSON.
    pub fn json(&self) -> &[u8] {
        &self.json
    }

    /// The whole object with raw members as they were given, where that is another text.
    pub fn given(&self) -> Option<Arc<[u8]>> {
        if self.form == 0 { self.other(GIVEN).flatten() } else { None }
    }

    /// The object as an item of a typed list: what follows kind and apiVersion, without `{`.
    pub fn item(&self) -> &[u8] {
        &self.json[self.head as usize..]
    }

    /// The binary encoding, made when it is first asked for and kept.
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

    /// What the JSON was written by.
    pub fn form(&self) -> u64 {
        self.form
    }

    /// The JSON in another form, if that is known: `Some(None)` when it is the same.
    pub fn other(&self, form: u64) -> Option<Option<Arc<[u8]>>> {
        let others = self.others.get()?.lock();
        others.iter().find(|other| other.form == form).map(|other| other.json.clone())
    }

    /// The values of field selectors in another form, if that is known.
    pub fn fields_in(&self, form: u64) -> Option<Arc<[SmolStr]>> {
        let others = self.others.get()?.lock();
        others.iter().find(|other| other.form == form).map(|other| Arc::clone(&other.fields))
    }

    /// Remembers the JSON in another form, and what field selectors look at there.
    pub fn keep_other(&self, form: u64, json: &[u8], fields: Box<[SmolStr]>) {
        let mut others = self.others.get_or_init(Others::default).lock();
        let before: usize = others.iter().map(Other::size).sum();
        others.retain(|other| other.form != form);
        if others.len() >= KEPT_FORMS {
            others.remove(0);
        }
        let json = (*json != *self.json).then(|| Arc::from(json));
        others.push(Other { form, json, fields: fields.into() });
        self.keeps(others.iter().map(Other::size).sum(), before);
    }

    /// Counts bytes that are kept beside the JSON, in the place of others.
    fn keeps(&self, more: usize, less: usize) {
        let mut kept = self.kept.lock();
        kept.bytes = (kept.bytes + more).saturating_sub(less);
        if let Some(history) = &kept.history {
            history.fetch_add(more, Ordering::Relaxed);
            history.fetch_sub(less, Ordering::Relaxed);
        }
    }

    /// Has what is kept beside the JSON counted in the history, where it is not counted yet.
    pub(crate) fn count_in(&self, history: &Arc<AtomicUsize>) {
        let mut kept = self.kept.lock();
        if kept.history.is_none() {
            history.fetch_add(kept.bytes, Ordering::Relaxed);
            kept.history = Some(Arc::clone(history));
        }
    }

    /// Has it counted no longer.
    pub(crate) fn uncount(&self) {
        let mut kept = self.kept.lock();
        if let Some(history) = kept.history.take() {
            history.fetch_sub(kept.bytes, Ordering::Relaxed);
        }
    }

    /// The same version with other values of field selectors.
    pub(crate) fn with_fields(&self, fields: Box<[SmolStr]>) -> Self {
        Self {
            key: Arc::clone(&self.key),
            revision: self.revision,
            json: self.json.clone(),
            rv_at: self.rv_at,
            head: self.head,
            labels: self.labels.clone(),
            fields,
            binary: OnceLock::new(),
            form: self.form,
            others: OnceLock::new(),
            kept: Mutex::default(),
        }
    }

    /// The labels, sorted by key.
    pub fn labels(&self) -> &[(SmolStr, SmolStr)] {
        &self.labels
    }

    /// The values of the kind's field selectors.
    pub fn fields(&self) -> &[SmolStr] {
        &self.fields
    }

    /// Bytes that this version occupies, without what is kept beside its JSON.
    pub fn size(&self) -> usize {
        self.json.len() + size_of::<Self>() + self.labels.len() * size_of::<(SmolStr, SmolStr)>() + self.key.len()
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
mod tests {
    use std::sync::Arc;

    use super::{Draft, Version};

    fn draft(data: &str, given: Option<&str>) -> Draft {
        let object = |data: &str| format!(r#"{{"metadata":{{"resourceVersion":""}},"data":{data}}}"#);
        let json = object(data).into_bytes();
        let given = given.map(|given| object(given).into_bytes());
        let rv_at = r#"{"metadata":{"resourceVersion":""#.len();
        Draft { json, given, rv_at, head: 0, labels: Box::default(), fields: Box::default(), form: 0 }
    }

    #[test]
    fn what_was_given_is_content() {
        let version = Version::new(Arc::from("a"), 7, draft("{}", Some("{ }")), None);
        let given = version.given().expect("it is another text");
        assert_eq!(str::from_utf8(&given), Ok(r#"{"metadata":{"resourceVersion":"7"},"data":{ }}"#));
        assert!(version.same_content(&draft("{}", Some("{ }"))));
        assert!(!version.same_content(&draft("{}", Some("{  }"))));
        assert!(!version.same_content(&draft("{}", None)));
        assert!(Version::new(Arc::from("a"), 7, draft("{}", None), None).given().is_none());
    }

    #[test]
    fn some_places_may_differ() {
        let version = Version::new(Arc::from("a"), 1234, draft("[1]", None), None);
        let at = draft("[2]", None).json.len() - 3;
        assert!(version.same_but(&draft("[2]", None), |i| i == at));
        assert!(!version.same_but(&draft("[2]", None), |_| false));
        assert!(!version.same_but(&draft("[12]", None), |_| true));
    }
}
