use proptest::prelude::*;

use super::*;

fn mark(place: u8) -> String {
    Mark { place, number: 7, write: 2 }.to_string()
}

fn json(kind: &str, version: u64, spaced: bool) -> Vec<u8> {
    let text = format!(
        r#"{{"type":"{kind}","object":{{"kind":"ConfigMap","metadata":{{"name":"type","resourceVersion":"{version}","annotations":{{"mark":"{}"}}}},"data":{{"mark":"{}"}}}}}}"#,
        mark(CHURN),
        mark(CHURN_DATA)
    );
    let text = if spaced { text.replace("\":", "\" : ").replace(",\"", ", \"") } else { text };
    (text + "\n").into_bytes()
}

fn field(number: u8, content: &[u8]) -> Vec<u8> {
    let mut made = vec![number << 3 | 2];
    let mut size = content.len();
    while size > 127 {
        made.push(size as u8 | 128);
        size >>= 7;
    }
    made.push(size as u8);
    made.extend_from_slice(content);
    made
}

fn protobuf(kind: &str, version: u64) -> Vec<u8> {
    let mut meta = field(1, b"name");
    meta.extend(field(6, version.to_string().as_bytes()));
    meta.extend(field(12, mark(CHURN).as_bytes()));
    let mut object = field(1, &meta);
    object.extend(field(2, mark(CHURN_DATA).as_bytes()));
    let mut envelope = b"k8s\0".to_vec();
    envelope.extend(field(1, b"type"));
    envelope.extend(field(2, &object));
    let mut event = field(1, kind.as_bytes());
    event.extend(field(2, &field(1, &envelope)));
    let mut frame = (event.len() as u32).to_be_bytes().to_vec();
    frame.extend(event);
    frame
}

fn text(content: &str, major: u8) -> Vec<u8> {
    let mut made = if content.len() < 24 {
        vec![major << 5 | content.len() as u8]
    } else {
        vec![major << 5 | 0x18, content.len() as u8]
    };
    made.extend_from_slice(content.as_bytes());
    made
}

fn cbor(kind: &str, version: u64) -> Vec<u8> {
    let mut made = vec![0xd9, 0xd9, 0xf7, 0xa2];
    made.extend(text("type", 2));
    made.extend(text(kind, 2));
    made.extend(text("object", 3));
    made.extend([0xd9, 0xd9, 0xf7, 0xbf]);
    made.extend([text("metadata", 2), vec![0xbf]].concat());
    for (name, value) in [("resourceVersion", version.to_string()), ("mark", mark(CHURN))] {
        made.extend(text(name, 2));
        made.extend(text(&value, 3));
    }
    made.push(0xff);
    made.extend([text("data", 2), text(&mark(CHURN_DATA), 3)].concat());
    made.extend(text("many", 2));
    made.extend([0x82, 0x19, 1, 2, 0xf6, 0xff]);
    made
}

type Make = fn(&str, u64) -> Vec<u8>;

fn events() -> [(Format, Make); 4] {
    [
        (Format::Json, |kind, version| json(kind, version, false)),
        (Format::Json, |kind, version| json(kind, version, true)),
        (Format::Protobuf, protobuf),
        (Format::Cbor, cbor),
    ]
}

#[test]
fn each_encoding_shows_the_same_event() {
    for (format, make) in events() {
        for (name, kind) in [("ADDED", Kind::Added), ("MODIFIED", Kind::Modified), ("DELETED", Kind::Deleted)] {
            let raw = make(name, 41);
            let event = read(format, &raw).unwrap();
            let mark = Mark { place: CHURN, number: 7, write: 2 };
            assert_eq!((event.kind, event.version, event.mark), (kind, 41, Some(mark)), "{format:?}");
            assert!(event.whole(false));
        }
        assert_eq!(read(format, &make("BOOKMARK", 5)).unwrap().mark, None);
        assert!(read(format, &make("ERROR", 5)).is_err());
        assert!(read(format, &make("ADDED", 0)).is_err(), "a version is positive");
    }
}

#[test]
fn a_stream_split_at_any_byte_has_the_same_events() {
    for (format, make) in events() {
        let stream: Vec<u8> = (1..5).flat_map(|version| make("ADDED", version)).collect();
        for at in 0..stream.len() {
            let (mut splitter, mut seen) = (Splitter::new(format), Vec::new());
            for piece in [&stream[..at], &stream[at..]] {
                splitter
                    .feed(piece, |event| {
                        seen.push(event.version);
                        Ok(())
                    })
                    .unwrap();
            }
            assert_eq!(seen, [1, 2, 3, 4], "{format:?} at {at}");
            assert!(splitter.between());
        }
        let mut splitter = Splitter::new(format);
        splitter.feed(&stream[..stream.len() - 1], |_| Ok(())).unwrap();
        assert!(!splitter.between(), "a part of an event is none");
    }
}

#[test]
fn lists_show_where_they_continue() {
    let json = br#"{"resourceVersion" : "5","continue": "abc"}"#;
    let protobuf = [field(2, b"5"), field(3, b"abc")].concat();
    let pairs = [("continue", "abc"), ("resourceVersion", "5")];
    let members = pairs.iter().flat_map(|(name, value)| [text(name, 2), text(value, 3)].concat());
    let cbor: Vec<u8> = std::iter::once(0xa2).chain(members).collect();
    for (format, meta) in [(Format::Json, &json[..]), (Format::Protobuf, &protobuf), (Format::Cbor, &cbor)] {
        for (name, value) in pairs {
            assert_eq!(list_text(format, meta, name).as_deref(), Some(value), "{format:?}");
        }
    }
    assert_eq!(list_text(Format::Json, br#"{"continue":""}"#, "continue"), None);
}

#[test]
fn an_object_shows_the_same_in_each_encoding() {
    let json = br#"{"metadata":{"name":"a","namespace":"n","uid":"u","resourceVersion":"7","labels":{"x":"y","hydrofoil.dev/bench":"r"}},"data":{"mark":"m","text":"t"}}"#;
    let label = |key: &[u8], value: &[u8]| field(11, &[field(1, key), field(2, value)].concat());
    let meta = [
        field(1, b"a"),
        field(3, b"n"),
        field(5, b"u"),
        field(6, b"7"),
        label(b"x", b"y"),
        label(b"hydrofoil.dev/bench", b"r"),
    ];
    let data = |key: &[u8], value: &[u8]| field(2, &[field(1, key), field(2, value)].concat());
    let protobuf = [field(1, &meta.concat()), data(b"mark", b"m"), data(b"text", b"t")].concat();
    let cbor = cbor_of(&serde_json::from_slice(json).unwrap());
    for (format, object) in [(Format::Json, &json[..]), (Format::Protobuf, &protobuf), (Format::Cbor, &cbor)] {
        let facts = Facts::of(format, object);
        assert_eq!((facts.name, facts.namespace, facts.uid), (&b"a"[..], &b"n"[..], &b"u"[..]), "{format:?}");
        assert_eq!((facts.version, facts.run, facts.text), (7, &b"r"[..], Some(&b"t"[..])), "{format:?}");
    }
    assert_eq!(digest(Format::Json, json), digest(Format::Cbor, &cbor), "they are the same object");
    assert_ne!(digest(Format::Json, json).unwrap().0, digest(Format::Json, br#"{"metadata":{"name":"b"}}"#).unwrap().0);
}

/// A value of texts and maps as CBOR.
fn cbor_of(value: &serde_json::Value) -> Vec<u8> {
    match value {
        serde_json::Value::Object(members) => {
            let mut made = vec![0xa0 | members.len() as u8];
            for (name, member) in members {
                made.extend([text(name, 2), cbor_of(member)].concat());
            }
            made
        }
        other => text(other.as_str().unwrap(), 3),
    }
}

proptest! {
    #[test]
    fn no_bytes_break_a_splitter(bytes in prop::collection::vec(any::<u8>(), 0..300), at in 0_usize..300) {
        for format in [Format::Json, Format::Protobuf, Format::Cbor] {
            let at = at.min(bytes.len());
            let mut splitter = Splitter::new(format);
            for piece in [&bytes[..at], &bytes[at..]] {
                if splitter.feed(piece, |_| Ok(())).is_err() {
                    break;
                }
            }
        }
    }
}
