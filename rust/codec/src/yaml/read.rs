//! Decode YAML to a value (sigs.k8s.io/yaml: the first document, converted to JSON).

#![allow(clippy::arithmetic_side_effects, reason = "places in a body and depths are bounded by its bytes")]
#![allow(clippy::indexing_slicing, reason = "the cursor never passes the end of the body")]
#![allow(clippy::string_slice, reason = "it is cut at characters of ASCII that were found there")]

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use hydrofoil_types::{Map, SmolStr, Value};
use rustc_hash::{FxHashMap, FxHashSet};
use saphyr_parser::{Event, Parser, ScalarStyle, Span, StrInput};

use super::fault::fault;
use super::plain::word;
use crate::{DecodeError, Decoded, json};

const MAX_DEPTH: usize = 200;
/// The limit on nodes with aliases expanded, against a "billion laughs".
const MAX_NODES: usize = 1_000_000;

/// Decode the first document.
pub fn parse(text: &[u8]) -> Result<Decoded, DecodeError> {
    let text =
        std::str::from_utf8(text).map_err(|_| DecodeError::Syntax("yaml: invalid leading UTF-8 octet".to_owned()))?;
    if let Some(decoded) = as_json(text) {
        return Ok(decoded);
    }
    let mut reader = Reader {
        parser: Parser::new_from_str(text),
        named: named(text),
        anchors: FxHashMap::default(),
        anchored: 0,
        strict: Vec::new(),
        nodes: 0,
    };
    loop {
        let (event, span) = reader.event()?;
        match event {
            Event::StreamEnd => return Ok(Decoded { value: Value::Null, strict: reader.strict }),
            Event::StreamStart | Event::DocumentStart(_) | Event::DocumentEnd | Event::Nothing => {}
            event => {
                let value = reader.node(event, span, 0)?;
                return Ok(Decoded { value, strict: reader.strict });
            }
        }
    }
}

/// Return the line of the first error in the order of tokens, counted from one; errors of requests show upstream's line.
pub fn fault_line(text: &[u8]) -> Option<usize> {
    let text = std::str::from_utf8(text).ok()?;
    Parser::new_from_str(text).find_map(Result::err).map(|error| error.marker().line())
}

/// Decode a document that is JSON and means the same in YAML: most bodies of server-side apply. It is ten times as
/// fast.
fn as_json(text: &str) -> Option<Decoded> {
    let line = text.trim_end_matches('\n');
    let plain = line.starts_with('{') && line.bytes().all(|byte| matches!(byte, b' '..=b'~'));
    // YAML does not combine surrogate pairs.
    if !plain || memchr::memmem::find(line.as_bytes(), b"\\u").is_some() {
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

/// Return the anchors that aliases refer to, up to the first error: other nodes need not be kept.
fn named(text: &str) -> FxHashSet<usize> {
    let mut named = FxHashSet::default();
    if !(text.contains('*') && text.contains('&')) {
        return named;
    }
    let mut parser = Parser::new_from_str(text);
    while let Some(Ok((event, _))) = parser.next_event() {
        match event {
            Event::Alias(id) => drop(named.insert(id)),
            Event::DocumentEnd => break,
            _ => {}
        }
    }
    named
}

struct Reader<'a> {
    parser: Parser<'a, StrInput<'a>>,
    /// The anchors that aliases refer to.
    named: FxHashSet<usize>,
    anchors: FxHashMap<usize, (Value, usize)>,
    /// The number of nodes below these anchors: at least as many are repeated.
    anchored: usize,
    strict: Vec<String>,
    nodes: usize,
}

fn syntax(line: usize, what: &str) -> DecodeError {
    DecodeError::Syntax(format!("error converting YAML to JSON: yaml: line {line}: {what}"))
}

impl<'a> Reader<'a> {
    fn event(&mut self) -> Result<(Event<'a>, Span), DecodeError> {
        match self.parser.next_event() {
            Some(Ok(pair)) => Ok(pair),
            Some(Err(e)) => Err(fault(e.marker().line(), e.info())),
            None => Err(syntax(0, "unexpected end")),
        }
    }

    fn node(&mut self, event: Event<'a>, span: Span, depth: usize) -> Result<Value, DecodeError> {
        let line = span.start.line();
        if depth > MAX_DEPTH {
            return Err(syntax(line, "exceeded max depth"));
        }
        let from = self.nodes;
        self.nodes += 1;
        let (anchor, value) = match event {
            Event::Scalar(text, style, anchor, tag) => {
                let texted = tag.is_some_and(|t| t.suffix == "str") || style != ScalarStyle::Plain;
                (anchor, if texted { Value::from(text.as_ref()) } else { plain(&text) })
            }
            Event::SequenceStart(anchor, _) => {
                let mut items = Vec::new();
                loop {
                    match self.event()? {
                        (Event::SequenceEnd, _) => break,
                        (event, span) => items.push(self.node(event, span, depth + 1)?),
                    }
                }
                (anchor, Value::Array(items))
            }
            Event::MappingStart(anchor, _) => (anchor, self.mapping(depth)?),
            Event::Alias(id) => {
                let Some((value, size)) = self.anchors.get(&id).cloned() else {
                    return Err(syntax(line, "unknown anchor"));
                };
                self.nodes += size;
                if self.nodes > MAX_NODES {
                    return Err(syntax(line, "document contains excessive aliasing"));
                }
                return Ok(value);
            }
            _ => return Err(syntax(line, "did not find expected node content")),
        };
        if self.named.contains(&anchor) {
            let size = self.nodes - from;
            self.anchored += size;
            if self.anchored > MAX_NODES {
                return Err(syntax(line, "document contains excessive aliasing"));
            }
            self.anchors.insert(anchor, (value.clone(), size));
        }
        Ok(value)
    }

    fn mapping(&mut self, depth: usize) -> Result<Value, DecodeError> {
        let mut members: Vec<(SmolStr, Value)> = Vec::new();
        let mut merged: Vec<Value> = Vec::new();
        let mut seen: HashMap<SmolStr, usize> = HashMap::new();
        loop {
            let (event, span) = self.event()?;
            if event == Event::MappingEnd {
                break;
            }
            let line = span.start.line();
            let merge = matches!(&event, Event::Scalar(t, ScalarStyle::Plain, _, _) if t == "<<");
            let key = match self.node(event, span, depth + 1)? {
                Value::Str(s) => s,
                Value::Bool(b) => SmolStr::new(if b { "true" } else { "false" }),
                Value::Int(n) => n.to_string().into(),
                Value::Float(f) => f.to_string().into(),
                _ => return Err(syntax(line, "invalid map key")),
            };
            let (event, span) = self.event()?;
            let value = self.node(event, span, depth + 1)?;
            if merge {
                merged.push(value);
                continue;
            }
            match seen.entry(key) {
                Entry::Vacant(free) => {
                    members.push((free.key().clone(), value));
                    free.insert(members.len() - 1);
                }
                Entry::Occupied(found) => {
                    self.strict.push(format!("line {line}: key {:?} already set in map", found.key()));
                    members[*found.get()].1 = value;
                }
            }
        }
        for source in merged {
            let sources = if let Value::Array(a) = source { a } else { vec![source] };
            for map in sources.into_iter().filter_map(|s| if let Value::Object(m) = s { Some(m) } else { None }) {
                members.extend(map.into_iter().filter(|(k, _)| seen.insert(k.clone(), 0).is_none()));
            }
        }
        Ok(Value::Object(Map::from_unique(members)))
    }
}

/// Return the value of a plain scalar by the rules of YAML 1.1.
fn plain(text: &str) -> Value {
    word(text).or_else(|| number(text)).unwrap_or_else(|| Value::from(text))
}

fn number(text: &str) -> Option<Value> {
    if !text.starts_with(|c: char| c.is_ascii_digit() || matches!(c, '+' | '-' | '.')) {
        return None;
    }
    let clean = text.replace('_', "");
    let (sign, digits) = match clean.as_bytes()[0] {
        b'-' => (-1, &clean[1..]),
        b'+' => (1, &clean[1..]),
        _ => (1, &clean[..]),
    };
    // A number has only one sign.
    let radix = |digits: &str, radix| {
        let n = if digits.starts_with(['+', '-']) { None } else { i64::from_str_radix(digits, radix).ok() };
        n.and_then(|n| n.checked_mul(sign)).map(Value::Int)
    };
    if let Some(hex) = digits.strip_prefix("0x") {
        return radix(hex, 16);
    }
    if let Some(binary) = digits.strip_prefix("0b") {
        return radix(binary, 2);
    }
    if let Some(octal) = digits.strip_prefix("0o") {
        return radix(octal, 8);
    }
    if digits.len() > 1
        && digits.starts_with('0')
        && digits.bytes().all(|b| b.is_ascii_digit())
        && let Some(value) = radix(&digits[1..], 8)
    {
        return Some(value);
    }
    if !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit()) {
        return clean
            .trim_start_matches('+')
            .parse()
            .ok()
            .map(Value::Int)
            .or_else(|| clean.parse().ok().map(Value::Float));
    }
    let float = digits.starts_with(|c: char| c.is_ascii_digit() || c == '.')
        && digits.bytes().any(|b| b.is_ascii_digit())
        && digits.bytes().all(|b| b.is_ascii_digit() || matches!(b, b'.' | b'e' | b'E' | b'+' | b'-'));
    float.then(|| clean.parse().ok().map(Value::Float)).flatten()
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
        let text = r#"{"a":"x\n\"\\\/","b":[1,-2,true,null,{"c":{}}],"d":"no","e":[],"f f":"1.0","yes":""}"#;
        let fast = super::as_json(text).expect("it is plain JSON").value;
        assert_eq!(fast, read(&format!("--- {text}")));
        for other in [
            "{a: 1}",
            r#"{"a":1e3}"#,
            r#"{"a":"\ud83d\ude00"}"#,
            r#"{"<<":{}}"#,
            "[1]",
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
