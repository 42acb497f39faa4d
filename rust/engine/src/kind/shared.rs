//! The bytes of built-in objects in a store that kube-apiserver uses as well.

use hydrofoil_codec::{json, proto};
use hydrofoil_schema::{Kind, convert, default};
use hydrofoil_store as store;
use hydrofoil_store::Version;
use hydrofoil_types::{Schema, Timestamp, Value};

use super::TypeInfo;
use crate::error::{Error, Result};

/// Resources that kube-apiserver stores in an older version than the one that is stored here, so that a downgrade can
/// read them (kubernetes `pkg/kubeapiserver/default_storage_factory_builder.go`).
const OLDER: [(&str, &str, &str); 4] = [
    ("admissionregistration.k8s.io", "mutatingadmissionpolicies", "admissionregistration.k8s.io/v1beta1"),
    ("admissionregistration.k8s.io", "mutatingadmissionpolicybindings", "admissionregistration.k8s.io/v1beta1"),
    ("apiextensions.k8s.io", "customresourcedefinitions", "apiextensions.k8s.io/v1beta1"),
    ("resource.k8s.io", "devicetaintrules", "resource.k8s.io/v1alpha3"),
];

/// Groups whose objects are stored as JSON: those of other servers than the core of kube-apiserver.
const AS_JSON: [&str; 2] = ["apiextensions.k8s.io", "apiregistration.k8s.io"];

/// Encode an object in its stored form: protobuf in its envelope, or JSON with a newline.
pub(super) fn encode(info: &TypeInfo, served: &[(Kind, Schema)], draft: &store::Draft) -> Result<Vec<u8>> {
    let (group, plural) = (&*info.resource.group, &*info.resource.plural);
    let as_json = AS_JSON.contains(&group);
    let older = OLDER.iter().find(|(g, p, _)| (*g, *p) == (group, plural)).map(|(.., version)| *version);
    let older = older.and_then(|version| Some((version, served.iter().find(|(kind, _)| kind.is_version(version))?)));
    if as_json && older.is_none() {
        return Ok(text(draft));
    }
    let mut value = json::decode_stored(&info.schema, draft.given.as_ref().unwrap_or(&draft.json))?;
    // Nothing is stored with it (apiserver `pkg/storage/api_object_versioner.go`, `PrepareObjectForStorage`).
    if let Some(metadata) = value.get_mut("metadata").and_then(Value::as_object_mut) {
        metadata.remove("selfLink");
    }
    let (version, kind, schema) = match older {
        Some((version, (kind, schema))) => {
            value = convert::from_storage(kind, value);
            value.object_at_mut(&[]).set("apiVersion", version);
            (version, &kind.kind, schema)
        }
        None => (&*info.api_version, &info.kind.kind, &info.schema),
    };
    if as_json {
        let mut text = json::encode(schema, &value);
        text.push(b'\n');
        return Ok(text);
    }
    Ok(proto::envelope(version, kind, &proto::encode(schema, &value)))
}

/// Decode an object to its stored version, whichever of its versions the bytes are in.
pub(super) fn decode(info: &TypeInfo, served: &[(Kind, Schema)], bytes: &[u8], now: Timestamp) -> Result<Value> {
    let is_binary = bytes.starts_with(proto::MAGIC);
    let version =
        if is_binary { proto::unwrap(bytes)?.0 } else { json::parse(bytes)?.value.str_at(&["apiVersion"]).into() };
    let own = (&info.kind, &info.schema);
    let other = (version != info.api_version).then(|| served.iter().find(|(kind, _)| kind.is_version(&version)));
    let (kind, schema) = match other {
        None => own,
        Some(Some((kind, schema))) => (kind, schema),
        Some(None) => {
            let text = format!("no kind \"{}\" is registered for version \"{version}\"", info.kind.kind);
            return Err(Error::Unconvertible(text));
        }
    };
    let mut value = if is_binary { proto::decode(schema, bytes)? } else { json::decode(schema, bytes)?.value };
    without_revision(&mut value);
    convert::after_decode(kind, &mut value);
    default::apply(kind, &mut value, now);
    if other.is_some() {
        value = convert::to_storage(kind, value);
    }
    info.set_type(&mut value);
    Ok(value)
}

/// Return an object in its stored form as JSON with a newline, without a resource version.
pub(super) fn text(draft: &store::Draft) -> Vec<u8> {
    let mut draft = draft.clone();
    if let Some(given) = draft.given.take() {
        draft.json = given;
    }
    [Version::detach("", 0, draft).json(), b"\n"].concat()
}

/// Remove the revision, which only answers have. A link of older servers stays: upstream shows it until the next write.
pub(super) fn without_revision(object: &mut Value) {
    if let Some(metadata) = object.get_mut("metadata").and_then(Value::as_object_mut) {
        metadata.remove("resourceVersion");
    }
}
