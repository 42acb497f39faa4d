//! The errors of patches whose result is not an object of its type.

use hydrofoil_codec::{DecodeError, json};
use hydrofoil_merge as merge;
use hydrofoil_merge::PatchError;
use hydrofoil_types::{Value, go};

use super::{Patch, PatchType};
use crate::error::{Error, Result};
use crate::kind::{Media, ObjectKind, TypeMismatch, go_name};
use crate::stored::Stored;

/// Return Go's error for a patch that must be an object.
pub(super) fn no_object(patch: &Value) -> PatchError {
    PatchError::Malformed(match patch {
        // Go decodes null as an empty object; the merging library does not.
        Value::Null => "Invalid JSON Patch".to_owned(),
        other => format!("json: cannot unmarshal {} into Go value of type map[string]interface {{}}", go_name(other)),
    })
}

/// A patch with the data for errors of its result.
pub(super) struct Shown<'a> {
    pub(super) patch: &'a Patch<'a>,
    pub(super) kind: &'a dyn ObjectKind,
    pub(super) old: &'a Stored,
}

impl Shown<'_> {
    /// Return the whole result of a merge patch or JSON patch, as the patching library writes it.
    pub(super) fn whole(&self) -> Option<String> {
        let patch = json::parse(self.patch.text).ok()?.value;
        let before = json::parse(&self.kind.json(self.old.version()).ok()?).ok()?.value;
        let mut value = before.clone();
        if self.patch.patch_type == PatchType::Json {
            merge::json_patch(&mut value, &patch).ok()?;
        } else {
            merge::json_merge(&mut value, patch.clone());
        }
        merge::order_outcome(&mut value, &before, &patch);
        String::from_utf8(json::encode_exact(&value)).ok()
    }

    /// Return the error of a result of another type.
    pub(super) fn of_another_type(&self, mismatch: TypeMismatch) -> Error {
        let outcome = self.whole().unwrap_or_default();
        match mismatch {
            TypeMismatch::NoText(message) => Error::Patched { message, outcome },
            TypeMismatch::Other(api_version, kind) => Error::TypeMeta { api_version, kind, outcome },
        }
    }

    /// Return the error of a result that the decoder rejects: it shows the whole result.
    pub(super) fn refusal(&self, error: Error) -> Error {
        match error {
            Error::Decode(DecodeError::Type(message)) => match self.whole() {
                Some(outcome) => Error::Patched { message, outcome },
                None => Error::Decode(DecodeError::Type(message)),
            },
            other => other,
        }
    }

    /// Convert the result of a strategic merge patch that no decoder accepts to the type, as Go's conversion does.
    pub(super) fn restore(&self, mut value: Value, error: Error) -> Result<(Value, Vec<String>)> {
        let schema = &self.kind.info().schema;
        let Err(DecodeError::Type(_)) = json::decode(schema, &json::encode_any(&value)) else {
            // It is of the type, but the conversion to the internal version refuses it, after the patch was applied.
            return Err(match error {
                Error::Decode(DecodeError::Type(why)) => PatchError::Internal(why).into(),
                other => other,
            });
        };
        match json::restore(schema, &mut value) {
            Ok(()) => self.kind.decode(&json::encode_any(&value), Media::Json),
            Err(message) => match json::parse(self.patch.text) {
                Ok(patch) => Err(Error::Patched { message, outcome: go::plain(&patch.value) }),
                Err(_) => Err(error),
            },
        }
    }
}
