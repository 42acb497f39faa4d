//! The location of managed fields in stored JSON: they are half the size of many objects.

use std::ops::Range;

use hydrofoil_codec::json::scan::value_end;

/// Find the member `managedFields` of the metadata in the JSON of an object, with the comma before it.
///
/// Quotes inside strings are escaped, so the name in bare quotes before a list is the member.
pub fn managed_fields(json: &[u8]) -> Option<Range<usize>> {
    const NAME: &[u8] = br#","managedFields":["#;
    let start = memchr::memmem::find(json, NAME)?;
    let list = start.checked_add(NAME.len())?.checked_sub(1)?;
    let length = value_end(json.get(list..)?)?;
    Some(start..list.checked_add(length)?)
}

#[cfg(test)]
mod tests {
    use super::managed_fields;

    fn without(text: &str) -> Option<String> {
        let at = managed_fields(text.as_bytes())?;
        let mut out = text.to_owned();
        out.replace_range(at, "");
        Some(out)
    }

    #[test]
    fn the_member_is_found_with_its_comma() {
        let text = r#"{"metadata":{"name":"a","managedFields":[{"manager":"]\"m"},[]],"uid":"u"}}"#;
        assert_eq!(without(text).as_deref(), Some(r#"{"metadata":{"name":"a","uid":"u"}}"#));
    }

    #[test]
    fn texts_that_look_like_it_are_none() {
        assert_eq!(without(r#"{"data":{"a":"x,\"managedFields\":[1]"}}"#), None);
        assert_eq!(without(r#"{"metadata":{"name":"a","managedFields":[1"#), None);
        assert_eq!(without(""), None);
    }
}
