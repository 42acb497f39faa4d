//! Pages compared with a filtered map.

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::*;
use crate::view::testing::{selector, version};
use crate::{EventType, Tree};

/// Objects by key: label and field.
type Model = BTreeMap<String, (&'static str, &'static str)>;

const SELECTIONS: [(&str, &str, &str); 9] = [
    ("", "", ""),
    ("a", "", ""),
    ("b", "app=x", ""),
    ("", "app!=x", ""),
    ("", "", "phase=up"),
    ("b", "", "phase!=up"),
    ("a", "", "metadata.name=m010"),
    ("", "app in (x,y)", "phase=down"),
    ("a", "app in (x,y),app!=y", ""),
];

fn model() -> impl Strategy<Value = Model> {
    let key = (prop::sample::select(vec!["a", "b", "b0", "c"]), 0..400_u16).prop_map(|(ns, n)| format!("{ns}/m{n:03}"));
    let state = (prop::sample::select(vec!["", "x", "y"]), prop::sample::select(vec!["", "up", "down"]));
    prop::collection::btree_map(key, state, 0..500)
}

fn snapshot(model: &Model) -> Snapshot {
    let mut tree = Tree::default();
    for (key, state) in model {
        drop(tree.insert(version(key, 1, *state)));
    }
    Snapshot { tree, revision: 1 }
}

fn page(model: &Model, selection: usize, start: &str, limit: usize) -> Page {
    let (namespace, labels, fields) = SELECTIONS[selection];
    Page::new(snapshot(model), selector(namespace, labels, fields), start, limit)
}

/// Return the keys of a selection in order.
fn expected_keys(model: &Model, selection: usize) -> Vec<String> {
    let (namespace, labels, fields) = SELECTIONS[selection];
    let selector = selector(namespace, labels, fields);
    model
        .iter()
        .filter(|(key, state)| selector.matches(&version(key, 1, **state)))
        .map(|(key, _)| key.clone())
        .collect()
}

/// The way to take a page: as single versions, as parts, or as far as little searches find.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Way {
    Single,
    Parts,
    Near,
}

fn way() -> impl Strategy<Value = Way> {
    prop::sample::select(vec![Way::Single, Way::Parts, Way::Near])
}

/// Take the rest of a page in steps of the given sizes.
fn take_rest(page: &mut Page, steps: &[usize], way: Way) -> Vec<String> {
    let mut out = Vec::new();
    let mut steps = steps.iter().cycle();
    while !page.is_done() && !page.is_full() {
        let most = *steps.next().expect("a step");
        if way == Way::Parts {
            let Some(part) = page.part(most) else { break };
            assert!(part.len() <= most && part.len() > 0);
            assert_eq!(part.versions().count(), part.len());
            out.extend(part.versions().map(|version| version.key().to_string()));
            continue;
        }
        let mut count = 0;
        let take = |version: &Arc<Version>| {
            out.push(version.key().to_string());
            count += 1;
            count < most
        };
        if way == Way::Single {
            page.take(take);
            continue;
        }
        let mut looked = most;
        if page.look(&mut looked) {
            let found = page.run.is_some();
            page.take_found(take);
            assert!(count > 0 || !found);
        } else {
            assert_eq!(looked, 0, "it gave up early");
        }
    }
    out
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn a_page_gives_each_selected_object_once_and_in_order(
        model in model(),
        selection in 0..SELECTIONS.len(),
        steps in prop::collection::vec(1..300_usize, 1..5),
        way in way(),
    ) {
        let mut page = page(&model, selection, "", 0);
        prop_assert_eq!(take_rest(&mut page, &steps, way), expected_keys(&model, selection));
        prop_assert_eq!(page.rest(), None);
    }

    /// Values whose hashes collide are not taken for each other.
    #[test]
    fn a_hash_of_a_few_bits_selects_the_same(
        model in model(),
        selection in 0..SELECTIONS.len(),
        bits in 0..4_u32,
    ) {
        crate::view::column::BITS.set(bits);
        let found = take_rest(&mut page(&model, selection, "", 0), &[usize::MAX], Way::Single);
        crate::view::column::BITS.set(u32::MAX);
        prop_assert_eq!(found, expected_keys(&model, selection));
    }

    #[test]
    fn pages_follow_each_other(
        model in model(),
        selection in 0..SELECTIONS.len(),
        limit in 1..120_usize,
        way in way(),
    ) {
        let (expected, prefix) = (expected_keys(&model, selection), SELECTIONS[selection].0);
        let (mut start, mut out) = (String::new(), Vec::new());
        loop {
            let mut page = page(&model, selection, &start, limit);
            let got = take_rest(&mut page, &[7], way);
            prop_assert!(got.len() <= limit);
            out.extend(got);
            let Some((last, remaining)) = page.rest() else { break };
            prop_assert!(page.is_full());
            prop_assert_eq!(out.last().map(String::as_str), Some(&*if prefix.is_empty() { last.to_owned() } else { format!("{prefix}/{last}") }));
            prop_assert_eq!(remaining, page.selector().is_plain().then(|| expected.len() - out.len()));
            start = format!("{last}\0");
        }
        prop_assert_eq!(out, expected);
    }

    /// The parts that another list of the same selection can reuse.
    #[test]
    fn a_complete_part_is_all_that_is_selected_of_its_leaf(
        model in model(),
        selection in 0..SELECTIONS.len(),
        start in prop::option::of(0..400_u16),
        max in 1..200_usize,
    ) {
        let name = start.map(|n| format!("m{n:03}")).unwrap_or_default();
        let start = if start.is_some() && SELECTIONS[selection].0.is_empty() { format!("b/{name}") } else { name };
        let mut page = page(&model, selection, &start, 0);
        let selector = page.selector().clone();
        while let Some(part) = page.part(max) {
            let all = part.leaf().versions().iter().filter(|version| selector.matches(version)).count();
            prop_assert_eq!(part.is_complete() && part.len() != all, false);
            prop_assert_eq!(part.is_whole(), part.len() == part.leaf().versions().len());
        }
    }
}

#[test]
fn a_list_of_one_name_does_not_walk() {
    let model: Model =
        [("a/m009", ""), ("a/m010", "x"), ("b/m010", "")].map(|(k, app)| (k.to_owned(), (app, ""))).into();
    let mut named = page(&model, 6, "", 0);
    assert_eq!((named.next, named.end, named.following()), (0, 0, 1));
    assert_eq!(take_rest(&mut named, &[9], Way::Single), ["a/m010"]);
    assert!(page(&model, 6, "m011", 0).is_done(), "it stands before the start");
    assert!(page(&Model::new(), 6, "", 0).is_done());
}

#[test]
fn a_wider_page_gives_more() {
    let model: Model = (0..9).map(|n| (format!("a/m{n}"), ("", ""))).collect();
    let mut page = page(&model, 0, "", 2);
    page.widen(5);
    assert_eq!(take_rest(&mut page, &[9], Way::Parts).len(), 5);
}

#[test]
fn event_types_have_their_names() {
    let names = [EventType::Added, EventType::Modified, EventType::Deleted].map(EventType::wire);
    assert_eq!(names, ["ADDED", "MODIFIED", "DELETED"]);
}
