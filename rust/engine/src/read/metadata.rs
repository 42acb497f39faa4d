//! The metadata of an object.

use hydrofoil_codec::{json, proto};
use hydrofoil_store::Version;

use crate::error::Result;
use crate::kind::ObjectKind;
use crate::stored::managed_fields;

/// Write the metadata of a version without its managed fields.
pub(super) fn bare(kind: &dyn ObjectKind, version: &Version, out: &mut Vec<u8>) -> Result<()> {
    let metadata = kind.metadata(version)?;
    out.extend_from_slice(br#"{"metadata":"#);
    match managed_fields(&metadata) {
        Some(at) => {
            out.extend_from_slice(metadata.get(..at.start).unwrap_or_default());
            out.extend_from_slice(metadata.get(at.end..).unwrap_or_default());
        }
        None => out.extend_from_slice(&metadata),
    }
    out.push(b'}');
    Ok(())
}

/// Write `PartialObjectMetadata` as protobuf.
pub(super) fn protobuf(
    kind: &dyn ObjectKind,
    version: &Version,
    meta_version: &str,
    whole: bool,
    out: &mut Vec<u8>,
) -> Result<()> {
    let schema = kind.metadata_schema();
    let raw = proto::metadata_message(&schema, &json::decode_stored(&schema, &kind.metadata(version)?)?);
    if whole {
        let api_version = format!("meta.k8s.io/{meta_version}");
        out.extend_from_slice(&proto::envelope(&api_version, "PartialObjectMetadata", &raw));
    } else {
        proto::item(&raw, out);
    }
    Ok(())
}

/// Write `PartialObjectMetadata` as JSON: the metadata as in the stored JSON.
pub(super) fn partial(kind: &dyn ObjectKind, version: &Version, meta_version: &str, out: &mut Vec<u8>) -> Result<()> {
    let head = format!(r#"{{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/{meta_version}","metadata":"#);
    out.extend_from_slice(head.as_bytes());
    out.extend_from_slice(&kind.metadata(version)?);
    out.push(b'}');
    Ok(())
}
