//! What the graph of owners knows of an object.

use hydrofoil_codec::json::scan::{member, members};
use hydrofoil_store::Version;
use hydrofoil_types::Fingerprint;
use memchr::memmem::find;

/// Return the metadata of an object with the members alone that place it in the graph of owners: its owners, its
/// finalizers and the time of its deletion. Most changes leave them as they are, and many objects have the same.
pub fn graph_members(version: &Version) -> Vec<u8> {
    // Managed fields are most of the text. They are the last member in the order of protobuf, which built-in kinds have.
    let text = version.json();
    let end = if version.fingerprint() == Fingerprint::BUILTIN { find(text, br#","managedFields":["#) } else { None };
    let text = text.get(..end.unwrap_or(text.len())).unwrap_or_default();
    let mut out = vec![b'{'];
    for (name, value) in member(text, br#""metadata""#).into_iter().flat_map(members) {
        if matches!(name, br#""deletionTimestamp""# | br#""ownerReferences""# | br#""finalizers""#) {
            if out.len() > 1 {
                out.push(b',');
            }
            out.extend_from_slice(name);
            out.push(b':');
            out.extend_from_slice(value);
        }
    }
    out.push(b'}');
    out
}

#[cfg(test)]
mod tests {
    use hydrofoil_store::{Draft, Version};
    use hydrofoil_types::Fingerprint;

    use super::graph_members;

    fn text_of(json: &str, fingerprint: Fingerprint) -> String {
        let (labels, fields) = (Box::default(), Box::default());
        let rv_at = json.find(r#"resourceVersion":""#).map_or(0, |at| at.saturating_add(18));
        let draft = Draft { json: json.into(), given: None, rv_at, head: 0, labels, fields, fingerprint };
        String::from_utf8(graph_members(&Version::detach("a", 7, draft))).expect("it is text")
    }

    #[test]
    fn members_of_the_metadata_are_found_in_their_order() {
        let json = r#"{"kind":"K","metadata":{"name":"a","resourceVersion":"","deletionTimestamp":"t","labels":{"#
            .to_owned()
            + r#""finalizers":"x"},"ownerReferences":[{"uid":"u"}],"finalizers":["f"],"managedFields":[{"a":"}"}]},"#
            + r#""spec":{"finalizers":["g"]}}"#;
        let wanted = r#"{"deletionTimestamp":"t","ownerReferences":[{"uid":"u"}],"finalizers":["f"]}"#;
        assert_eq!(text_of(&json, Fingerprint::BUILTIN), wanted);
        let sorted = r#"{"metadata":{"finalizers":["f"],"managedFields":[{"a":1}],"ownerReferences":[],"#.to_owned()
            + r#""resourceVersion":""}}"#;
        assert_eq!(text_of(&sorted, Fingerprint::of([7; 32])), r#"{"finalizers":["f"],"ownerReferences":[]}"#);
        assert_eq!(text_of(r#"{"metadata":{"name":"a","resourceVersion":""}}"#, Fingerprint::BUILTIN), "{}");
    }
}
