//! Properties of any patch and of any turns of appliers: a patch made from two documents converts one to the other, and
//! a manager owns the fields that it set and no other one took.

mod common;

use std::collections::BTreeSet;

use common::{schema, shown};
use hydrofoil_codec::json;
use hydrofoil_merge::{
    ApplyError, FieldSet, ManagedRequest, OneVersion, PathElement, apply, json_merge, json_patch, strategic,
};
use hydrofoil_types::{Map, Value};
use proptest::collection::vec;
use proptest::prelude::*;

fn object(members: impl IntoIterator<Item = (String, Value)>) -> Value {
    let mut out = Map::new();
    for (name, value) in members {
        out.set(name, value);
    }
    Value::Object(out)
}

/// Generate documents without null, which a merge patch cannot set.
fn document() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        any::<bool>().prop_map(Value::Bool),
        (0i64..4).prop_map(Value::Int),
        "[xy/~]{0,2}".prop_map(Value::from)
    ];
    let inner = leaf.prop_recursive(3, 24, 4, |inner| {
        prop_oneof![vec(inner.clone(), 0..3).prop_map(Value::Array), vec(("[ab/~]{1,2}", inner), 0..4).prop_map(object)]
    });
    vec(("[a-c]", inner), 0..4).prop_map(object)
}

fn merge_diff(a: &Map, b: &Map) -> Value {
    let gone = a.keys().filter(|key| !b.contains_key(key)).map(|key| (key.to_string(), Value::Null));
    let set = b.iter().filter(|(key, value)| a.get(key) != Some(value)).map(|(key, value)| {
        let inner = match (a.get(key), value) {
            (Some(Value::Object(a)), Value::Object(b)) => merge_diff(a, b),
            _ => value.clone(),
        };
        (key.to_string(), inner)
    });
    object(gone.chain(set))
}

fn json_diff(path: &str, a: &Map, b: &Map, out: &mut Vec<Value>) {
    let below = |key: &str| format!("{path}/{}", key.replace('~', "~0").replace('/', "~1"));
    let operation = |op: &str, path: String, value: Option<&Value>| {
        let mut members = vec![("op".to_owned(), Value::from(op)), ("path".to_owned(), Value::from(path.as_str()))];
        members.extend(value.map(|value| ("value".to_owned(), value.clone())));
        object(members)
    };
    out.extend(a.keys().filter(|key| !b.contains_key(key)).map(|key| operation("remove", below(key), None)));
    for (key, value) in b {
        match (a.get(key), value) {
            (Some(old), _) if old == value => out.push(operation("test", below(key), Some(value))),
            (Some(Value::Object(a)), Value::Object(b)) => json_diff(&below(key), a, b, out),
            (Some(_), _) => out.push(operation("replace", below(key), Some(value))),
            (None, _) => out.push(operation("add", below(key), Some(value))),
        }
    }
}

/// Return a config map with these keys and values as data and as labels.
fn map(data: &[(String, u8)]) -> Value {
    let texts = object(data.iter().map(|(key, value)| (key.clone(), Value::from(value.to_string().as_str()))));
    let mut metadata = object([("name".to_owned(), Value::from("n"))]);
    if !data.is_empty() {
        metadata.object_at_mut(&[]).set("labels", texts.clone());
    }
    let top = [("apiVersion", Value::from("v1")), ("kind", Value::from("ConfigMap")), ("metadata", metadata)];
    let top = top.into_iter().chain((!data.is_empty()).then_some(("data", texts)));
    object(top.map(|(name, value)| (name.to_owned(), value)))
}

fn applied(live: Option<&Value>, config: &Value, manager: &str, force: bool) -> Result<Value, ApplyError> {
    let req = ManagedRequest { manager, api_version: "v1", subresource: "", now: "", versions: &OneVersion };
    let schema = schema("core.v1.ConfigMap");
    let out = apply(&schema, live, config, &req, force, &FieldSet::new())?;
    Ok(json::decode(&schema, &json::encode_any(&out.object)).expect("the outcome is a config map").value)
}

fn without_owners(object: &Value) -> String {
    let mut object = object.clone();
    object.object_at_mut(&["metadata"]).remove("managedFields");
    shown(&object)
}

/// Return the keys of data that a manager owns.
fn owned(object: &Value, manager: &str) -> BTreeSet<String> {
    let mut out = BTreeSet::new();
    for entry in object.list_at(&["metadata", "managedFields"]).iter().filter(|e| e.str_at(&["manager"]) == manager) {
        let set = entry.get("fieldsV1").and_then(FieldSet::from_value).expect("a set of fields");
        for path in set.paths() {
            if let [PathElement::Field(data), PathElement::Field(key)] = path.as_slice()
                && *data == "data"
            {
                out.insert(key.to_string());
            }
        }
    }
    out
}

fn keys(data: &[(String, u8)]) -> BTreeSet<String> {
    data.iter().map(|(key, _)| key.clone()).collect()
}

fn data(names: &'static str) -> impl Strategy<Value = Vec<(String, u8)>> {
    vec((names, 0u8..3), 1..5)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn a_merge_patch_leads_there(a in document(), b in document()) {
        let (Value::Object(from), Value::Object(to)) = (&a, &b) else { unreachable!("documents are objects") };
        let mut merged = a.clone();
        json_merge(&mut merged, merge_diff(from, to));
        prop_assert_eq!(shown(&merged), shown(&b));
    }

    #[test]
    fn a_json_patch_leads_there(a in document(), b in document()) {
        let (Value::Object(from), Value::Object(to)) = (&a, &b) else { unreachable!("documents are objects") };
        let mut operations = Vec::new();
        json_diff("", from, to, &mut operations);
        let mut patched = a.clone();
        prop_assert_eq!(json_patch(&mut patched, &Value::Array(operations)), Ok(()));
        prop_assert_eq!(shown(&patched), shown(&b));
    }

    /// Volumes by name: the missing ones are deleted, the others set, in the requested order.
    #[test]
    fn a_strategic_patch_leads_there(a in data("[a-f]"), b in data("[a-f]")) {
        let once = |list: &[(String, u8)]| {
            let mut seen = BTreeSet::new();
            list.iter().filter(|(name, _)| seen.insert(name.clone())).cloned().collect::<Vec<_>>()
        };
        let (a, b) = (once(&a), once(&b));
        let volume = |name: &str, at: &str, value: &str| {
            object([("name".to_owned(), Value::from(name)), (at.to_owned(), Value::from(value))])
        };
        let list = |of: &[(String, u8)]| of.iter().map(|(n, v)| volume(n, "path", &v.to_string())).collect::<Vec<_>>();
        let spec = |members: Vec<(String, Value)>| object([("spec".to_owned(), object(members))]);
        let gone = a.iter().filter(|(n, _)| !keys(&b).contains(n)).map(|(n, _)| volume(n, "$patch", "delete"));
        let items: Vec<_> = list(&b).into_iter().chain(gone).collect();
        let order: Vec<_> = b.iter().map(|(n, _)| object([("name".to_owned(), Value::from(n.as_str()))])).collect();
        let patch = spec(vec![
            ("$setElementOrder/volumes".to_owned(), Value::Array(order)),
            ("volumes".to_owned(), Value::Array(items)),
        ]);
        let mut merged = spec(vec![("volumes".to_owned(), Value::Array(list(&a)))]);
        prop_assert_eq!(strategic(&schema("core.v1.Pod"), &mut merged, patch), Ok(()));
        prop_assert_eq!(shown(&merged), shown(&spec(vec![("volumes".to_owned(), Value::Array(list(&b)))])));
    }

    #[test]
    fn applying_twice_is_applying_once(a in data("[a-c]"), b in data("[b-e]")) {
        let live = applied(None, &map(&a), "one", false).expect("there is nobody else");
        let once = applied(Some(&live), &map(&b), "two", true).expect("by force");
        let twice = applied(Some(&once), &map(&b), "two", false).expect("it is its own");
        prop_assert_eq!(shown(&once), shown(&twice));
    }

    #[test]
    fn apart_the_order_does_not_count(a in data("[a-c]"), b in data("[d-f]")) {
        let run = |first: (&str, &[(String, u8)]), second: (&str, &[(String, u8)])| {
            let live = applied(None, &map(first.1), first.0, false).expect("there is nobody else");
            applied(Some(&live), &map(second.1), second.0, false).expect("they are apart")
        };
        let (ab, ba) = (run(("one", &a), ("two", &b)), run(("two", &b), ("one", &a)));
        prop_assert_eq!(without_owners(&ab), without_owners(&ba));
        for manager in ["one", "two"] {
            prop_assert_eq!(owned(&ab, manager), owned(&ba, manager));
        }
    }

    /// After any turns each manager owns the fields that it set last and no other took; fields without an owner are
    /// removed.
    #[test]
    fn owners_own_what_they_set(turns in vec((0usize..3, data("[a-d]"), any::<bool>()), 1..8)) {
        let names = ["one", "two", "three"];
        let mut live: Option<Value> = None;
        let mut sets = [BTreeSet::new(), BTreeSet::new(), BTreeSet::new()];
        for (who, data, force) in turns {
            let before = live.as_ref().map(|live| live.at(&["data"]).cloned().unwrap_or_else(Value::object));
            let Ok(new) = applied(live.as_ref(), &map(&data), names[who], force) else { continue };
            let value = |of: &Value, key: &str| of.str_at(&["data", key]).to_owned();
            for (other, set) in sets.iter_mut().enumerate().filter(|(other, _)| *other != who) {
                let held = |key: &String| before.as_ref().is_some_and(|b| b.str_at(&[key]) == value(&new, key));
                set.retain(|key: &String| held(key) || !keys(&data).contains(key));
                prop_assert!(force || owned(&new, names[other]) == *set);
            }
            sets[who] = keys(&data);
            for (name, set) in names.iter().zip(&sets) {
                prop_assert_eq!(&owned(&new, name), set);
            }
            let present: BTreeSet<_> =
                new.at(&["data"]).and_then(Value::as_object).into_iter().flat_map(Map::keys).map(ToString::to_string).collect();
            prop_assert_eq!(present, sets.iter().flatten().cloned().collect::<BTreeSet<_>>());
            live = Some(new);
        }
    }

    /// The previous owner can set fields again that were taken by force and given up, and then owns them all.
    #[test]
    fn what_is_given_up_can_be_had_again(a in data("[a-c]"), b in data("[a-c]")) {
        let first = applied(None, &map(&a), "one", false).expect("there is nobody else");
        let taken = applied(Some(&first), &map(&b), "two", true).expect("by force");
        let given = applied(Some(&taken), &map(&[]), "two", false).expect("nothing is set");
        let back = applied(Some(&given), &map(&a), "one", false).expect("nobody holds it");
        prop_assert_eq!(without_owners(&back), without_owners(&first));
        prop_assert_eq!(owned(&back, "one"), owned(&first, "one"));
    }

    /// `kubectl apply` on the client and on the server agree if no other client writes the same fields.
    #[test]
    fn both_sides_agree(a in data("[a-c]"), b in data("[a-c]"), other in data("[x-z]")) {
        let live = applied(None, &map(&a), "one", false).expect("there is nobody else");
        let live = applied(Some(&live), &map(&other), "two", false).expect("they are apart");
        let server = applied(Some(&live), &map(&b), "one", false).expect("they are apart");
        let (Value::Object(from), Value::Object(to)) = (map(&a), map(&b)) else { unreachable!("maps are objects") };
        let mut client = live;
        strategic(&schema("core.v1.ConfigMap"), &mut client, merge_diff(&from, &to)).expect("the patch is plain");
        prop_assert_eq!(without_owners(&client), without_owners(&server));
    }
}
