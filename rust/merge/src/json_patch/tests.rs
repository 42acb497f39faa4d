use super::{json_patch, json_patch_unknown};
use crate::PatchError;
use crate::testing::json;

fn patched(doc: &str, patch: &str) -> Result<String, PatchError> {
    let mut target = json(doc);
    json_patch(&mut target, &json(patch))?;
    Ok(crate::testing::text(&target))
}

#[test]
fn every_operation() {
    let cases = [
        (r#"{"a":1}"#, r#"[{"op":"add","path":"/b","value":2}]"#, r#"{"a":1,"b":2}"#),
        (
            r#"{"a":[1]}"#,
            r#"[{"op":"add","path":"/a/-","value":2},{"op":"add","path":"/a/0","value":0}]"#,
            r#"{"a":[0,1,2]}"#,
        ),
        (r#"{"a":[1,2]}"#, r#"[{"op":"remove","path":"/a/0"}]"#, r#"{"a":[2]}"#),
        (
            r#"{"a":[1,2]}"#,
            r#"[{"op":"remove","path":"/a/-1"},{"op":"add","path":"/a/-1","value":9}]"#,
            r#"{"a":[1,9]}"#,
        ),
        (r#"{"a":1}"#, r#"[{"op":"replace","path":"/a","value":2}]"#, r#"{"a":2}"#),
        (r#"{"a":1}"#, r#"[{"op":"replace","path":"/new","value":2}]"#, r#"{"a":1,"new":2}"#),
        (r#"{"a":1}"#, r#"[{"op":"replace","path":"","value":{}}]"#, r"{}"),
        (r#"{"a":1}"#, r#"[{"op":"move","from":"/a","path":"/b"}]"#, r#"{"b":1}"#),
        (r#"{"a":{"x":1}}"#, r#"[{"op":"copy","from":"/a","path":"/b"}]"#, r#"{"a":{"x":1},"b":{"x":1}}"#),
        (r#"{"a":{}}"#, r#"[{"op":"add","path":"/a/x.y~1z~01","value":"s"}]"#, r#"{"a":{"x.y/z~1":"s"}}"#),
        (r#"{"a":1}"#, r#"[{"op":"test","path":"/none","value":null}]"#, r#"{"a":1}"#),
        (r#"{"a":{"b":1,"c":2}}"#, r#"[{"op":"test","path":"/a","value":{"c":2,"b":1}}]"#, r#"{"a":{"b":1,"c":2}}"#),
        (r#"{"a":1}"#, "null", r#"{"a":1}"#),
    ];
    for (doc, patch, expected) in cases {
        assert_eq!(patched(doc, patch).as_deref(), Ok(expected), "{patch}");
    }
}

#[test]
fn failures_are_422() {
    for patch in [
        r#"[{"op":"test","path":"/a","value":[1,2]}]"#,
        r#"[{"op":"test","path":"/a/0","value":2}]"#,
        r#"[{"op":"test","path":"/none","value":2}]"#,
        r#"[{"op":"test","path":"/a"}]"#,
        r#"[{"op":"remove","path":"/none"}]"#,
        r#"[{"op":"remove","path":"/a/7"}]"#,
        r#"[{"op":"remove","path":"/a/9223372036854775808"}]"#,
        r#"[{"op":"remove","path":"/a/-9223372036854775808"}]"#,
        r#"[{"op":"remove","path":"/a/-2"}]"#,
        r#"[{"op":"remove","path":"/a/-"}]"#,
        r#"[{"op":"remove","path":""}]"#,
        r#"[{"op":"add","path":"/a/5","value":1}]"#,
        r#"[{"op":"add","path":"/no/x","value":1}]"#,
        r#"[{"op":"add","path":"/a/0/x","value":1}]"#,
        r#"[{"op":"replace","path":"/a/1","value":1}]"#,
        r#"[{"op":"move","path":"/b"}]"#,
        r#"[{"op":"move","from":"/none","path":"/b"}]"#,
        r#"[{"op":"spin","path":"/a"}]"#,
        r#"[{"path":"/a"}]"#,
        r#"[{"op":"add"}]"#,
        "[null]",
    ] {
        assert!(matches!(patched(r#"{"a":[1]}"#, patch), Err(PatchError::Failed(_))), "{patch}");
    }
}

#[test]
fn malformed_documents_are_400() {
    for patch in [r#"{"op":"add"}"#, "[1]", r#"[{"op":5}]"#, r#"[{"op":"add","path":{}}]"#, "7"] {
        assert!(matches!(patched("{}", patch), Err(PatchError::Malformed(_))), "{patch}");
    }
}

#[test]
fn limits() {
    let one = r#"{"op":"add","path":"/a","value":1}"#;
    let many = format!("[{}]", vec![one; 10_001].join(","));
    assert_eq!(patched("{}", &many), Err(PatchError::TooMany(10_001)));
    let doubling = format!("[{}]", vec![r#"{"op":"copy","from":"/a","path":"/a/-"}"#; 60].join(","));
    assert!(matches!(patched(r#"{"a":["0123456789"]}"#, &doubling), Err(PatchError::Failed(_))));
}

#[test]
fn unknown_members_are_told() {
    let found = json_patch_unknown(&json(r#"[{"op":"add","foo":1},{"Value":2}]"#));
    assert_eq!(found, [r#"json patch unknown field "[0].foo""#, r#"json patch unknown field "[1].Value""#]);
}

/// A long row about one object ends as its operations do one by one.
#[test]
fn rows_are_operations_one_after_the_other() {
    let row: Vec<_> = (0..80).map(|i| format!(r#"{{"op":"add","path":"/a/k~1{i}","value":{i}}}"#)).collect();
    for end in [
        r#"{"op":"remove","path":"/a/k~13"}"#,
        r#"{"op":"remove","path":"/a/none"}"#,
        r#"{"op":"test","path":"/a/k~13","value":3}"#,
        r#"{"op":"test","path":"/a/k~13","value":4}"#,
        r#"{"op":"replace","path":"/a/none"}"#,
        r#"{"op":"replace","path":"/a/","value":[]}"#,
        r#"{"op":"move","from":"/a/k~13","path":"/b"}"#,
    ] {
        let whole = patched(r#"{"a":{"k/3":0}}"#, &format!("[{},{end}]", row.join(",")));
        let mut doc = r#"{"a":{"k/3":0}}"#.to_owned();
        for operation in &row {
            doc = patched(&doc, &format!("[{operation}]")).expect("members are added");
        }
        assert_eq!(whole, patched(&doc, &format!("[{end}]")), "{end}");
    }
}
