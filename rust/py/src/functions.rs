//! The functions of the module: native admission, and small conversions of strings.

use hydrofoil_codec::json;
use hydrofoil_engine::{Error, transcode, write};
use hydrofoil_jsonpath::JsonPath;
use hydrofoil_store::{ContinueToken, LabelSelector, field_terms, is_requirement};
use pyo3::prelude::*;

use crate::error::Fallible;
use crate::frame::apart;
use crate::handles::{Draft, Stored};

#[pyfunction]
pub(crate) fn limit_fill(draft: &Draft, range: &[u8]) -> Fallible<()> {
    Ok(write::limit_fill(&mut draft.0.lock(), range)?)
}

#[pyfunction]
pub(crate) fn limit_refusal(draft: &Draft, range: &[u8], claim: bool) -> Fallible<Option<String>> {
    Ok(write::limit_refusal(&draft.0.lock(), range, claim)?)
}

#[pyfunction]
pub(crate) fn storage_grows(draft: &Draft, old: &Stored) -> Fallible<bool> {
    Ok(write::storage_grows(&draft.0.lock(), &old.0)?)
}

#[pyfunction]
pub(crate) fn node_shortage(draft: &Draft, node: &Stored) -> Fallible<String> {
    Ok(write::node_shortage(&draft.0.lock(), &node.0)?)
}

#[pyfunction]
pub(crate) fn quota_usage(
    resource: (String, String),
    quota: &Stored,
    earlier: &[u8],
    objects: Vec<PyRef<'_, Stored>>,
) -> Fallible<Vec<u8>> {
    let (group, plural) = &resource;
    let objects = objects.iter().map(|object| &object.0);
    Ok(write::quota_usage((group.as_str(), plural.as_str()), &quota.0, earlier, objects)?)
}

/// The new usage of quotas by their indexes, the reason of a refusal, and whether that is a Forbidden.
type Charged = (write::Used, Option<String>, bool);

#[pyfunction]
pub(crate) fn quota_charge(
    draft: &Draft,
    old: Option<&Stored>,
    resource: (String, String, String),
    quotas: Vec<PyRef<'_, Stored>>,
    limited: &[u8],
) -> Fallible<Charged> {
    let (group, plural, subresource) = &resource;
    let quotas = quotas.iter().map(|quota| &quota.0);
    let resource = (group.as_str(), plural.as_str(), subresource.as_str());
    let charged = write::quota_charge(&draft.0.lock(), old.map(|o| &o.0), resource, quotas, limited)?;
    Ok(match charged {
        Ok(changed) => (changed, None, false),
        Err(write::Refusal::Forbidden(why)) => (Vec::new(), Some(why), true),
        Err(write::Refusal::Internal(why)) => (Vec::new(), Some(why), false),
    })
}

/// Key, operator and values of a requirement of a selector.
type Requirement = (String, &'static str, Vec<String>);

#[pyfunction]
pub(crate) fn label_requirements(selector: &str) -> Option<Vec<Requirement>> {
    let parsed = LabelSelector::parse(selector).ok()?;
    let requirements = parsed.requirements().into_iter();
    Some(
        requirements
            .map(|(key, operator, values)| (key.into(), operator, values.iter().map(ToString::to_string).collect()))
            .collect(),
    )
}

#[pyfunction]
pub(crate) fn field_requirements(selector: &str) -> Option<Vec<Requirement>> {
    let terms = field_terms(selector).ok()?.into_iter();
    Some(
        terms.map(|(key, equal, value)| (key.into(), if equal { "In" } else { "NotIn" }, vec![value.into()])).collect(),
    )
}

#[pyfunction]
pub(crate) fn is_label_requirement(key: &str, operator: &str, values: Vec<String>) -> bool {
    is_requirement(key, operator, &values.iter().map(String::as_str).collect::<Vec<_>>())
}

#[pyfunction]
pub(crate) fn json_patch(document: &[u8], patch: &[u8]) -> Fallible<Vec<u8>> {
    Ok(apart(document.len() + patch.len(), || write::json_patch(document, patch))?)
}

/// Wrap functions of the engine that convert a document to another format.
macro_rules! transcoders {
    ($($name:ident($data:ident))*) => {
        $(#[pyfunction]
        pub(crate) fn $name($data: &[u8]) -> Fallible<Vec<u8>> {
            Ok(apart($data.len(), || transcode::$name($data))?)
        })*
    };
}

transcoders!(json_to_yaml(data) yaml_to_json(data) json_to_cbor(data) cbor_to_json(data) openapi_protobuf(document)
    pretty(data));

#[pyfunction]
pub(crate) fn yaml_fault_line(data: &[u8]) -> Option<usize> {
    transcode::yaml_fault_line(data)
}

#[pyfunction]
pub(crate) fn watch_event(encoding: &str, kind: &str, object: &[u8]) -> Vec<u8> {
    transcode::watch_event(encoding, kind, object)
}

#[pyfunction]
pub(crate) fn decode_continue(token: &str) -> Fallible<(i64, String)> {
    let token = ContinueToken::decode(token).map_err(|e| Error::Invalid(e.to_string()))?;
    Ok((token.revision, token.start))
}

#[pyfunction]
pub(crate) fn encode_continue(revision: i64, start: &str) -> String {
    ContinueToken { revision, start: start.to_owned() }.encode()
}

#[pyfunction]
pub(crate) fn duration(text: &str) -> Option<f64> {
    hydrofoil_text::duration::parse(text).map(|nanos| nanos as f64 / 1e9)
}

#[pyfunction]
pub(crate) fn json_path(path: &str, object: &[u8]) -> Fallible<Option<Vec<u8>>> {
    let path = JsonPath::parse(path).map_err(Error::Invalid)?;
    let value = json::parse(object)?.value;
    Ok(path.first(&value).map(|found| json::encode_any(&found)))
}
