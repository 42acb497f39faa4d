//! Lists: pieces of any size joined are the whole list, each object once and in order.

#![allow(missing_docs, reason = "each test says what it proves by its name")]

mod common;

use std::collections::BTreeMap;
use std::io::Read;
use std::sync::Arc;

use flate2::read::GzDecoder;
use hydrofoil_codec::{cbor, proto};
use hydrofoil_engine::read::{Encoding, Form, ListCursor, filter};
use hydrofoil_engine::write::Change;
use hydrofoil_types::Value;
use proptest::prelude::*;

use common::{Bytes, World, config_maps, draft, parse, things};

/// Objects by key, each with the number of its version.
type Model = BTreeMap<String, u32>;

const FORMS: [&str; 7] =
    ["json", "json:bare", "json:metadata:v1", "json:table:v1:Metadata", "cbor", "protobuf", "protobuf:metadata:v1"];

/// Namespace, label selector, field selector.
const SELECTIONS: [(&str, &str, &str); 5] =
    [("", "", ""), ("a", "", ""), ("", "even=yes", ""), ("b", "even!=yes", ""), ("a", "", "metadata.name=m0007")];

fn is_selected(key: &str, n: u32, selection: usize) -> bool {
    let (namespace, even) = (&key[..1], n.is_multiple_of(2));
    match selection {
        0 => true,
        1 => namespace == "a",
        2 => even,
        3 => namespace == "b" && !even,
        _ => key == "a/m0007",
    }
}

/// Write an object; its number is in its label, its data and its size.
fn put(world: &World, model: &mut Model, key: usize, n: u32) {
    let (namespace, name) = (if key.is_multiple_of(3) { "b" } else { "a" }, format!("m{key:04}"));
    let even = if n.is_multiple_of(2) { r#""even":"yes","# } else { "" };
    let text = format!(
        r#"{{"kind":"ConfigMap","apiVersion":"v1","metadata":{{"name":"{name}","namespace":"{namespace}","labels":{{{even}"n":"{n}"}}}},"data":{{"n":"{n}","pad":"{}"}}}}"#,
        "x".repeat(n as usize % 300)
    );
    world.put(namespace, &name, &text);
    model.insert(format!("{namespace}/{name}"), n);
}

fn filled(count: usize) -> (World, Model) {
    let (world, mut model) = (World::new(config_maps(), 10_000), Model::new());
    for key in 0..count {
        put(&world, &mut model, key, key as u32 * 7);
    }
    (world, model)
}

fn list(world: &World, selection: usize, form: &str, page: (usize, u64, &str)) -> ListCursor<Bytes> {
    let (namespace, labels, fields) = SELECTIONS[selection];
    let form = Form::parse(form).expect("a form");
    let (limit, revision, start) = page;
    let filter = world.filter(namespace, labels, fields);
    world.shard.list(&world.kind, &filter, form, limit, revision, start).expect("within reach")
}

/// Return the joined pieces of a list.
fn joined(list: &ListCursor<Bytes>, size: usize) -> Vec<u8> {
    let mut out = Vec::new();
    while let Some(parts) = list.chunk(size, false).expect("stored objects") {
        out.extend(parts.iter().flat_map(|part| part.to_vec()));
    }
    out
}

/// Return the whole body of an answer.
fn body(list: &ListCursor<Bytes>, size: usize, form: &Form) -> Vec<u8> {
    let (length, rest) = list.ahead(false).expect("stored objects").expect("it was searched");
    let token = rest.map(|(key, _)| key).unwrap_or_default();
    let (head, tail): (Vec<u8>, &[u8]) = match form.encoding {
        Encoding::Protobuf => (list.protobuf_head(length, &token, None), &proto::ENVELOPE_TAIL),
        Encoding::Cbor => (list.cbor_head(length, "").expect("a head"), b""),
        Encoding::Json => (list.head(""), b"]}"),
    };
    [&*list.open(&head), &joined(list, size), &list.close(tail)].concat()
}

/// Return the keys of the items of a body, and their numbers if the form includes them.
fn items(body: &[u8], form: &Form) -> Vec<(String, Option<u32>)> {
    let value = match form.encoding {
        Encoding::Cbor => parse(&cbor::to_json(body).expect("CBOR")),
        _ => parse(body),
    };
    let name = if form.is_table() { "rows" } else { "items" };
    let items = value.get(name).and_then(Value::as_array).expect("items");
    items.iter().map(|item| shown(if form.is_table() { item.get("object").expect("a row") } else { item })).collect()
}

fn shown(object: &Value) -> (String, Option<u32>) {
    let text = |path: &[&str]| object.str_at(path).to_owned();
    let key = format!("{}/{}", text(&["metadata", "namespace"]), text(&["metadata", "name"]));
    let number = text(&["metadata", "labels", "n"]).parse().ok();
    (key, number)
}

fn expected(model: &Model, selection: usize) -> Vec<(String, Option<u32>)> {
    let selected = model.iter().filter(|(key, n)| is_selected(key, **n, selection));
    selected.map(|(key, n)| (key.clone(), Some(*n))).collect()
}

fn unpacked(bytes: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    GzDecoder::new(bytes).read_to_end(&mut out).expect("a gzip member with its sum");
    out
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn pieces_of_any_size_are_the_whole_list(
        count in 0..400_usize,
        selection in 0..SELECTIONS.len(),
        form in 0..FORMS.len(),
        size in 1..100_000_usize,
        warm in any::<bool>(),
    ) {
        let (world, model) = filled(count);
        let text = FORMS[form];
        let form = Form::parse(text).expect("a form");
        let begin = || list(&world, selection, text, (0, 0, ""));
        if warm {
            // Cached pieces of other lists are reused.
            joined(&list(&world, 0, text, (0, 0, "")), 1000);
        }
        let whole = body(&begin(), usize::MAX, &form);
        prop_assert_eq!(&body(&begin(), size, &form), &whole);
        let packed = begin().with_gzip();
        prop_assert!(packed.is_packed());
        prop_assert_eq!(&unpacked(&body(&packed, size, &form)), &whole);
        prop_assert_eq!(&unpacked(&body(&begin().with_gzip(), size, &form)), &whole, "what was kept");
        if form.encoding != Encoding::Protobuf {
            prop_assert_eq!(items(&whole, &form), expected(&model, selection));
        }
        let stored: Vec<_> = begin().versions(usize::MAX, false).iter().map(|s| s.version().key().to_string()).collect();
        prop_assert_eq!(stored, expected(&model, selection).into_iter().map(|(key, _)| key).collect::<Vec<_>>());
    }

    /// All pages are of the state of the first one, despite later writes.
    #[test]
    fn pages_put_together_are_the_state_of_the_first(
        count in 0..300_usize,
        selection in 0..SELECTIONS.len(),
        limit in 1..90_usize,
        form in 0..5_usize,
        writes in prop::collection::vec((0..320_usize, any::<u16>()), 0..40),
    ) {
        let (world, model) = filled(count);
        let (text, mut later) = (FORMS[form], model.clone());
        let form = Form::parse(text).expect("a form");
        let (mut revision, mut start, mut got) = (0, String::new(), Vec::new());
        let mut writes = writes.chunks(8);
        loop {
            let page = list(&world, selection, text, (limit, revision, &start));
            revision = page.revision();
            let (_, rest) = page.ahead(false).expect("stored objects").expect("it was searched");
            let part = items(&body(&page, 5_000, &form), &form);
            prop_assert!(part.len() <= limit);
            got.extend(part);
            let Some((next, remaining)) = rest else { break };
            if let Some(remaining) = remaining {
                prop_assert_eq!(remaining + got.len(), expected(&model, selection).len());
            }
            start = next;
            for (key, n) in writes.next().into_iter().flatten() {
                put(&world, &mut later, *key, u32::from(*n));
            }
        }
        prop_assert_eq!(got, expected(&model, selection));
        let present = body(&list(&world, 0, text, (0, 0, "")), 1 << 16, &form);
        prop_assert_eq!(items(&present, &form), expected(&later, 0));
    }

    #[test]
    fn lengths_are_known_ahead(count in 0..300_usize, form in 0..FORMS.len(), bound in 0..100_000_usize) {
        let (world, model) = filled(count);
        let list = list(&world, 0, FORMS[form], (0, 0, ""));
        let (ahead, rest) = list.ahead(false).expect("stored objects").expect("it was searched");
        prop_assert_eq!(rest, None);
        let exceeds = list.exceeds(bound, false).expect("stored objects").expect("it was searched");
        let items = joined(&list, 10_000);
        if FORMS[form].starts_with("protobuf") {
            prop_assert_eq!(ahead as usize, items.len());
            prop_assert_eq!(exceeds, items.len() > bound);
        } else {
            prop_assert_eq!(ahead as usize, model.len());
            // Commas may be ignored.
            prop_assert!(exceeds == (items.len() > bound) || items.len().abs_diff(bound) <= 2 * model.len());
        }
    }
}

/// A search for few among many is not done while others wait, whatever is asked.
#[test]
fn far_objects_are_found_on_request_alone() {
    for text in ["json", "cbor", "protobuf"] {
        let (world, mut model) = filled(6_000);
        for key in [1, 5_985, 5_997] {
            put(&world, &mut model, key, 4_000_000_000);
        }
        let begin = || {
            let (filter, form) = (world.filter("", "n=4000000000", ""), Form::parse(text).expect("a form"));
            world.shard.list(&world.kind, &filter, form, 0, 0, "").expect("within reach")
        };
        let list = begin();
        assert!(list.is_near() && !list.is_short(), "only the first one is near");
        assert_eq!(list.ahead(true).expect("stored objects"), None);
        assert_eq!(list.exceeds(1 << 20, true).expect("stored objects"), None);
        assert_eq!(begin().versions(9, true).len(), 1);
        assert!(list.chunk(1 << 20, true).expect("stored objects").is_some());
        assert_eq!(list.item_count(), 1);
        assert!(!list.is_cheap());
        assert!(list.chunk(1 << 20, false).expect("stored objects").is_some(), "a search without limit goes on there");
        assert_eq!(list.item_count(), 3);
        assert!(list.chunk(1 << 20, false).expect("stored objects").is_none());
        // The leaves are known now.
        assert!(begin().is_short());
        assert_eq!(begin().versions(9, true).len(), 3);
        assert!(begin().ahead(true).expect("stored objects").is_some());
        assert_eq!(begin().exceeds(1 << 20, true).expect("stored objects"), Some(false));
    }
}

/// A leaf with a cached encoding is not encoded again, and a write drops the encoding.
#[test]
fn encodings_of_leaves_are_kept() {
    let (world, mut model) = filled(300);
    let begin = || list(&world, 0, "cbor", (0, 0, ""));
    assert!(!begin().is_short() && !begin().is_cheap());
    let first = joined(&begin(), 1);
    assert!(begin().is_short() && begin().is_cheap());
    assert_eq!(joined(&begin(), 1), first);
    put(&world, &mut model, 299, 1);
    assert!(begin().is_cheap(), "the leaf of another object stays");
    assert_ne!(joined(&begin(), 1), first);
}

#[test]
fn stored_json_is_cheap_and_packing_it_is_not() {
    let (world, _) = filled(300);
    let list = list(&world, 0, "json", (0, 0, ""));
    assert!(list.is_cheap() && !list.with_gzip().is_cheap());
}

/// Objects written in another version are returned in the requested one.
#[test]
fn custom_resources_of_two_versions_are_in_one_list() {
    let kinds = things("None");
    let world = World::new(Arc::clone(&kinds[0]), 100);
    for (name, kind) in [("one", 0), ("two", 1), ("three", 0)] {
        let text = format!(
            r#"{{"apiVersion":"e.com/v{}","kind":"Thing","metadata":{{"name":"{name}","namespace":"a"}},"spec":{{"size":1}}}}"#,
            kind + 1
        );
        world.commit(&Change::create(&mut draft(&kinds[kind], &text))).expect("a new object");
    }
    for (kind, api_version) in kinds.iter().zip(["e.com/v1", "e.com/v2"]) {
        let selected = filter(&**kind, "a", "", "spec.color=red").expect("a good selector");
        let form = Form::parse("json").expect("a form");
        let list = world.shard.list(kind, &selected, form.clone(), 0, 0, "").expect("the present");
        let value = parse(&body(&list, 10, &form));
        assert_eq!(value.str_at(&["metadata", "continue"]), "");
        assert!(value.at(&["metadata", "continue"]).is_some(), "as lists of unstructured objects have it");
        let items = value.get("items").and_then(Value::as_array).expect("items");
        let shown: Vec<_> =
            items.iter().map(|i| (i.str_at(&["metadata", "name"]), i.str_at(&["apiVersion"]))).collect();
        assert_eq!(shown, ["one", "three", "two"].map(|name| (name, api_version)));
        assert!(items.iter().all(|item| item.str_at(&["spec", "color"]) == "red"));
    }
}

/// Selections whose texts have one unkeyed 64-bit hash (`FxHash`) with the namespace in front: a list of the one never
/// shows a cached piece of the other.
#[test]
fn selections_of_one_hash_share_no_pieces() {
    const COLLIDING: &str = "metadata.name!=000000000000000000000000000eAR000000000000aaDK^*q+@8;!_?Q3IzuJ";
    let (world, model) = filled(100);
    for text in FORMS {
        for gzip in [false, true] {
            let form = Form::parse(text).expect("a form");
            let list = |namespace: &str, fields: &str| {
                let filter = world.filter(namespace, "", fields);
                let list = world.shard.list(&world.kind, &filter, form.clone(), 0, 0, "").expect("within reach");
                let list = if gzip { list.with_gzip() } else { list };
                let whole = body(&list, 1000, &form);
                if gzip { unpacked(&whole) } else { whole }
            };
            let of_a = list("a", "");
            assert!(of_a == list("a", ""), "the pieces are cached");
            assert!(list("b", COLLIDING) == list("b", ""), "of {text}");
            if form.encoding != Encoding::Protobuf {
                assert_eq!(
                    items(&list("b", COLLIDING), &form).len(),
                    model.keys().filter(|k| k.starts_with('b')).count()
                );
            }
        }
    }
}
