//! Server-side apply of a configuration.

use std::sync::Arc;

use hydrofoil_codec::{DecodeError, json, yaml};
use hydrofoil_merge::{self as merge, ApplyError, FieldSet, ManagedRequest, apply, object_name};
use hydrofoil_types::Value;

use super::conversions::{Answered, Conversions};
use super::raw;
use crate::error::{Error, Result};
use crate::kind::{ObjectKind, TypeInfo};
use crate::stored::Stored;

/// A request to apply a configuration.
#[derive(Clone, Copy, Debug)]
pub struct Apply<'a> {
    /// The configuration, as YAML or JSON.
    pub config: &'a [u8],
    /// The field manager.
    pub manager: &'a str,
    /// The subresource, or empty.
    pub subresource: &'a str,
    /// Whether to take over fields that others own.
    pub force: bool,
    /// The time, RFC 3339 in whole seconds.
    pub now: &'a str,
    /// The conversions of a webhook that are known.
    pub known: Option<&'a Conversions>,
}

impl Apply<'_> {
    /// Apply the configuration to the live object, or create one. Return the result, and the strict errors of the
    /// configuration.
    pub fn to(&self, kind: &Arc<dyn ObjectKind>, live: Option<&Stored>) -> Result<(Value, Vec<String>)> {
        let config = yaml::parse(self.config).map_err(|why| decode_error(&why.to_string()))?;
        check_object(&config.value)?;
        let info = kind.info();
        check_type(info, &config.value)?;
        let given = live.map(|live| live.value(kind)).transpose()?;
        let live = given.as_deref().map(|live| raw::open(&**kind, live));
        let versions = Answered { kind: &**kind, known: self.known };
        let request = ManagedRequest {
            manager: self.manager,
            api_version: &info.api_version,
            subresource: self.subresource,
            now: self.now,
            versions: &versions,
        };
        let ignored = FieldSet::of_fields(kind.reset_fields(self.subresource));
        let applied = apply(kind.ownership_schema(), live.as_deref(), &config.value, &request, self.force, &ignored)?;
        let mut value = convert(info, applied.object).map_err(|why| conversion_error(info, &config.value, &why))?;
        if kind.has_raw() {
            raw::settle_applied(&**kind, given.as_deref(), &mut value);
        }
        // An unchanged object gets no defaults: one that is read in a version with more of them than its stored version
        // would differ after all (`structuredMergeManager.Apply`).
        if applied.changed {
            kind.complete_applied(&mut value).map_err(|error| match error {
                Error::Decode(DecodeError::Type(why)) => unversioned_error(info, &config.value, &why).into(),
                other => other,
            })?;
        }
        Ok((value, config.strict))
    }
}

/// Return the error of an object that the conversion to the internal version refuses.
fn unversioned_error(info: &TypeInfo, config: &Value, why: &str) -> ApplyError {
    let slash = if info.api_version.contains('/') { "" } else { "/" };
    let (namespace, name) = (config.str_at(&["metadata", "namespace"]), config.str_at(&["metadata", "name"]));
    let kind = format!("{slash}{}, Kind={}", info.api_version, info.kind.kind);
    ApplyError::Internal(format!("failed to convert to unversioned ({namespace}/{name}; {kind}): {why}"))
}

/// Return an object of the type. A value that no decoder accepts is converted as Go does, which truncates numbers.
fn convert(info: &TypeInfo, mut object: Value) -> std::result::Result<Value, String> {
    let decode = |object: &Value| json::decode_stored(&info.schema, &json::encode_any(object));
    decode(&object).or_else(|why| {
        json::restore(&info.schema, &mut object)?;
        decode(&object).map_err(|_| why.to_string())
    })
}

/// Merge a configuration of a policy into an object, both as JSON of a kind.
pub fn overlay(kind: &dyn ObjectKind, object: &[u8], config: &[u8]) -> Result<Vec<u8>> {
    let (object, config) = (json::parse(object)?.value, json::parse(config)?.value);
    Ok(json::encode_any(&merge::overlay(kind.ownership_schema(), &object, &config)?))
}

/// Return the error of a configuration that is no YAML (apiserver `handlers/patch.go`, `applyPatcher`).
fn decode_error(why: &str) -> ApplyError {
    let prefix = if why.starts_with("yaml: ") { "error converting YAML to JSON: " } else { "" };
    ApplyError::BadRequest(format!("error decoding YAML: {prefix}{why}"))
}

/// Reject a configuration that is no object.
fn check_object(config: &Value) -> Result<(), ApplyError> {
    let found = match config {
        Value::Object(_) | Value::Null => return Ok(()),
        Value::Array(_) => "array",
        Value::Str(_) => "string",
        Value::Bool(_) => "bool",
        _ => "number",
    };
    let unmatched = format!("json: cannot unmarshal {found} into Go value of type map[string]interface {{}}");
    Err(decode_error(&format!("error unmarshaling JSON: while decoding JSON: {unmatched}")))
}

/// Reject a configuration of another type (apimachinery `pkg/util/managedfields/internal/versioncheck.go`).
fn check_type(info: &TypeInfo, config: &Value) -> Result<(), ApplyError> {
    let (version, kind) = (config.str_at(&["apiVersion"]), config.str_at(&["kind"]));
    if version == info.api_version && kind == info.kind.kind {
        return Ok(());
    }
    let slash = if version.contains('/') { "" } else { "/" };
    Err(ApplyError::BadRequest(format!("invalid object type: {slash}{version}, Kind={kind}")))
}

/// Return the error of an object that matches its schema but not its Go type (apimachinery
/// `pkg/util/managedfields/internal/structuredmerge.go`, `unstructuredscheme`).
fn conversion_error(info: &TypeInfo, config: &Value, why: &str) -> ApplyError {
    let slash = if info.api_version.contains('/') { "" } else { "/" };
    let kind = format!("{slash}{}, Kind={}", info.api_version, info.kind.kind);
    ApplyError::Internal(format!(
        "failed to convert new object {} to proper version: unable to convert unstructured object to {kind}: {why}",
        object_name(config)
    ))
}
