//! What is content of a version, and what is not.

use std::sync::Arc;

use hydrofoil_types::Fingerprint;

use super::{Draft, Version};

fn draft(data: &str, given: Option<&str>) -> Draft {
    let object = |data: &str| format!(r#"{{"metadata":{{"resourceVersion":""}},"data":{data}}}"#);
    let json = object(data).into_bytes();
    let given = given.map(|given| object(given).into_bytes());
    let rv_at = r#"{"metadata":{"resourceVersion":""#.len();
    Draft {
        json,
        given,
        rv_at,
        head: 0,
        labels: Box::default(),
        fields: Box::default(),
        fingerprint: Fingerprint::BUILTIN,
    }
}

#[test]
fn what_was_given_is_content() {
    let version = Version::new(Arc::from("a"), 7, draft("{}", Some("{ }")), None);
    let given = version.given_text().expect("it is another text");
    assert_eq!(str::from_utf8(&given), Ok(r#"{"metadata":{"resourceVersion":"7"},"data":{ }}"#));
    assert!(version.same_content(&draft("{}", Some("{ }"))));
    assert!(!version.same_content(&draft("{}", Some("{  }"))));
    assert!(!version.same_content(&draft("{}", None)));
    assert!(Version::new(Arc::from("a"), 7, draft("{}", None), None).given_text().is_none());
}

#[test]
fn some_places_may_differ() {
    let version = Version::new(Arc::from("a"), 1234, draft("[1]", None), None);
    let at = draft("[2]", None).json.len() - 3;
    assert!(version.same_but(&draft("[2]", None), |i| i == at));
    assert!(!version.same_but(&draft("[2]", None), |_| false));
    assert!(!version.same_but(&draft("[12]", None), |_| true));
}
