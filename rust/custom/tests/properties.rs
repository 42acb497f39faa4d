//! Pruning and defaulting of custom resources, for any schema and any object: done twice they change no more, and
//! accepted objects are accepted again.

use hydrofoil_custom::{self as custom, Definition};
use hydrofoil_types::{Causes, Map, Value};
use proptest::collection::vec;
use proptest::prelude::*;

fn object(members: impl IntoIterator<Item = (impl AsRef<str>, Value)>) -> Value {
    let mut out = Map::new();
    for (name, value) in members {
        out.set(name.as_ref(), value);
    }
    Value::Object(out)
}

const NAMES: [&str; 4] = ["a", "b", "c", "metadata"];

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::Bool),
        (-3i64..3).prop_map(Value::Int),
        "[xyz]{0,2}".prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 24, 4, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..3).prop_map(Value::Array),
            vec((prop::sample::select(&NAMES[..]), inner), 0..4).prop_map(object),
        ]
    })
}

/// Return a strategy for scalar schemas, perhaps with a default that fits.
fn scalar() -> impl Strategy<Value = Value> {
    let kinds = prop_oneof![
        Just(("string", Value::from("x"))),
        Just(("integer", Value::Int(1))),
        Just(("boolean", Value::Bool(true))),
    ];
    (kinds, any::<bool>(), any::<bool>()).prop_map(|((kind, default), defaulted, nullable)| {
        let mut members = vec![("type", Value::from(kind)), ("nullable", Value::Bool(nullable))];
        if defaulted {
            members.push(("default", default));
        }
        object(members)
    })
}

fn schema() -> impl Strategy<Value = Value> {
    scalar().prop_recursive(3, 16, 4, |inner| {
        let flags = (any::<bool>(), any::<bool>(), any::<bool>());
        let members = vec((prop::sample::select(&NAMES[..]), inner.clone()), 1..4);
        let list = (inner.clone(), any::<bool>()).prop_map(|(items, set)| {
            let mut members = vec![("type", Value::from("array")), ("items", items)];
            if set {
                members.push(("x-kubernetes-list-type", Value::from("set")));
            }
            object(members)
        });
        let map = inner.prop_map(|values| object([("type", Value::from("object")), ("additionalProperties", values)]));
        let properties = (members, flags).prop_map(|(members, (preserve, embedded, defaulted))| {
            let mut out = vec![("type", Value::from("object")), ("properties", object(members))];
            if preserve {
                out.push(("x-kubernetes-preserve-unknown-fields", Value::Bool(true)));
            }
            if embedded {
                out.push(("x-kubernetes-embedded-resource", Value::Bool(true)));
            }
            if defaulted {
                out.push(("default", object([("a", Value::from("d")), ("z", Value::Int(1))])));
            }
            object(out)
        });
        prop_oneof![list, map, properties]
    })
}

fn definition(spec: Value) -> Definition {
    let root = object([("type", Value::from("object")), ("properties", object([("spec", spec)]))]);
    let schema = object([("openAPIV3Schema", root)]);
    let version = object([("name", Value::from("v1")), ("storage", Value::Bool(true)), ("schema", schema)]);
    let names = object([("plural", Value::from("things")), ("kind", Value::from("Thing"))]);
    let spec = object([("group", Value::from("e.com")), ("versions", Value::Array(vec![version]))]);
    Definition::compile(&object([("spec", spec), ("status", object([("acceptedNames", names)]))]))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, ..ProptestConfig::default() })]

    /// CRD-08, CRD-10: a second pass finds nothing to remove and nothing to fill in.
    #[test]
    fn decoding_twice_changes_no_more(schema in schema(), spec in value()) {
        let of = definition(schema);
        let read = |m: &Value| Ok((m.clone(), Vec::new()));
        let metadata = object([("name", Value::from("n"))]);
        let mut once = object([
            ("apiVersion", Value::from("e.com/v1")),
            ("kind", Value::from("Thing")),
            ("metadata", metadata),
            ("spec", spec),
        ]);
        prop_assume!(custom::decode(&of, &of.versions[0], &mut once, &read).is_ok());
        let mut twice = once.clone();
        let strict = custom::decode(&of, &of.versions[0], &mut twice, &read);
        prop_assert_eq!(strict, Ok(Vec::new()));
        prop_assert_eq!(twice.to_json(), once.to_json());
        let mut causes = Causes::new();
        custom::create(&of, &of.versions[0], &once, None, &mut causes);
        if causes.is_empty() {
            // An accepted object may be written again as it is.
            once.object_at_mut(&["metadata"]).set("resourceVersion", "1");
            custom::update(&of, &of.versions[0], "", &once, &once, None, &mut causes);
            prop_assert!(causes.is_empty(), "{:?}", causes);
        }
    }
}
