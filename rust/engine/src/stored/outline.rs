//! Stored definitions without their schemas, which are nearly all of them and which few readers need.

use hydrofoil_codec::json::scan::value_end;

/// The objects of a definition that have members to leave out.
#[derive(Clone, Copy)]
enum Level {
    Object,
    Metadata,
    Spec,
    Version,
}

/// Return the JSON of a custom resource definition without its schemas and managed fields.
///
/// Nothing is parsed, and each byte is looked at once: about a millisecond for a megabyte.
pub fn outline(json: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    // Stored text is well-formed: what is cut off is never seen.
    let _ = copy(json, Level::Object, &mut out);
    out
}

/// Copy the object at the start of `text`; return the text after it.
fn copy<'a>(text: &'a [u8], level: Level, out: &mut Vec<u8>) -> Option<&'a [u8]> {
    let mut rest = text.strip_prefix(b"{")?;
    out.push(b'{');
    let mut first = true;
    while !rest.starts_with(b"}") {
        let (name, value) = rest.split_at_checked(value_end(rest)?)?;
        let value = value.strip_prefix(b":")?;
        let written = out.len();
        if !first {
            out.push(b',');
        }
        out.extend_from_slice(name);
        out.push(b':');
        rest = match (level, name) {
            (Level::Object, br#""metadata""#) => copy(value, Level::Metadata, out)?,
            (Level::Object, br#""spec""#) => copy(value, Level::Spec, out)?,
            (Level::Spec, br#""versions""#) => versions(value, out)?,
            // A definition in `v1beta1` may have one schema for all versions.
            (Level::Metadata, br#""managedFields""#)
            | (Level::Spec, br#""validation""#)
            | (Level::Version, br#""schema""#) => {
                out.truncate(written);
                value.get(value_end(value)?..)?
            }
            _ => {
                let (value, rest) = value.split_at_checked(value_end(value)?)?;
                out.extend_from_slice(value);
                rest
            }
        };
        first &= out.len() == written;
        rest = rest.strip_prefix(b",").unwrap_or(rest);
    }
    out.push(b'}');
    rest.strip_prefix(b"}")
}

fn versions<'a>(text: &'a [u8], out: &mut Vec<u8>) -> Option<&'a [u8]> {
    let mut rest = text.strip_prefix(b"[")?;
    out.push(b'[');
    while !rest.starts_with(b"]") {
        rest = copy(rest, Level::Version, out)?;
        if let Some(more) = rest.strip_prefix(b",") {
            out.push(b',');
            rest = more;
        }
    }
    out.push(b']');
    rest.strip_prefix(b"]")
}

#[cfg(test)]
mod tests {
    use super::outline;

    #[test]
    fn schemas_and_managed_fields_are_left_out() {
        let text = r#"{"kind":"D","metadata":{"name":"a","managedFields":[{"schema":"]\"m"}],"uid":"schema"},"#
            .to_owned()
            + r#""spec":{"validation":{"a":[1]},"names":{"schema":1},"versions":[{"schema":{"b":"}"}},"#
            + r#"{"name":"v1","schema":{"c":{}},"served":true},{"name":"v2"}]},"status":{"schema":[]}}"#;
        let expected = r#"{"kind":"D","metadata":{"name":"a","uid":"schema"},"spec":{"names":{"schema":1},"#.to_owned()
            + r#""versions":[{},{"name":"v1","served":true},{"name":"v2"}]},"status":{"schema":[]}}"#;
        assert_eq!(String::from_utf8(outline(text.as_bytes())), Ok(expected));
    }

    #[test]
    fn empty_parts_stay() {
        for text in ["{}", r#"{"metadata":{},"spec":{"versions":[]}}"#, r#"{"metadata":{"name":"a"}}"#] {
            assert_eq!(outline(text.as_bytes()), text.as_bytes());
        }
    }
}
