//! Find members in JSON that this server wrote, without parsing it: compact, and known to be well-formed.

#![allow(clippy::arithmetic_side_effects, reason = "places in a body and depths are bounded by its bytes")]
#![allow(clippy::indexing_slicing, reason = "the cursor never passes the end of the body")]

/// Return the text after the colon of a member of the object at the start of `text`; `name` includes its quotes.
pub fn member<'a>(text: &'a [u8], name: &[u8]) -> Option<&'a [u8]> {
    let (mut depth, mut at) = (0usize, 0);
    while let Some(byte) = text.get(at) {
        match byte {
            b'"' => {
                let end = at + string_end(&text[at..])?;
                if depth == 1 && text[at..end] == *name && text.get(end) == Some(&b':') {
                    return text.get(end + 1..);
                }
                at = end;
                continue;
            }
            b'{' | b'[' => depth += 1,
            b'}' | b']' => {
                depth = depth.checked_sub(1).filter(|depth| *depth > 0)?;
            }
            _ => {}
        }
        at += 1;
    }
    None
}

/// Return the members of the object in `text`: their names in quotes, and their values.
pub fn members(text: &[u8]) -> impl Iterator<Item = (&[u8], &[u8])> {
    let mut rest = text.get(1..).unwrap_or_default();
    std::iter::from_fn(move || {
        let name = rest.get(..string_end(rest)?)?;
        let value = rest.get(name.len() + 1..)?;
        let end = value_end(value)?;
        rest = value.get(end + 1..).unwrap_or_default();
        Some((name, &value[..end]))
    })
}

/// Return the end of the string at the start of `text`.
fn string_end(text: &[u8]) -> Option<usize> {
    if text.first() != Some(&b'"') {
        return None;
    }
    let mut at = 1;
    while *text.get(at)? != b'"' {
        at += if text[at] == b'\\' { 2 } else { 1 };
    }
    Some(at + 1)
}

/// Return the end of the value at the start of `text`.
pub fn value_end(text: &[u8]) -> Option<usize> {
    match text.first()? {
        b'{' | b'[' => {}
        b'"' => return string_end(text),
        _ => return text.iter().position(|byte| matches!(byte, b',' | b'}' | b']')),
    }
    let mut depth = 0usize;
    let mut at = 0;
    while let Some(byte) = text.get(at) {
        match byte {
            b'"' => {
                at += string_end(&text[at..])?;
                continue;
            }
            b'{' | b'[' => depth += 1,
            b'}' | b']' => {
                depth -= 1;
                if depth == 0 {
                    return Some(at + 1);
                }
            }
            _ => {}
        }
        at += 1;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::{member, members, value_end};

    const TEXT: &[u8] = br#"{"a":"x\"}","b":{"a":[1,{"c":"]"}]},"c":-1.5,"d":[],"e":null}"#;

    #[test]
    fn members_are_cut_out() {
        let found: Vec<_> =
            members(TEXT).map(|(name, value)| [name, value].map(|b| str::from_utf8(b).expect("text"))).collect();
        let expected = [
            [r#""a""#, r#""x\"}""#],
            [r#""b""#, r#"{"a":[1,{"c":"]"}]}"#],
            [r#""c""#, "-1.5"],
            [r#""d""#, "[]"],
            [r#""e""#, "null"],
        ];
        assert_eq!(found, expected);
        assert_eq!(members(b"{}").count(), 0);
        assert_eq!(members(b"").count(), 0);
    }

    #[test]
    fn one_member_is_found_at_its_level() {
        let found = member(TEXT, br#""c""#).expect("it is there");
        assert_eq!(&found[..value_end(found).expect("it ends")], b"-1.5");
        assert_eq!(member(TEXT, br#""f""#), None);
        let followed = br#"{"a":{}},"b":{"c":1}}"#;
        assert_eq!(member(followed, br#""c""#), None, "its object has ended");
    }
}
