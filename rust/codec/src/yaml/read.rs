//! Decode YAML to a value (sigs.k8s.io/yaml: the first document, converted to JSON).

#![allow(clippy::arithmetic_side_effects, reason = "depths are bounded by the bytes of a body")]

use hydrofoil_types::Value;

use super::decode::{Large, decode};
use super::grammar::{Event, Parser};
use super::node::document;
use super::scan::Scanner;
use super::source::Source;
use crate::{DecodeError, Decoded, json};

/// The depth to which JSON is read as such.
const MAX_DEPTH: usize = 200;

/// Decode the first document.
pub fn parse(text: &[u8]) -> Result<Decoded, DecodeError> {
    if let Some(decoded) = str::from_utf8(text).ok().and_then(as_json) {
        return Ok(decoded);
    }
    read(text, Large::Float)
}

/// Convert the first document to JSON, members by name. Return it with the strict errors.
pub fn to_json(text: &[u8]) -> Result<(Vec<u8>, Vec<String>), DecodeError> {
    let mut decoded = read(text, Large::Digits)?;
    // Upstream converts through maps.
    decoded.value.sort_members();
    Ok((json::encode_any(&decoded.value), decoded.strict))
}

fn read(text: &[u8], large: Large) -> Result<Decoded, DecodeError> {
    let source = Source::of(text);
    let Some(document) = document(Parser::new(Scanner::new(&source)))? else {
        return Ok(Decoded { value: Value::Null, strict: Vec::new() });
    };
    let (value, strict) = decode(&document, large)?;
    Ok(Decoded { value, strict })
}

/// Return the line of the first error in the order of tokens, counted from one; errors of requests show upstream's line.
pub fn fault_line(text: &[u8]) -> Option<usize> {
    let source = Source::of(text);
    let mut parser = Parser::new(Scanner::new(&source));
    loop {
        match parser.next() {
            Ok((Event::StreamEnd, _)) => return None,
            Ok(_) => {}
            Err(fault) => return Some(fault.line()),
        }
    }
}

/// Decode a document that is JSON and means the same in YAML: most bodies of server-side apply. It is ten times as
/// fast.
fn as_json(text: &str) -> Option<Decoded> {
    let line = text.trim_end_matches('\n');
    let plain = line.starts_with('{') && line.bytes().all(|byte| matches!(byte, b' '..=b'~'));
    // YAML does not combine surrogate pairs, and has no escaped slash.
    let escapes = |of: &[u8]| memchr::memmem::find(line.as_bytes(), of).is_some();
    if !plain || escapes(b"\\u") || escapes(b"\\/") {
        return None;
    }
    let decoded = json::parse(line.as_bytes()).ok()?;
    (decoded.strict.is_empty() && reads_alike(&decoded.value, 0)).then_some(decoded)
}

/// Report whether a value reads the same in YAML: no exponents, numbers beyond 64 bits, merge keys, or keys too long to
/// be recognized as such.
fn reads_alike(value: &Value, depth: usize) -> bool {
    depth < MAX_DEPTH
        && match value {
            Value::Float(_) => false,
            Value::Array(items) => items.iter().all(|item| reads_alike(item, depth + 1)),
            Value::Object(map) => {
                map.iter().all(|(key, item)| key != "<<" && key.len() < 512 && reads_alike(item, depth + 1))
            }
            _ => true,
        }
}

#[cfg(test)]
mod tests {
    use hydrofoil_types::Value;

    fn read(text: &str) -> Value {
        super::parse(text.as_bytes()).unwrap().value
    }

    #[test]
    fn reads_scalars_as_yaml_1_1() {
        let v = read("a: yes\nb: \"yes\"\nc: 0x10\nd: 010\ne: 1.5\nf: ~\ng: 1.2.3\nh: 12e03\n");
        assert_eq!(v.bool_at(&["a"]), Some(true));
        assert_eq!(v.str_at(&["b"]), "yes");
        assert_eq!(v.int_at(&["c"]), Some(16));
        assert_eq!(v.int_at(&["d"]), Some(8));
        assert_eq!(v.get("f"), Some(&Value::Null));
        assert_eq!(v.str_at(&["g"]), "1.2.3");
    }

    #[test]
    fn json_reads_as_yaml_does() {
        let text = r#"{"a":"x\n\"\\","b":[1,-2,true,null,{"c":{}}],"d":"no","e":[],"f f":"1.0","yes":""}"#;
        let fast = super::as_json(text).expect("it is plain JSON").value;
        assert_eq!(fast, read(&format!("--- {text}")));
        for other in [
            "{a: 1}",
            r#"{"a":1e3}"#,
            r#"{"a":"\ud83d\ude00"}"#,
            r#"{"<<":{}}"#,
            "[1]",
            r#"{"a":"\/"}"#,
            "{\"a\":\n1}",
            r#"{"a":1,"a":2}"#,
        ] {
            assert!(super::as_json(other).is_none(), "{other}");
        }
    }

    #[test]
    fn bounds_aliases() {
        let mut text = String::from("a0: &a0 [x,x,x,x,x,x,x,x,x,x]\n");
        for i in 1..9 {
            let refs = vec![format!("*a{}", i - 1); 10].join(",");
            text = format!("{text}a{i}: &a{i} [{refs}]\n");
        }
        assert!(super::parse(text.as_bytes()).is_err());
    }

    #[test]
    fn bounds_depth() {
        let refused = "error converting YAML to JSON: yaml: exceeded max depth of 10000";
        for deep in ["[".repeat(100_000), "- ".repeat(9_000), "{a: ".repeat(20_000), "? ".repeat(600)] {
            assert_eq!(super::parse(deep.as_bytes()).unwrap_err().to_string(), refused);
        }
        let nested = format!("{}{}", "[".repeat(450), "]".repeat(450));
        assert!(super::parse(format!("a: {nested}").as_bytes()).is_ok());
    }

    #[test]
    fn aliases_of_long_texts_are_bounded() {
        let text = format!("a: &a {}\nb: [{}]\n", "x".repeat(100_000), "*a,".repeat(900));
        assert!(super::parse(text.as_bytes()).is_err());
    }

    #[test]
    fn odd_numbers_are_texts() {
        for text in ["-0x-8000000000000000", "0x-1", "+0b+1", "0o-7", "-0o-1000000000000000000000"] {
            assert_eq!(read(&format!("a: {text}\n")).str_at(&["a"]), text);
        }
        assert_eq!(read("a: -0x10\n").int_at(&["a"]), Some(-16));
    }

    #[test]
    fn tells_duplicate_keys() {
        let d = super::parse(b"a: 1\na: 2\n").unwrap();
        assert_eq!(d.strict, ["line 2: key \"a\" already set in map"]);
        assert_eq!(d.value.int_at(&["a"]), Some(2));
    }
}
