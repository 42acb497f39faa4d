//! Strategic merge patches against the behaviours of upstream's table (`cases/strategic.yaml`).

mod common;

use common::{cases, part, schema, shown};
use hydrofoil_merge::strategic;
use hydrofoil_types::{Map, Value};

fn within(name: &str, value: Value) -> Value {
    let mut out = Map::new();
    out.push(name, value);
    Value::Object(out)
}

#[test]
fn strategic_patches() {
    let pod = schema("core.v1.Pod");
    for case in cases("strategic.yaml") {
        let (name, place) = (part(&case, "name"), part(&case, "of"));
        let place = place.as_str().unwrap_or("spec");
        let mut doc = within(place, part(&case, "doc"));
        let outcome = strategic(&pod, &mut doc, within(place, part(&case, "patch")));
        match case.get("want") {
            Some(want) => {
                let want = shown(&within(place, want.clone()));
                assert_eq!((outcome, shown(&doc)), (Ok(()), want), "{name:?}");
            }
            None => assert!(outcome.is_err(), "{name:?} makes {}", shown(&doc)),
        }
    }
}
