//! The beginning of a list, before its items.

use hydrofoil_codec::{cbor, json, proto};
use hydrofoil_types::Value;

use crate::error::Result;
use crate::kind::ObjectKind;
use crate::read::form::{Form, Shape};
use crate::read::table;

/// Return the head of a list in JSON.
pub(super) fn text(kind: &dyn ObjectKind, form: &Form, revision: u64, rest: &str) -> Vec<u8> {
    if let Shape::Table { version, .. } = &form.shape {
        return table::head(kind, version, revision, rest, true);
    }
    let (list_kind, version) = list_type(kind, form);
    // A list that continues has its token in the rest.
    let of_objects = form.shape == Shape::Object && !rest.contains("continue");
    let token = if of_objects { kind.end_of_list() } else { "" };
    format!(
        r#"{{"kind":"{list_kind}","apiVersion":"{version}","metadata":{{"resourceVersion":"{revision}"{token}{rest}}},"items":["#
    )
    .into_bytes()
}

/// Return the head of a list in protobuf: the envelope and the metadata, with the continue token and the remaining
/// count.
pub(super) fn protobuf(
    kind: &dyn ObjectKind,
    form: &Form,
    revision: u64,
    items: u64,
    (token, remaining): (&str, Option<i64>),
) -> Vec<u8> {
    let (list_kind, version) = list_type(kind, form);
    let metadata = proto::list_head(&revision.to_string(), token, remaining);
    proto::envelope_head(&version, list_kind, &metadata, items)
}

/// Return the head of a list in CBOR, converted from the one in JSON.
pub(super) fn cbor(head: &[u8], items: u64) -> Result<Vec<u8>> {
    let value = json::parse(&[head, b"]}"].concat())?.value;
    let members = value.as_object().expect("the head of a list is an object");
    let mut out = cbor::SELF_DESCRIBED.to_vec();
    cbor::map_head(members.len() as u64, &mut out);
    let mut members = members.iter().peekable();
    while let Some((name, member)) = members.next() {
        cbor::encode(None, &Value::Str(name.clone()), &mut out);
        // The last member is `items`, whose value follows.
        if members.peek().is_some() {
            cbor::encode(None, member, &mut out);
        }
    }
    cbor::array_head(items, &mut out);
    Ok(out)
}

/// Return the kind and the `apiVersion` of a list that is not a table.
fn list_type<'k>(kind: &'k dyn ObjectKind, form: &Form) -> (&'k str, String) {
    match &form.shape {
        Shape::Metadata(version) => ("PartialObjectMetadataList", format!("meta.k8s.io/{version}")),
        _ => (&kind.info().resource.list_kind, kind.info().api_version.to_string()),
    }
}
