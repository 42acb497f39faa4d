//! JSON patches and merge patches against published examples (`cases/json_patch.yaml`, `cases/json_merge.yaml`).

mod common;

use common::{cases, part, shown};
use hydrofoil_merge::{json_merge, json_patch};

#[test]
fn json_patches() {
    for case in cases("json_patch.yaml") {
        let mut doc = part(&case, "doc");
        let outcome = json_patch(&mut doc, &part(&case, "patch"));
        let name = part(&case, "name");
        match case.get("want") {
            Some(want) => assert_eq!((outcome, shown(&doc)), (Ok(()), shown(want)), "{name:?}"),
            None => assert!(outcome.is_err(), "{name:?} makes {}", shown(&doc)),
        }
    }
}

#[test]
fn merge_patches() {
    for case in cases("json_merge.yaml") {
        let mut doc = part(&case, "doc");
        json_merge(&mut doc, part(&case, "patch"));
        assert_eq!(shown(&doc), shown(&part(&case, "want")), "{}", shown(&case));
    }
}
