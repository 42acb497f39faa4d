//! Two field sets as in managed fields, a line each: a round trip does not change them, and their unions and
//! differences are consistent.
#![no_main]

use hydrofoil_merge::FieldSet;
use hydrofoil_types::Value;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let mut lines = text.splitn(2, '\n').map(|line| FieldSet::from_value(&Value::Raw(line.into())));
    let Some(Some(a)) = lines.next() else { return };
    assert_eq!(FieldSet::from_value(&a.to_value()).as_ref(), Some(&a));
    for path in a.paths() {
        assert!(a.has(&path), "{path:?}");
    }
    let Some(Some(b)) = lines.next() else { return };
    let (both, common, rest) = (a.clone().union(&b), a.intersection(&b), a.clone().difference(&b));
    assert_eq!(rest.clone().union(&common), a);
    assert!(rest.intersection(&b).is_empty());
    assert_eq!(both.difference(&b), rest);
    a.recursive_difference(&b);
});
