//! Records: the changes of objects, as segments, checkpoints and backups contain them.
//!
//! ```text
//! put:    1  resource  revision  key  form
//! delete: 2  resource  revision  key
//! form:   0  offset of the revision  length of the head  0  n { label  value }  n { field }
//!         JSON without its revision  whether the JSON as given differs  that JSON
//!         1  such a form, encrypted
//!         2  as 0, with the digest of the schema that wrote the JSON in place of the 0
//!
//! Forms of kind 0 from earlier versions have a number of 64 bits there that was a schema's: it identifies none.
//! ```

use hydrofoil_store::Draft;
use hydrofoil_types::Fingerprint;
use smol_str::SmolStr;

use crate::wire::{Reader, bytes, number};

const PUT: u8 = 1;
const DELETE: u8 = 2;
/// A form that is not encrypted.
const PLAIN: u8 = 0;
/// The same, written by the schema of a definition.
const WRITTEN: u8 = 2;
/// An encrypted form.
pub(crate) const ENCRYPTED: u8 = 1;

/// One change of one object.
#[derive(Debug)]
pub(crate) struct Record<'a> {
    pub(crate) resource: &'a str,
    pub(crate) revision: u64,
    pub(crate) key: &'a str,
    /// The form of the object; `None` if it is deleted.
    pub(crate) form: Option<&'a [u8]>,
}

/// Append the record of an object in its stored form.
pub(crate) fn put(out: &mut Vec<u8>, resource: &str, revision: u64, key: &str, form: &[u8]) {
    out.push(PUT);
    begin(out, resource, revision, key);
    bytes(out, form);
}

/// Append the record of a deletion.
pub(crate) fn delete(out: &mut Vec<u8>, resource: &str, revision: u64, key: &str) {
    out.push(DELETE);
    begin(out, resource, revision, key);
}

fn begin(out: &mut Vec<u8>, resource: &str, revision: u64, key: &str) {
    bytes(out, resource.as_bytes());
    number(out, revision);
    bytes(out, key.as_bytes());
}

/// Return the form of an object that is not encrypted.
pub(crate) fn form(draft: &Draft) -> Vec<u8> {
    let mut out = Vec::with_capacity(draft.json.len().saturating_add(128));
    write_form(&mut out, draft);
    out
}

fn write_form(out: &mut Vec<u8>, draft: &Draft) {
    let digest = draft.fingerprint.digest();
    out.push(if digest.is_some() { WRITTEN } else { PLAIN });
    number(out, draft.rv_at as u64);
    number(out, draft.head as u64);
    match digest {
        Some(digest) => out.extend_from_slice(&digest),
        None => number(out, u64::from(draft.fingerprint != Fingerprint::BUILTIN)),
    }
    number(out, draft.labels.len() as u64);
    for (key, value) in &draft.labels {
        bytes(out, key.as_bytes());
        bytes(out, value.as_bytes());
    }
    number(out, draft.fields.len() as u64);
    draft.fields.iter().for_each(|field| bytes(out, field.as_bytes()));
    bytes(out, &draft.json);
    match &draft.given {
        None => out.push(0),
        Some(given) => {
            out.push(1);
            bytes(out, given);
        }
    }
}

/// Read the records of a group; `None` if they are not as written, or not for `each`.
pub(crate) fn read<'a>(body: &'a [u8], mut each: impl FnMut(Record<'a>) -> Option<()>) -> Option<()> {
    let mut reader = Reader(body);
    while !reader.0.is_empty() {
        let kind = reader.byte()?;
        let (resource, revision, key) = (reader.text()?, reader.number()?, reader.text()?);
        let form = match kind {
            PUT => Some(reader.bytes()?),
            DELETE => None,
            _ => return None,
        };
        each(Record { resource, revision, key, form })?;
    }
    Some(())
}

/// Read a form that is not encrypted.
pub(crate) fn read_form(form: &[u8]) -> Option<Draft> {
    let mut reader = Reader(form);
    let kind = reader.byte()?;
    if kind != PLAIN && kind != WRITTEN {
        return None;
    }
    let (rv_at, head) = (usize::try_from(reader.number()?).ok()?, usize::try_from(reader.number()?).ok()?);
    let fingerprint = if kind == WRITTEN {
        Fingerprint::of(reader.digest()?)
    } else if reader.number()? == 0 {
        Fingerprint::BUILTIN
    } else {
        Fingerprint::UNKNOWN
    };
    let mut labels = Vec::new();
    for _ in 0..reader.size()? {
        labels.push((SmolStr::new(reader.text()?), SmolStr::new(reader.text()?)));
    }
    let mut fields = Vec::new();
    for _ in 0..reader.size()? {
        fields.push(SmolStr::new(reader.text()?));
    }
    let json = reader.bytes()?.to_vec();
    let given = if reader.byte()? == 0 { None } else { Some(reader.bytes()?.to_vec()) };
    if rv_at > json.len() || head > json.len() || given.as_ref().is_some_and(|given| rv_at > given.len()) {
        return None;
    }
    Some(Draft { json, given, rv_at, head, labels: labels.into(), fields: fields.into(), fingerprint })
}

#[cfg(test)]
#[allow(clippy::indexing_slicing, reason = "they read what they wrote")]
mod tests {
    use hydrofoil_store::Draft;
    use hydrofoil_types::Fingerprint;
    use proptest::prelude::*;
    use smol_str::SmolStr;

    use super::{delete, form, put, read, read_form};

    fn draft(given: Option<&str>) -> Draft {
        Draft {
            json: br#"{"metadata":{"resourceVersion":""}}"#.to_vec(),
            given: given.map(|text| text.as_bytes().to_vec()),
            rv_at: 32,
            head: 1,
            labels: Box::from([(SmolStr::new("app"), SmolStr::new("web"))]),
            fields: Box::from([SmolStr::new("up")]),
            fingerprint: Fingerprint::of([7; 32]),
        }
    }

    #[test]
    fn they_are_read_as_they_were_written() {
        let given = r#"{"metadata":{"resourceVersion":"" }}"#;
        let mut out = Vec::new();
        put(&mut out, "/pods", 300, "a/m", &form(&draft(Some(given))));
        put(&mut out, "/pods", 301, "a/n", &form(&draft(None)));
        delete(&mut out, "/pods", 302, "a/m");
        let mut found = Vec::new();
        let each = |record| {
            found.push(record);
            Some(())
        };
        read(&out, each).expect("they are whole");
        let shown: Vec<_> = found.iter().map(|r| (r.resource, r.revision, r.key)).collect();
        assert_eq!(shown, [("/pods", 300, "a/m"), ("/pods", 301, "a/n"), ("/pods", 302, "a/m")]);
        let read = found[0].form.and_then(read_form).expect("it is a put");
        let written = draft(Some(given));
        assert_eq!((&read.json, &read.given, read.rv_at, read.head), (&written.json, &written.given, 32, 1));
        assert_eq!(
            (&read.labels, &read.fields, read.fingerprint),
            (&written.labels, &written.fields, Fingerprint::of([7; 32]))
        );
        assert!(found[2].form.is_none());
    }

    proptest! {
        #[test]
        fn arbitrary_bytes_are_read_or_refused(data in prop::collection::vec(any::<u8>(), 0..64)) {
            let _ = read(&data, |record| record.form.map_or(Some(()), |form| read_form(form).map(drop)));
        }
    }
}
