//! Tables, as printed by kubectl (apiserver `pkg/endpoints/handlers/response.go`).

use hydrofoil_codec::json;
use hydrofoil_store::Version;
use hydrofoil_types::{Map, Value};

use super::form::Rendering;
use super::metadata::partial;
use crate::error::Result;
use crate::kind::ObjectKind;

/// Write a version as a row or, as a whole document, as a table of one row: by the version of meta.k8s.io and the
/// content of rows. Return the end of the validity of its ages, in seconds of Unix time.
pub(super) fn write(
    kind: &dyn ObjectKind,
    version: &Version,
    (meta_version, include): (&str, &str),
    how: Rendering,
    out: &mut Vec<u8>,
) -> Result<i64> {
    if !how.whole {
        return row(kind, version, (meta_version, include), how, out);
    }
    out.extend_from_slice(&head(kind, meta_version, version.revision(), "", how.columns));
    let until = row(kind, version, (meta_version, include), how, out)?;
    out.extend_from_slice(b"]}");
    Ok(until)
}

/// Return a table up to its first row. `rest` has further members of its metadata, each after its comma.
pub(super) fn head(kind: &dyn ObjectKind, meta_version: &str, revision: u64, rest: &str, columns: bool) -> Vec<u8> {
    let columns = if columns { Value::Array(kind.columns()) } else { Value::Null };
    // An object that is not stored has no resource version.
    let version = if revision == 0 { String::new() } else { format!(r#""resourceVersion":"{revision}""#) };
    let mut out = format!(
        r#"{{"kind":"Table","apiVersion":"meta.k8s.io/{meta_version}","metadata":{{{version}{rest}}},"columnDefinitions":"#
    )
    .into_bytes();
    out.extend_from_slice(&json::encode_any(&columns));
    out.extend_from_slice(br#","rows":["#);
    out
}

fn row(
    kind: &dyn ObjectKind,
    version: &Version,
    (meta_version, include): (&str, &str),
    how: Rendering,
    out: &mut Vec<u8>,
) -> Result<i64> {
    let row = kind.row(&kind.read(version)?, how.now);
    let mut shown = Map::new();
    shown.push("cells", Value::Array(row.cells));
    if !row.conditions.is_empty() {
        shown.push("conditions", Value::Array(row.conditions));
    }
    out.extend_from_slice(&json::encode_any(&Value::Object(shown)));
    out.pop();
    out.extend_from_slice(br#","object":"#);
    match include {
        // Upstream writes the unset extension as null.
        "None" => out.extend_from_slice(b"null"),
        "Object" => out.extend_from_slice(&kind.json(version)?),
        _ => partial(kind, version, meta_version, out)?,
    }
    out.push(b'}');
    Ok(row.until)
}
