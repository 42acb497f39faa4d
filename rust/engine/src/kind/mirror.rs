//! The kinds of objects that another server keeps: their bytes are as it wrote them.
//!
//! A mirror has the names, selectors, columns and schema of a kind of this server, of which only reads have use. Members
//! that the schema does not know stay in the JSON of an object; whatever is made by the schema (protobuf, tables) lacks
//! them.

use std::borrow::Cow;
use std::sync::Arc;

use hydrofoil_cel::Patience;
use hydrofoil_codec::Decoded;
use hydrofoil_codec::json::{self, scan};
use hydrofoil_merge::{Unconverted, Versions};
use hydrofoil_schema::table::Row;
use hydrofoil_store as store;
use hydrofoil_store::{FieldTarget, Version};
use hydrofoil_types::{Causes, Fingerprint, Schema, SmolStr, Timestamp, Value};

use super::{Media, ObjectKind, Storage, Strategy, Table, Traits, TypeInfo, TypeMismatch, WebhookConversion, info};
use crate::error::{Error, Result};
use crate::stored::key;

/// A kind whose objects another server writes.
#[derive(Debug)]
pub struct Mirror {
    kind: Arc<dyn ObjectKind>,
    info: TypeInfo,
    /// The text before the metadata of an object: `{"kind":...,"apiVersion":...,`; empty where items of lists have both.
    head: Vec<u8>,
    /// Whether objects are decoded for the values of field selectors.
    selects: bool,
}

/// An object of the other server: its key, its version there, and the object without it.
#[derive(Debug)]
pub struct Mirrored {
    /// `namespace/name`, or `name` of a cluster-scoped object.
    pub key: String,
    /// The resource version.
    pub revision: u64,
    /// The object.
    pub draft: store::Draft,
}

impl Mirror {
    /// Return the mirror of a kind.
    pub fn new(kind: &Arc<dyn ObjectKind>) -> Self {
        let given = kind.info();
        let info = TypeInfo::new(
            Arc::clone(&given.resource),
            given.schema.clone(),
            given.kind.clone(),
            given.api_version.clone(),
            given.head,
        );
        // Names of kinds and versions need no escapes.
        let typed = format!(r#"{{"kind":"{}","apiVersion":"{}","#, info.kind.kind, info.api_version);
        let head = if typed.len() == info.head { typed.into_bytes() } else { Vec::new() };
        let selects = !info.resource.field_selectors.is_empty();
        Self { kind: Arc::clone(kind), info, head, selects }
    }

    /// Return a text without white space between its tokens. One whose first member has none is taken for such a text: a
    /// server writes all alike.
    pub fn compact(text: &[u8]) -> Cow<'_, [u8]> {
        let name = text.strip_prefix(br#"{""#).and_then(|rest| rest.iter().position(|byte| *byte == b'"'));
        let colon = name.and_then(|length| text.get(length.checked_add(3)?..));
        match colon {
            Some([b':', next, ..]) if !next.is_ascii_whitespace() => Cow::Borrowed(text),
            _ => Cow::Owned(without_space(text)),
        }
    }

    /// Read an object as the other server wrote it, whole or as an item of a list, in compact text.
    pub fn read_object(&self, text: &[u8]) -> Result<Mirrored> {
        let json = self.arrange(text)?;
        let metadata = scan::member(&json, br#""metadata""#).ok_or_else(info::no_metadata)?;
        let metadata = scan::value_end(metadata).and_then(|end| metadata.get(..end)).ok_or_else(info::no_metadata)?;
        let begin = offset(&json, metadata);
        let (mut name, mut namespace, mut labels, mut version) = (String::new(), String::new(), Box::default(), None);
        for (member, value) in scan::members(metadata) {
            match member {
                br#""name""# => name = string(value)?,
                br#""namespace""# => namespace = string(value)?,
                br#""labels""# => labels = labels_of(value)?,
                br#""resourceVersion""# => version = Some((offset(metadata, value), value.len())),
                _ => {}
            }
        }
        let (at, length) = version.ok_or_else(|| Error::Invalid("an object has a resourceVersion".to_owned()))?;
        let (at, digits) = (begin.saturating_add(at).saturating_add(1), length.saturating_sub(2));
        let end = at.saturating_add(digits);
        let revision = json
            .get(at..end)
            .and_then(number)
            .ok_or_else(|| Error::Invalid(format!("the resourceVersion of {name} is no number")))?;
        let fields = if self.selects {
            self.kind.select(&json::decode_stored(&self.info.schema, &json)?)
        } else {
            Box::default()
        };
        let mut json = json.into_owned();
        json.drain(at..end);
        let head = self.info.head;
        let fingerprint = Fingerprint::BUILTIN;
        let draft = store::Draft { json, given: None, rv_at: at, head, labels, fields, fingerprint };
        Ok(Mirrored { key: key(&namespace, &name), revision, draft })
    }

    /// Return an object in the order that lists are cut by: type and metadata first, then all else as it was.
    fn arrange<'t>(&self, text: &'t [u8]) -> Result<Cow<'t, [u8]>> {
        const METADATA: &[u8] = br#""metadata":{"#;
        if self.head.is_empty() {
            let typed = |name| scan::member(text, name).is_some();
            if typed(br#""kind""#) && typed(br#""apiVersion""#) {
                return Ok(Cow::Borrowed(text));
            }
            let rest = text.get(1..).unwrap_or_default();
            let comma = if rest == b"}" { "" } else { "," };
            let head = format!(r#"{{"apiVersion":"{}","kind":"{}"{comma}"#, self.info.api_version, self.info.kind.kind);
            return Ok(Cow::Owned([head.as_bytes(), rest].concat()));
        }
        if text.strip_prefix(&*self.head).is_some_and(|rest| rest.starts_with(METADATA)) {
            return Ok(Cow::Borrowed(text));
        }
        let mut out = Vec::with_capacity(text.len().saturating_add(self.head.len()));
        out.extend_from_slice(&self.head);
        let mut add = |name: &[u8], value: &[u8]| {
            out.extend_from_slice(name);
            out.push(b':');
            out.extend_from_slice(value);
            out.push(b',');
        };
        let metadata = scan::members(text).find(|(name, _)| *name == br#""metadata""#);
        let (name, value) = metadata.ok_or_else(info::no_metadata)?;
        add(name, value);
        for (name, value) in scan::members(text) {
            if !matches!(name, br#""metadata""# | br#""kind""# | br#""apiVersion""#) {
                add(name, value);
            }
        }
        out.pop();
        out.push(b'}');
        Ok(Cow::Owned(out))
    }
}

fn without_space(text: &[u8]) -> Vec<u8> {
    let (mut quoted, mut escaped) = (false, false);
    let mut out = Vec::with_capacity(text.len());
    for byte in text {
        if quoted {
            (quoted, escaped) = (escaped || *byte != b'"', !escaped && *byte == b'\\');
        } else if *byte == b'"' {
            quoted = true;
        } else if byte.is_ascii_whitespace() {
            continue;
        }
        out.push(*byte);
    }
    out
}

/// Return where a part of a text begins in it.
fn offset(text: &[u8], part: &[u8]) -> usize {
    (part.as_ptr() as usize).saturating_sub(text.as_ptr() as usize)
}

fn number(digits: &[u8]) -> Option<u64> {
    let text = str::from_utf8(digits).ok()?;
    // Only what is written back the same is a number.
    text.parse().ok().filter(|found: &u64| found.to_string() == text)
}

fn string(value: &[u8]) -> Result<String> {
    let inner = value.get(1..value.len().saturating_sub(1)).unwrap_or_default();
    if !inner.contains(&b'\\')
        && let Ok(text) = str::from_utf8(inner)
    {
        return Ok(text.to_owned());
    }
    Ok(json::parse(value)?.value.as_str().unwrap_or_default().to_owned())
}

fn labels_of(value: &[u8]) -> Result<Box<[(SmolStr, SmolStr)]>> {
    let found = json::parse(value)?.value;
    let Some(map) = found.as_object() else { return Ok(Box::default()) };
    let mut labels: Vec<(SmolStr, SmolStr)> =
        map.iter().map(|(key, value)| (key.clone(), SmolStr::new(value.as_str().unwrap_or_default()))).collect();
    labels.sort();
    Ok(labels.into_boxed_slice())
}

impl Strategy for Mirror {
    fn traits(&self) -> Traits {
        self.kind.traits()
    }

    fn reset_fields(&self, subresource: &str) -> &'static [&'static [&'static str]] {
        self.kind.reset_fields(subresource)
    }

    fn identify(&self, object: &mut Value) {
        self.kind.identify(object);
    }

    fn default(&self, object: &mut Value, now: Timestamp) {
        self.kind.default(object, now);
    }

    fn prepare(&self, object: &mut Value, old: Option<&Value>, subresource: &str, now: Timestamp) {
        self.kind.prepare(object, old, subresource, now);
    }

    fn validate(
        &self,
        object: &Value,
        old: Option<&Value>,
        subresource: &str,
        now: Timestamp,
        patience: Option<&Patience>,
    ) -> Causes {
        self.kind.validate(object, old, subresource, now, patience)
    }

    fn complete_unlabelled(&self, object: &mut Value) {
        self.kind.complete_unlabelled(object);
    }

    fn warnings(&self, object: &Value, old: Option<&Value>, subresource: &str, passed: Vec<String>) -> Vec<String> {
        self.kind.warnings(object, old, subresource, passed)
    }
}

impl Storage for Mirror {
    fn fingerprint(&self) -> Fingerprint {
        Fingerprint::BUILTIN
    }

    fn stores_own_version(&self) -> bool {
        true
    }

    fn stores_many_versions(&self) -> bool {
        false
    }

    fn is_stored_form(&self, _version: &Version) -> bool {
        true
    }

    fn read(&self, version: &Version) -> Result<Value> {
        Ok(json::decode_stored(&self.info.schema, version.json())?)
    }

    fn json<'v>(&self, version: &'v Version) -> Result<Cow<'v, [u8]>> {
        Ok(Cow::Borrowed(version.json()))
    }

    fn metadata<'v>(&self, version: &'v Version) -> Result<Cow<'v, [u8]>> {
        let found = scan::member(version.json(), br#""metadata""#).ok_or_else(info::no_metadata)?;
        let text = scan::value_end(found).and_then(|end| found.get(..end)).ok_or_else(info::no_metadata)?;
        Ok(Cow::Borrowed(text))
    }

    fn to_storage(&self, object: &Value) -> store::Draft {
        let fields = if self.selects { self.kind.select(object) } else { Box::default() };
        self.info.encode(object, info::labels(object), fields, self.fingerprint())
    }

    fn write_shared(&self, draft: &store::Draft) -> Result<Vec<u8>> {
        Ok(draft.json.clone())
    }

    fn read_shared(&self, bytes: &[u8], _now: Timestamp) -> Result<store::Draft> {
        Ok(self.read_object(bytes)?.draft)
    }
}

impl WebhookConversion for Mirror {}

impl Table for Mirror {
    fn columns(&self) -> Vec<Value> {
        self.kind.columns()
    }

    fn row(&self, object: &Value, now: Timestamp) -> Row {
        self.kind.row(object, now)
    }
}

impl Versions for Mirror {
    fn schema(&self, api_version: &str) -> Option<&Schema> {
        self.kind.schema(api_version)
    }

    fn convert(&self, from: &str, to: &str, object: &Value) -> Result<Value, Unconverted> {
        self.kind.convert(from, to, object)
    }
}

impl ObjectKind for Mirror {
    fn info(&self) -> &TypeInfo {
        &self.info
    }

    fn ownership_schema(&self) -> &Schema {
        self.kind.ownership_schema()
    }

    fn metadata_schema(&self) -> Schema {
        self.kind.metadata_schema()
    }

    fn has_raw(&self) -> bool {
        self.kind.has_raw()
    }

    fn field_target(&self, label: &str) -> Result<FieldTarget, String> {
        self.kind.field_target(label)
    }

    fn end_of_list(&self) -> &'static str {
        self.kind.end_of_list()
    }

    fn complete_decoded(&self, decoded: &mut Decoded, media: Media, json: &[u8]) -> Result<()> {
        self.kind.complete_decoded(decoded, media, json)
    }

    fn complete_applied(&self, object: &mut Value) -> Result<()> {
        self.kind.complete_applied(object)
    }

    fn complete_empty(&self, object: &mut Value) {
        self.kind.complete_empty(object);
    }

    fn clean_strategic(&self, patch: &mut Value) {
        self.kind.clean_strategic(patch);
    }

    fn check_type(&self, object: &Value) -> Result<(), TypeMismatch> {
        self.kind.check_type(object)
    }
}
