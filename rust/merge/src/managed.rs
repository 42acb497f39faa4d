//! The entries of `metadata.managedFields`.

#![allow(clippy::arithmetic_side_effects, reason = "places and depths are bounded by what is in memory")]
#![allow(clippy::indexing_slicing, reason = "places come from the list that they lead into")]

use hydrofoil_types::{Map, SmolStr, Value};

use crate::fieldset::{FieldSet, PathElement, first_fields};

/// The maximum number of Update entries of an object (`DefaultMaxUpdateManagers`).
const MAX_UPDATES: usize = 10;

/// The manager of the merged oldest Update entries.
const ANCIENT: &str = "ancient-changes";

/// An entry (apimachinery `pkg/util/managedfields/internal/managedfields.go`).
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Entry {
    pub manager: SmolStr,
    /// Whether the operation is Apply.
    pub applied: bool,
    pub api_version: SmolStr,
    pub subresource: SmolStr,
    /// RFC 3339 in whole seconds, which sorts as text; empty if unknown.
    pub time: SmolStr,
    pub set: FieldSet,
    /// The entry as in the object, until its set is parsed.
    raw: Option<Value>,
}

impl Entry {
    /// Report whether both are of the same manager: the version is compared for updates only.
    pub fn is_same(&self, other: &Self) -> bool {
        let version = self.applied || self.api_version == other.api_version;
        self.applied == other.applied
            && version
            && self.manager == other.manager
            && self.subresource == other.subresource
    }

    /// Return an entry without paths.
    pub fn new(manager: SmolStr, applied: bool, api_version: SmolStr, subresource: SmolStr, time: SmolStr) -> Self {
        Self { manager, applied, api_version, subresource, time, set: FieldSet::new(), raw: None }
    }

    fn decode(value: &Value) -> Option<Self> {
        let mut entry = Self::head(value)?;
        entry.set = FieldSet::from_value(value.get("fieldsV1").unwrap_or(&Value::Null))?;
        Some(entry)
    }

    /// Return an entry whose set is not parsed yet.
    fn head(value: &Value) -> Option<Self> {
        let text = |key: &str| SmolStr::new(value.str_at(&[key]));
        let applied = match value.str_at(&["operation"]) {
            "Apply" => true,
            "Update" => false,
            _ => return None,
        };
        if text("apiVersion").is_empty() || text("fieldsType") != "FieldsV1" {
            return None;
        }
        Some(Self::new(text("manager"), applied, text("apiVersion"), text("subresource"), text("time")))
    }

    /// Report whether its set may share a path with `changed`: not without a common first path element.
    pub fn may_share(&self, changed: &FieldSet) -> bool {
        let Some(Value::Raw(text)) = self.raw.as_ref().and_then(|raw| raw.get("fieldsV1")) else { return true };
        let Some(fields) = first_fields(text) else { return true };
        changed.nodes().any(|(element, ..)| match element {
            PathElement::Field(name) => fields.contains(&name.as_str()),
            _ => true,
        })
    }

    /// Report whether its set is not parsed yet.
    pub fn is_unread(&self) -> bool {
        self.raw.is_some()
    }

    /// Parse its set if necessary.
    pub fn open(&mut self) {
        if let Some(raw) = self.raw.take() {
            self.set = raw.get("fieldsV1").and_then(FieldSet::from_value).unwrap_or_default();
        }
    }

    fn encode(self) -> Value {
        if let Some(raw) = self.raw {
            return raw;
        }
        let mut out = Map::new();
        let mut text = |key: &str, value: &SmolStr| {
            if !value.is_empty() {
                out.push(key, value.clone());
            }
        };
        text("manager", &self.manager);
        text("operation", &SmolStr::new_static(if self.applied { "Apply" } else { "Update" }));
        text("apiVersion", &self.api_version);
        text("time", &self.time);
        text("fieldsType", &SmolStr::new_static("FieldsV1"));
        text("subresource", &self.subresource);
        out.push("fieldsV1", self.set.to_value());
        Value::Object(out)
    }
}

/// All entries of an object.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Managed(pub Vec<Entry>);

impl Managed {
    /// Return the entries of an object; `None` if one of them is malformed.
    pub fn of(object: &Value) -> Option<Self> {
        let mut out = Self::default();
        for value in object.list_at(&["metadata", "managedFields"]) {
            out.put(Entry::decode(value)?);
        }
        Some(out)
    }

    /// Add an entry, or replace the one of the same manager.
    fn put(&mut self, entry: Entry) {
        match self.0.iter_mut().find(|e| e.is_same(&entry)) {
            Some(same) => *same = entry,
            None => self.0.push(entry),
        }
    }

    /// Remove the stored entries from an object and return them, with their sets parsed on demand. They are
    /// well-formed, and each manager has one, except after writes through a Scale, where the last one counts.
    pub fn take_from(object: &mut Value) -> Self {
        let list = object.get_mut("metadata").and_then(Value::as_object_mut).and_then(|m| m.remove("managedFields"));
        let Some(Value::Array(list)) = list else { return Self::default() };
        let mut out = Self::default();
        for value in list {
            let Some(mut entry) = Entry::head(&value) else { continue };
            entry.raw = Some(value);
            out.put(entry);
        }
        out
    }

    /// Report whether an object requests the removal of its entries: by exactly one empty entry.
    ///
    /// Upstream also accepts an empty list; this project does not.
    pub fn is_reset(object: &Value) -> bool {
        match object.list_at(&["metadata", "managedFields"]) {
            [Value::Object(entry)] => entry.iter().all(|(_, value)| value.is_zero()),
            [Value::Null] => true,
            _ => false,
        }
    }

    /// Write the entries into an object, in the order of the wire.
    pub fn write(mut self, object: &mut Value) {
        if self.0.is_empty() {
            if let Some(metadata) = object.get_mut("metadata").and_then(Value::as_object_mut) {
                metadata.remove("managedFields");
            }
            return;
        }
        self.0.sort_by(|a, b| {
            let key = |e: &Entry| {
                (!e.applied, e.time.clone(), e.manager.clone(), e.api_version.clone(), e.subresource.clone())
            };
            key(a).cmp(&key(b))
        });
        if object.as_object_mut().is_some() && object.get("metadata").is_none_or(|m| *m == Value::Null) {
            object.object_at_mut(&["metadata"]);
        }
        let Some(metadata) = object.get_mut("metadata").and_then(Value::as_object_mut) else { return };
        metadata.set("managedFields", self.0.into_iter().map(Entry::encode).collect::<Vec<_>>());
    }

    /// Merge the oldest Update entries until their number is within the limit (`internal/capmanagers.go`).
    pub fn cap(&mut self) {
        let mut updates: Vec<usize> = (0..self.0.len()).filter(|i| !self.0[*i].applied).collect();
        let mut left = updates.len();
        if left <= MAX_UPDATES {
            return;
        }
        self.0.iter_mut().for_each(Entry::open);
        updates.sort_by_key(|i| {
            let e = &self.0[*i];
            (e.time.clone(), e.manager.clone(), e.api_version.clone(), e.subresource.clone())
        });
        let mut firsts: Vec<usize> = Vec::new();
        let mut gone = vec![false; self.0.len()];
        for at in updates {
            if left <= MAX_UPDATES {
                break;
            }
            let version = self.0[at].api_version.clone();
            let Some(first) = firsts.iter().copied().find(|i| self.0[*i].api_version == version) else {
                firsts.push(at);
                continue;
            };
            let is_bucket =
                |e: &Entry| e.manager == ANCIENT && !e.applied && e.api_version == version && e.subresource.is_empty();
            let bucket = (0..self.0.len()).find(|i| !gone[*i] && is_bucket(&self.0[*i])).unwrap_or(first);
            if bucket == at {
                continue;
            }
            let merged = self.0[at].clone();
            let entry = &mut self.0[bucket];
            entry.manager = SmolStr::new_static(ANCIENT);
            entry.subresource = SmolStr::default();
            entry.set = std::mem::take(&mut entry.set).union(&merged.set);
            // The later of the two times.
            entry.time = merged.time;
            gone[at] = true;
            left -= 1;
        }
        let mut gone = gone.into_iter();
        self.0.retain(|_| !gone.next().unwrap_or(false));
    }
}
