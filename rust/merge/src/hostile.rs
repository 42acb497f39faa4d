//! Every function with values of every wrong form: it returns an error or a result and never panics.

use hydrofoil_types::{Map, Value};

use crate::testing::{CATALOG, json, schema};
use crate::{FieldSet, ManagedRequest, OneVersion, apply, json_merge, json_patch, set_of, strategic, track_update};

const FORMS: &[&str] = &[
    "null",
    "5",
    "1.5",
    r#""x""#,
    "[]",
    "[null]",
    "[[1]]",
    "[{}]",
    "{}",
    r#"[{"name":null},{"name":{}},{"name":[1]},{"name":1},{"name":"a"},{"name":"a"}]"#,
    r#"[{"name":"a","$patch":"delete"},{"name":"a","$patch":5},{"$patch":"replace"}]"#,
    r#"{"$patch":"delete"}"#,
    r#"{"$retainKeys":[1,null]}"#,
    r#"{"name":"a","a":{"b":[{"c":null}]}}"#,
    r#"[1,1.0,"1",true,true]"#,
    r#"[{"manager":"m","operation":"Apply","apiVersion":"v1","fieldsType":"FieldsV1","fieldsV1":{"f:spec":{"f:containers":{"k:{\"name\":\"a\"}":{".":{},"f:name":{}},"v:1":{},"i:0":{}}},"f:metadata":{"f:x":{}}}}]"#,
];

const PLACES: &[&str] = &[
    "spec",
    "metadata",
    "spec.containers",
    "spec.$setElementOrder/containers",
    "metadata.finalizers",
    "metadata.$deleteFromPrimitiveList/finalizers",
    "metadata.managedFields",
    "metadata.labels",
    "spec.nodeSelector",
    "spec.overhead",
];

fn objects() -> Vec<Value> {
    let mut out: Vec<Value> = FORMS.iter().map(|form| json(form)).collect();
    for place in PLACES {
        for form in FORMS {
            let wrapped = place.rsplit('.').fold((*form).to_owned(), |inner, key| format!(r#"{{"{key}":{inner}}}"#));
            let mut object = json(&wrapped);
            if let Some(map) = object.as_object_mut() {
                map.set("apiVersion", "v1");
            }
            out.push(object);
        }
    }
    out
}

#[test]
fn nothing_panics() {
    let pod = schema("core.v1.Pod");
    let objects = objects();
    let req = ManagedRequest {
        manager: "m",
        api_version: "v1",
        subresource: "",
        now: "2001-01-01T00:00:01Z",
        versions: &OneVersion,
    };
    for old in &objects {
        let set = set_of(&pod, old);
        assert_eq!(FieldSet::from_value(&set.to_value()).as_ref(), Some(&set), "{old:?}");
        for new in &objects {
            let _ = strategic(&pod, &mut old.clone(), new.clone());
            let _ = json_patch(&mut old.clone(), new);
            json_merge(&mut old.clone(), new.clone());
            let mut tracked = new.clone();
            track_update(&pod, Some(old), &mut tracked, &req, &[&["status"]]).expect("no conversion");
            for force in [false, true] {
                if let Ok(first) = apply(&pod, Some(old), new, &req, force, &FieldSet::new()) {
                    let _ = apply(&pod, Some(&first.object), old, &req, force, &FieldSet::new());
                }
            }
        }
    }
}

/// The decoder rejects deeper nesting. Unoptimized frames need more than the 2 MiB of a test thread.
#[test]
fn a_thousand_levels_fit_the_stack() {
    let thread = std::thread::Builder::new().stack_size(8 << 20).spawn(thousand_levels);
    thread.expect("a thread").join().expect("no panic");
}

fn thousand_levels() {
    let nested = |key: &str, last: &str| {
        (0..990).fold(json(last), |inner, _| {
            let mut map = Map::new();
            map.push(key, inner);
            Value::Object(map)
        })
    };
    let crd = CATALOG.schema("io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaProps");
    let crd = crd.expect("the type is built in");
    let req = ManagedRequest {
        manager: "m",
        api_version: "",
        subresource: "",
        now: "2001-01-01T00:00:01Z",
        versions: &OneVersion,
    };
    for key in ["not", "a"] {
        let (old, mut new) = (nested(key, r#"{"title":"a"}"#), nested(key, r#"{"title":"b"}"#));
        let _ = strategic(&crd, &mut old.clone(), new.clone());
        let mut test = json(r#"[{"op":"test","path":""}]"#);
        if let Some(Value::Object(test)) = test.as_array_mut().and_then(|ops| ops.first_mut()) {
            test.set("value", new.clone());
        }
        assert!(json_patch(&mut old.clone(), &test).is_err());
        json_merge(&mut old.clone(), new.clone());
        let _ = apply(&crd, Some(&old), &new, &req, true, &FieldSet::new());
        track_update(&crd, Some(&old), &mut new, &req, &[]).expect("no conversion");
        assert_eq!(set_of(&crd, &new).is_empty(), key == "a");
    }
}
