//! Decode the bytes of a body to an object in loose form.

use hydrofoil_codec::{DecodeError, cbor, json, proto, yaml};
use hydrofoil_schema::convert;
use hydrofoil_types::Value;

use super::{Media, ObjectKind, TypeInfo};
use crate::error::Result;

impl dyn ObjectKind + '_ {
    /// Decode a body. Return the object and its strict errors.
    pub fn decode(&self, body: &[u8], media: Media) -> Result<(Value, Vec<String>)> {
        let info = self.info();
        let transcoded;
        let (mut decoded, body) = match media {
            Media::Protobuf => return Ok((protobuf(info, body)?, Vec::new())),
            Media::Cbor => {
                transcoded = cbor::typed_to_json(&info.schema, body)?;
                (json::decode(&info.schema, &transcoded)?, &*transcoded)
            }
            Media::Yaml => {
                let (mut text, strict) = yaml::to_json(body)?;
                if text == b"null" {
                    // A body without a document is an object without members.
                    text = b"{}".to_vec();
                }
                let mut decoded = json::decode(&info.schema, &text)?;
                decoded.strict.splice(0..0, strict);
                (decoded, body)
            }
            Media::Json => (json::decode(&info.schema, body)?, body),
        };
        self.complete_decoded(&mut decoded, media, body)?;
        Ok((decoded.value, decoded.strict))
    }
}

fn protobuf(info: &TypeInfo, body: &[u8]) -> Result<Value> {
    let mut value = proto::decode(&info.schema, body).or_else(|e| of_another_type(info, body).ok_or(e))?;
    convert::after_decode(&info.kind, &mut value);
    convertible(info, &value)?;
    Ok(value)
}

/// Refuse an object that upstream's conversion to the internal version refuses.
pub(super) fn convertible(info: &TypeInfo, object: &Value) -> Result<()> {
    convert::refusal(&info.kind, object).map_or(Ok(()), |why| Err(DecodeError::Type(why).into()))
}

/// Return only the type of a protobuf body of another type, which is then the error.
fn of_another_type(info: &TypeInfo, body: &[u8]) -> Option<Value> {
    let (api_version, kind, _) = proto::unwrap(body).ok()?;
    let is_other = |given: &str, own: &str| !given.is_empty() && given != own;
    (is_other(&api_version, &info.api_version) || is_other(&kind, &info.kind.kind)).then(|| {
        let mut value = Value::object();
        let map = value.object_at_mut(&[]);
        map.set("apiVersion", api_version);
        map.set("kind", kind);
        value
    })
}
