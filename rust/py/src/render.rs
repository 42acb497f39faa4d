//! The forms in which a version is shown.

use std::borrow::Cow;

use hydrofoil_codec::json::scan;
use hydrofoil_codec::{cbor, json, proto};
use hydrofoil_schema::prepare::daemon;
use hydrofoil_schema::table;
use hydrofoil_store::Version;
use hydrofoil_types::{Map, Timestamp, Value};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::error::decode_error;
use crate::patch::owners;
use crate::typed::Typed;

/// What an answer shows of an object.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Shape {
    /// The object itself.
    Object,
    /// The metadata without its managed fields: what a controller of this server looks at.
    Bare,
    /// `PartialObjectMetadata` of a version of meta.k8s.io.
    Metadata(String),
    /// A row of a `Table` of a version of meta.k8s.io.
    Table {
        /// The version of meta.k8s.io.
        version: String,
        /// What a row carries: `None`, `Metadata` or `Object`.
        include: String,
    },
}

/// How it is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Encoding {
    Json,
    Protobuf,
    Cbor,
}

/// A form of an object or of an item of a list.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Form {
    pub(crate) shape: Shape,
    pub(crate) encoding: Encoding,
}

impl Form {
    /// Reads `encoding`, `encoding:bare`, `encoding:metadata:version` or `encoding:table:version:include`.
    pub(crate) fn parse(text: &str) -> PyResult<Self> {
        let mut parts = text.split(':');
        let encoding = match parts.next() {
            Some("json") => Encoding::Json,
            Some("protobuf") => Encoding::Protobuf,
            Some("cbor") => Encoding::Cbor,
            _ => return Err(PyValueError::new_err(text.to_owned())),
        };
        let rest: Vec<&str> = parts.collect();
        let shape = match rest[..] {
            [] => Shape::Object,
            ["bare"] => Shape::Bare,
            ["metadata", version] => Shape::Metadata(version.to_owned()),
            ["table", version, include] => Shape::Table { version: version.to_owned(), include: include.to_owned() },
            _ => return Err(PyValueError::new_err(text.to_owned())),
        };
        Ok(Self { shape, encoding })
    }

    /// Whether items are separated by commas.
    pub(crate) fn is_text(&self) -> bool {
        self.encoding == Encoding::Json
    }

    /// The same shape as JSON.
    fn as_json(&self) -> Self {
        Self { shape: self.shape.clone(), encoding: Encoding::Json }
    }

    /// Whether it is what the store holds.
    pub(crate) fn is_stored_json(&self, typed: &Typed) -> bool {
        self.encoding == Encoding::Json && self.shape == Shape::Object && typed.storage.is_none()
    }

    pub(crate) fn is_table(&self) -> bool {
        matches!(self.shape, Shape::Table { .. })
    }
}

/// Writes a version in a form: whole, or as a row or item of a list. `now` is what ages are counted from. Gives until when those in it hold, in seconds
/// of Unix time.
pub(crate) fn render(
    typed: &Typed,
    form: &Form,
    version: &Version,
    whole: bool,
    now: Timestamp,
    out: &mut Vec<u8>,
) -> PyResult<i64> {
    render_event(typed, form, version, whole, true, now, out)
}

/// The same for an event of a stream, in which only the first table names its columns.
pub(crate) fn render_event(
    typed: &Typed,
    form: &Form,
    version: &Version,
    whole: bool,
    columns: bool,
    now: Timestamp,
    out: &mut Vec<u8>,
) -> PyResult<i64> {
    match (&form.shape, form.encoding) {
        (_, Encoding::Cbor) => {
            let mut text = Vec::new();
            let until = render_event(typed, &form.as_json(), version, whole, columns, now, &mut text)?;
            let value = json::parse(&text).map_err(|e| decode_error(&e))?.value;
            // The objects of tables and metadata have no bytes of which the schema would tell.
            let schema = (form.shape == Shape::Object).then_some(&typed.schema);
            if whole {
                out.extend_from_slice(&cbor::SELF_DESCRIBED);
            }
            cbor::encode(schema, &value, out);
            return Ok(until);
        }
        (Shape::Object, Encoding::Json) if whole => out.extend_from_slice(&typed.json(version)?),
        (Shape::Object, Encoding::Json) if typed.is_stored_form(version) => {
            out.push(b'{');
            out.extend_from_slice(version.item());
        }
        (Shape::Object, Encoding::Json) => {
            out.push(b'{');
            out.extend_from_slice(&typed.json(version)?[typed.head..]);
        }
        (Shape::Object, Encoding::Protobuf) if whole => {
            let make = || typed.read(version).map(|value| proto::encode(&typed.schema, &value));
            // Only the stored version's encoding is kept: the others are rarely asked for.
            let made;
            let raw = if typed.storage.is_none() {
                version.binary(make)?
            } else {
                made = make()?;
                &made
            };
            out.extend_from_slice(&proto::envelope(&typed.api_version, &typed.kind.kind, raw));
        }
        (Shape::Object, Encoding::Protobuf) => {
            proto::item(&proto::encode(&typed.schema, &typed.read(version)?), out);
        }
        (Shape::Bare, _) => {
            let metadata = metadata(typed, version)?;
            out.extend_from_slice(br#"{"metadata":"#);
            match owners(&metadata) {
                Some(at) => {
                    out.extend_from_slice(&metadata[..at.start]);
                    out.extend_from_slice(&metadata[at.end..]);
                }
                None => out.extend_from_slice(&metadata),
            }
            out.push(b'}');
        }
        (Shape::Metadata(meta_version), Encoding::Protobuf) => {
            let schema = typed.metadata();
            let decoded = json::decode_stored(&schema, &metadata(typed, version)?).map_err(|e| decode_error(&e))?;
            let raw = proto::metadata_message(&schema, &decoded);
            if whole {
                let api_version = format!("meta.k8s.io/{meta_version}");
                out.extend_from_slice(&proto::envelope(&api_version, "PartialObjectMetadata", &raw));
            } else {
                proto::item(&raw, out);
            }
        }
        (Shape::Metadata(meta_version), Encoding::Json) => partial(typed, version, meta_version, out)?,
        (Shape::Table { version: meta_version, include }, _) => {
            if whole {
                out.extend_from_slice(&table_head(typed, meta_version, &version.revision().to_string(), "", columns));
                let until = row(typed, version, meta_version, include, now, out)?;
                out.extend_from_slice(b"]}");
                return Ok(until);
            }
            return row(typed, version, meta_version, include, now, out);
        }
    }
    Ok(i64::MAX)
}

/// A table up to its first row. `rest` holds further members of its metadata, each with its comma before it.
pub(crate) fn table_head(typed: &Typed, meta_version: &str, revision: &str, rest: &str, columns: bool) -> Vec<u8> {
    let columns = match &typed.custom {
        _ if !columns => Value::Null,
        Some(custom) => Value::Array(custom.version().columns.definitions()),
        None => Value::Array(table::columns(&typed.resource)),
    };
    // An object that is not stored has no version.
    let version = if revision == "0" { String::new() } else { format!(r#""resourceVersion":"{revision}""#) };
    let mut out = format!(
        r#"{{"kind":"Table","apiVersion":"meta.k8s.io/{meta_version}","metadata":{{{version}{rest}}},"columnDefinitions":"#
    )
    .into_bytes();
    out.extend_from_slice(&json::encode_any(&columns));
    out.extend_from_slice(br#","rows":["#);
    out
}

fn row(
    typed: &Typed,
    version: &Version,
    meta_version: &str,
    include: &str,
    now: Timestamp,
    out: &mut Vec<u8>,
) -> PyResult<i64> {
    let value = typed.read(version)?;
    let row = match &typed.custom {
        Some(custom) => custom.version().columns.row(&value, now),
        None => table::row(&typed.resource, &value, now),
    };
    let mut shown = Map::new();
    shown.push("cells", Value::Array(row.cells));
    if !row.conditions.is_empty() {
        shown.push("conditions", Value::Array(row.conditions));
    }
    out.extend_from_slice(&json::encode_any(&Value::Object(shown)));
    if include == "None" {
        // Upstream writes the unset extension as null.
        out.pop();
        out.extend_from_slice(br#","object":null}"#);
        return Ok(row.until);
    }
    out.pop();
    out.extend_from_slice(br#","object":"#);
    if include == "Object" {
        out.extend_from_slice(&typed.json(version)?);
    } else {
        partial(typed, version, meta_version, out)?;
    }
    out.push(b'}');
    Ok(row.until)
}

/// `PartialObjectMetadata`: the metadata as it stands in the stored JSON.
fn partial(typed: &Typed, version: &Version, meta_version: &str, out: &mut Vec<u8>) -> PyResult<()> {
    out.extend_from_slice(
        format!(r#"{{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/{meta_version}","metadata":"#).as_bytes(),
    );
    out.extend_from_slice(&metadata(typed, version)?);
    out.push(b'}');
    Ok(())
}

/// The metadata as it stands in the stored JSON, but for what the conversion to a version puts there: upstream takes it
/// from the internal object.
fn metadata<'v>(typed: &Typed, version: &'v Version) -> PyResult<Cow<'v, [u8]>> {
    let none = || PyValueError::new_err("a stored object has metadata");
    if typed.custom.is_some() {
        // Only labels and annotations can be others than the stored ones, once a webhook has converted the object.
        let whole = typed.json(version).unwrap_or(Cow::Borrowed(version.json()));
        let item = scan::member(&whole, br#""metadata""#).ok_or_else(none)?;
        return Ok(Cow::Owned(item[..scan::value_end(item).ok_or_else(none)?].to_vec()));
    }
    let item = version.item().get(r#""metadata":"#.len()..).ok_or_else(none)?;
    let text = &item[..scan::value_end(item).ok_or_else(none)?];
    let Some(converted) = daemon::converted_annotation(&typed.kind) else { return Ok(Cow::Borrowed(text)) };
    let mut value = json::parse(text).map_err(|e| decode_error(&e))?.value;
    daemon::drop_annotation(&mut value, converted);
    Ok(Cow::Owned(json::encode_any(&value)))
}
