//! An event of a watch in the stream (`metav1.WatchEvent`).

use hydrofoil_codec::{cbor, proto};
use hydrofoil_store::Version;
use hydrofoil_types::Timestamp;

use crate::error::Result;
use crate::kind::ObjectKind;
use crate::read::{Encoding, Form, Rendering, render_as};

/// Write an event of a type (`ADDED`, `BOOKMARK`, ...) of a version. Only the first table of a stream has `columns`.
pub(super) fn write(
    kind: &dyn ObjectKind,
    form: &Form,
    event_type: &str,
    version: &Version,
    (columns, now): (bool, Timestamp),
    out: &mut Vec<u8>,
) -> Result<()> {
    let how = Rendering { whole: true, columns, now };
    if form.is_text() {
        out.extend_from_slice(br#"{"type":""#);
        out.extend_from_slice(event_type.as_bytes());
        out.extend_from_slice(br#"","object":"#);
        render_as(kind, form, version, how, out)?;
        out.extend_from_slice(b"}\n");
        return Ok(());
    }
    let mut object = Vec::new();
    render_as(kind, form, version, how, &mut object)?;
    match form.encoding {
        Encoding::Cbor => cbor::event(event_type, &object, out),
        _ => proto::watch_event(event_type, &object, out),
    }
    Ok(())
}
