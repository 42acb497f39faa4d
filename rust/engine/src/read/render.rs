//! One version of an object in a form.

use hydrofoil_codec::{cbor, json, proto};
use hydrofoil_store::Version;
use hydrofoil_types::Timestamp;

use super::form::{Encoding, Form, Rendering, Shape};
use super::{metadata, table};
use crate::error::Result;
use crate::frame::Frame;
use crate::kind::ObjectKind;
use crate::stored::Stored;

/// Return the body of an answer with a stored object as JSON.
pub fn stored_body<F: Frame>(stored: &Stored) -> Result<F> {
    let json = stored.json()?;
    Ok(F::fill(json.len().saturating_add(1), |out| {
        if let Some((newline, text)) = out.split_last_mut() {
            text.copy_from_slice(&json);
            *newline = b'\n';
        }
    }))
}

/// Return the body of an answer with a stored object in a form; ages are relative to `now`.
pub fn body(stored: &Stored, form: &Form, now: Timestamp) -> Result<Vec<u8>> {
    let mut out = Vec::new();
    render(&**stored.kind(), form, stored.version(), true, now, &mut out)?;
    if form.is_text() {
        out.push(b'\n');
    }
    Ok(out)
}

/// Write a version in a form: `whole`, or as a row or item of a list. Return the end of the validity of its ages, in
/// seconds of Unix time.
pub fn render(
    kind: &dyn ObjectKind,
    form: &Form,
    version: &Version,
    whole: bool,
    now: Timestamp,
    out: &mut Vec<u8>,
) -> Result<i64> {
    render_as(kind, form, version, Rendering { whole, columns: true, now }, out)
}

/// Write a version in a form. Return the end of the validity of its ages, in seconds of Unix time.
pub(crate) fn render_as(
    kind: &dyn ObjectKind,
    form: &Form,
    version: &Version,
    how: Rendering,
    out: &mut Vec<u8>,
) -> Result<i64> {
    let whole = how.whole;
    match (&form.shape, form.encoding) {
        (_, Encoding::Cbor) => return binary(kind, form, version, how, out),
        (Shape::Object, Encoding::Json) if whole => out.extend_from_slice(&kind.json(version)?),
        (Shape::Object, Encoding::Json) => item(kind, version, out)?,
        (Shape::Object, Encoding::Protobuf) => protobuf(kind, version, whole, out)?,
        (Shape::Bare, _) => metadata::bare(kind, version, out)?,
        (Shape::Metadata(meta_version), Encoding::Protobuf) => {
            metadata::protobuf(kind, version, meta_version, whole, out)?;
        }
        (Shape::Metadata(meta_version), Encoding::Json) => metadata::partial(kind, version, meta_version, out)?,
        (Shape::Table { version: meta_version, include }, _) => {
            return table::write(kind, version, (meta_version, include), how, out);
        }
    }
    Ok(i64::MAX)
}

/// Write a version as CBOR, converted from its JSON.
fn binary(kind: &dyn ObjectKind, form: &Form, version: &Version, how: Rendering, out: &mut Vec<u8>) -> Result<i64> {
    let mut text = Vec::new();
    let until = render_as(kind, &form.as_json(), version, how, &mut text)?;
    let value = json::parse(&text)?.value;
    // The objects of tables and metadata have no bytes for which the schema is needed.
    let schema = (form.shape == Shape::Object).then_some(&kind.info().schema);
    if how.whole {
        out.extend_from_slice(&cbor::SELF_DESCRIBED);
    }
    cbor::encode(schema, &value, out);
    Ok(until)
}

/// Write a version as an item of a list in JSON.
fn item(kind: &dyn ObjectKind, version: &Version, out: &mut Vec<u8>) -> Result<()> {
    out.push(b'{');
    if kind.is_stored_form(version) {
        out.extend_from_slice(version.item());
    } else {
        out.extend_from_slice(kind.json(version)?.get(kind.info().head..).unwrap_or_default());
    }
    Ok(())
}

/// Write a version as protobuf.
fn protobuf(kind: &dyn ObjectKind, version: &Version, whole: bool, out: &mut Vec<u8>) -> Result<()> {
    let info = kind.info();
    let make = || kind.read(version).map(|value| proto::encode(&info.schema, &value));
    if !whole {
        proto::item(&make()?, out);
        return Ok(());
    }
    // Only the stored version's encoding is cached: the others are rarely requested.
    let made;
    let raw = if kind.stores_own_version() {
        version.binary(make)?
    } else {
        made = make()?;
        &made
    };
    out.extend_from_slice(&proto::envelope(&info.api_version, &info.kind.kind, raw));
    Ok(())
}
