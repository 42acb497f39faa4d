//! Conversion of documents from one format to another.

use hydrofoil_codec::{cbor, json, openapi, proto, yaml};

use crate::error::Result;

/// Convert JSON to YAML.
pub fn json_to_yaml(data: &[u8]) -> Result<Vec<u8>> {
    Ok(yaml::write(&json::parse(data)?.value))
}

/// Return the line of the first error of YAML, counted from one.
pub fn yaml_fault_line(data: &[u8]) -> Option<usize> {
    yaml::fault_line(data)
}

/// Convert YAML to JSON.
pub fn yaml_to_json(data: &[u8]) -> Result<Vec<u8>> {
    Ok(yaml::to_json(data)?.0)
}

/// Convert JSON to CBOR with the self-described tag.
pub fn json_to_cbor(data: &[u8]) -> Result<Vec<u8>> {
    Ok(cbor::encode_tagged(None, &json::parse(data)?.value))
}

/// Convert CBOR to JSON.
pub fn cbor_to_json(data: &[u8]) -> Result<Vec<u8>> {
    Ok(cbor::to_json(data)?)
}

/// Convert an `OpenAPI` document, version 2 or 3, to protobuf.
pub fn openapi_protobuf(document: &[u8]) -> Result<Vec<u8>> {
    Ok(openapi::to_protobuf(document)?)
}

/// Indent JSON for humans.
pub fn pretty(data: &[u8]) -> Result<Vec<u8>> {
    Ok(json::indent(data))
}

/// Write a watch event around a whole object: in `cbor`, else in `protobuf` around the enveloped object.
pub fn watch_event(encoding: &str, event_type: &str, object: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    match encoding {
        "cbor" => cbor::event(event_type, object, &mut out),
        _ => proto::watch_event(event_type, object, &mut out),
    }
    out
}
