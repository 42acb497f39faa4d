//! The forms in which a version is shown.

use std::borrow::Cow;

use hydrofoil_codec::{json, proto};
use hydrofoil_schema::table;
use hydrofoil_store::Version;
use hydrofoil_types::{Map, Timestamp, Value};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::catalog::Typed;

/// A form of an object or of an item of a list.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Form {
    /// The object itself.
    Json,
    /// The object as protobuf: in its envelope when whole, a bare message as an item.
    Protobuf,
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

impl Form {
    pub(crate) fn parse(text: &str) -> PyResult<Self> {
        let parts: Vec<&str> = text.split(':').collect();
        match parts[..] {
            ["json"] => Ok(Self::Json),
            ["protobuf"] => Ok(Self::Protobuf),
            ["metadata", version] => Ok(Self::Metadata(version.to_owned())),
            ["table", version, include] => Ok(Self::Table { version: version.to_owned(), include: include.to_owned() }),
            _ => Err(PyValueError::new_err(text.to_owned())),
        }
    }
}

/// Writes a version in a form: whole, or as a row or item of a list.
pub(crate) fn render(typed: &Typed, form: &Form, version: &Version, whole: bool, out: &mut Vec<u8>) -> PyResult<()> {
    render_event(typed, form, version, whole, true, out)
}

/// The same for an event of a stream, in which only the first table names its columns.
pub(crate) fn render_event(
    typed: &Typed,
    form: &Form,
    version: &Version,
    whole: bool,
    columns: bool,
    out: &mut Vec<u8>,
) -> PyResult<()> {
    match form {
        Form::Json if whole => out.extend_from_slice(&typed.json(version)?),
        Form::Json if typed.is_stored_form(version) => {
            out.push(b'{');
            out.extend_from_slice(version.item());
        }
        Form::Json => {
            out.push(b'{');
            out.extend_from_slice(&typed.json(version)?[typed.head..]);
        }
        Form::Protobuf => {
            let make = || typed.read(version).map(|value| proto::encode(&typed.schema, &value));
            // Only the stored version's encoding is kept: the others are rarely asked for.
            let made;
            let raw = if typed.storage.is_none() {
                version.binary(make)?
            } else {
                made = make()?;
                &made
            };
            if whole {
                out.extend_from_slice(&proto::envelope(&typed.api_version, &typed.kind.kind, raw));
            } else {
                proto::item(raw, out);
            }
        }
        Form::Metadata(meta_version) => metadata(typed, version, meta_version, out)?,
        Form::Table { version: meta_version, include } => {
            if whole {
                out.extend_from_slice(&table_head(typed, meta_version, &version.revision().to_string(), "", columns));
                row(typed, version, meta_version, include, out)?;
                out.extend_from_slice(b"]}");
            } else {
                row(typed, version, meta_version, include, out)?;
            }
        }
    }
    Ok(())
}

/// A table up to its first row. `rest` holds further members of its metadata, each with its comma before it.
pub(crate) fn table_head(typed: &Typed, meta_version: &str, revision: &str, rest: &str, columns: bool) -> Vec<u8> {
    let columns = match &typed.custom {
        _ if !columns => Value::Null,
        Some(custom) => Value::Array(custom.version().columns.definitions()),
        None => Value::Array(table::columns(&typed.resource)),
    };
    let mut out = format!(
        r#"{{"kind":"Table","apiVersion":"meta.k8s.io/{meta_version}","metadata":{{"resourceVersion":"{revision}"{rest}}},"columnDefinitions":"#
    )
    .into_bytes();
    out.extend_from_slice(&json::encode_any(&columns));
    out.extend_from_slice(br#","rows":["#);
    out
}

fn row(typed: &Typed, version: &Version, meta_version: &str, include: &str, out: &mut Vec<u8>) -> PyResult<()> {
    let value = typed.read(version)?;
    let row = match &typed.custom {
        Some(custom) => custom.version().columns.row(&value, Timestamp::now()),
        None => table::row(&typed.resource, &value),
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
        return Ok(());
    }
    out.pop();
    out.extend_from_slice(br#","object":"#);
    if include == "Object" {
        out.extend_from_slice(&typed.json(version)?);
    } else {
        metadata(typed, version, meta_version, out)?;
    }
    out.push(b'}');
    Ok(())
}

/// `PartialObjectMetadata`: the metadata as it stands in the stored JSON.
fn metadata(typed: &Typed, version: &Version, meta_version: &str, out: &mut Vec<u8>) -> PyResult<()> {
    out.extend_from_slice(
        format!(r#"{{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/{meta_version}","metadata":"#).as_bytes(),
    );
    let whole;
    let item = if typed.custom.is_some() {
        // Only labels and annotations can be others than the stored ones, once a webhook has converted the object.
        whole = typed.json(version).unwrap_or(Cow::Borrowed(version.json()));
        member(&whole, br#""metadata""#)
    } else {
        version.item().get(r#""metadata":"#.len()..)
    };
    let metadata = item.and_then(|item| object_end(item).map(|end| &item[..end]));
    out.extend_from_slice(metadata.ok_or_else(|| PyValueError::new_err("a stored object has metadata"))?);
    out.push(b'}');
    Ok(())
}

/// What follows the colon of a member of the object that `text` is; the name comes in its quotes.
fn member<'a>(text: &'a [u8], name: &[u8]) -> Option<&'a [u8]> {
    let (mut depth, mut at) = (0usize, 0);
    while let Some(byte) = text.get(at) {
        match byte {
            b'"' => {
                let end = at + string_end(&text[at..])?;
                if depth == 1 && text[at..end] == *name && text.get(end) == Some(&b':') {
                    return text.get(end + 1..);
                }
                at = end;
                continue;
            }
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth = depth.checked_sub(1)?,
            _ => {}
        }
        at += 1;
    }
    None
}

/// Where the string that `text` begins with ends.
fn string_end(text: &[u8]) -> Option<usize> {
    let mut at = 1;
    while *text.get(at)? != b'"' {
        at += if text[at] == b'\\' { 2 } else { 1 };
    }
    Some(at + 1)
}

/// Where the object that `text` begins with ends.
fn object_end(text: &[u8]) -> Option<usize> {
    let mut depth = 0usize;
    let mut at = 0;
    while let Some(byte) = text.get(at) {
        match byte {
            b'"' => {
                at += string_end(&text[at..])?;
                continue;
            }
            b'{' => depth += 1,
            b'}' => {
                depth -= 1;
                if depth == 0 {
                    return Some(at + 1);
                }
            }
            _ => {}
        }
        at += 1;
    }
    None
}
