//! One line of a watch.

use hydrofoil_codec::json::scan;

/// The annotation of the bookmark that ends the initial events (apimachinery `meta/v1.InitialEventsAnnotationKey`).
const INITIAL_EVENTS_END: &[u8] = br#""k8s.io/initial-events-end""#;

/// What a line says.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Line<'t> {
    /// The object exists in this state.
    Put(&'t [u8]),
    /// It was deleted; this is its last state.
    Delete(&'t [u8]),
    /// Everything up to a revision was sent, and whether the initial events end here.
    Bookmark(u64, bool),
    /// The watch ends with an error: its status code, and the text.
    Failure(u16, String),
}

/// Read a line; `None` for one that is no event.
pub(crate) fn read(text: &[u8]) -> Option<Line<'_>> {
    let object = scan::member(text, br#""object""#)?;
    let object = object.get(..scan::value_end(object)?)?;
    Some(match value(text, br#""type""#)? {
        br#""ADDED""# | br#""MODIFIED""# => Line::Put(object),
        br#""DELETED""# => Line::Delete(object),
        br#""BOOKMARK""# => bookmark(object)?,
        br#""ERROR""# => {
            let code = value(object, br#""code""#).and_then(|digits| str::from_utf8(digits).ok()?.parse().ok());
            let message = value(object, br#""message""#).map(|text| String::from_utf8_lossy(text).into_owned());
            Line::Failure(code.unwrap_or(500), message.unwrap_or_default())
        }
        _ => return None,
    })
}

/// Return the text of a member.
pub(crate) fn value<'t>(text: &'t [u8], name: &[u8]) -> Option<&'t [u8]> {
    let found = scan::member(text, name)?;
    found.get(..scan::value_end(found)?)
}

/// Return the number in a member of the metadata of an object.
pub(crate) fn revision(metadata: &[u8]) -> Option<u64> {
    let digits = value(metadata, br#""resourceVersion""#)?;
    str::from_utf8(digits.get(1..digits.len().checked_sub(1)?)?).ok()?.parse().ok()
}

fn bookmark(object: &[u8]) -> Option<Line<'_>> {
    let metadata = value(object, br#""metadata""#)?;
    let annotations = value(metadata, br#""annotations""#).unwrap_or(b"{}");
    let ends = value(annotations, INITIAL_EVENTS_END) == Some(br#""true""#);
    Some(Line::Bookmark(revision(metadata)?, ends))
}

#[cfg(test)]
mod tests {
    use super::{Line, read};

    #[test]
    fn each_event_has_its_line() {
        let line = |kind: &str, object: &str| format!(r#"{{"type":"{kind}","object":{object}}}"#).into_bytes();
        let pod = r#"{"kind":"Pod","metadata":{"name":"type","resourceVersion":"7"}}"#;
        assert_eq!(read(&line("ADDED", pod)), Some(Line::Put(pod.as_bytes())));
        assert_eq!(read(&line("MODIFIED", pod)), Some(Line::Put(pod.as_bytes())));
        assert_eq!(read(&line("DELETED", pod)), Some(Line::Delete(pod.as_bytes())));
        assert_eq!(read(&line("BOOKMARK", pod)), Some(Line::Bookmark(7, false)));
        let end = r#"{"metadata":{"resourceVersion":"9","annotations":{"k8s.io/initial-events-end":"true"}}}"#;
        assert_eq!(read(&line("BOOKMARK", end)), Some(Line::Bookmark(9, true)));
        let status = r#"{"kind":"Status","message":"too old","code":410}"#;
        assert_eq!(read(&line("ERROR", status)), Some(Line::Failure(410, r#""too old""#.to_owned())));
    }

    #[test]
    fn what_is_no_event_is_none() {
        for text in ["", "{}", "[", r#"{"type":"ADDED"}"#, r#"{"type":"OTHER","object":{}}"#, r#"{"object":{"type""#] {
            assert_eq!(read(text.as_bytes()), None, "{text}");
        }
        assert_eq!(read(br#"{"type":"BOOKMARK","object":{"metadata":{"resourceVersion":"x"}}}"#), None);
    }
}
