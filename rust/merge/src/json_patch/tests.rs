use super::{json_patch, json_patch_unknown};
use crate::PatchError;
use crate::testing::json;

fn apply(doc: &str, patch: &str) -> Result<String, PatchError> {
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
        assert_eq!(apply(doc, patch).as_deref(), Ok(expected), "{patch}");
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
        assert!(matches!(apply(r#"{"a":[1]}"#, patch), Err(PatchError::Failed(_))), "{patch}");
    }
}

#[test]
fn malformed_documents_are_400() {
    for patch in [r#"{"op":"add"}"#, "[1]", r#"[{"op":5}]"#, r#"[{"op":"add","path":{}}]"#, "7"] {
        assert!(matches!(apply("{}", patch), Err(PatchError::Malformed(_))), "{patch}");
    }
}

#[test]
fn limits() {
    let one = r#"{"op":"add","path":"/a","value":1}"#;
    let many = format!("[{}]", vec![one; 10_001].join(","));
    assert_eq!(apply("{}", &many), Err(PatchError::TooMany(10_001)));
    let doubling = format!("[{}]", vec![r#"{"op":"copy","from":"/a","path":"/a/-"}"#; 60].join(","));
    assert!(matches!(apply(r#"{"a":["0123456789"]}"#, &doubling), Err(PatchError::Failed(_))));
}

#[test]
fn unknown_members_are_told() {
    let found = json_patch_unknown(&json(r#"[{"op":"add","foo":1},{"Value":2}]"#));
    assert_eq!(found, [r#"json patch unknown field "[0].foo""#, r#"json patch unknown field "[1].Value""#]);
}

/// Many operations on one object have the same result as when applied one by one.
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
        let whole = apply(r#"{"a":{"k/3":0}}"#, &format!("[{},{end}]", row.join(",")));
        let mut doc = r#"{"a":{"k/3":0}}"#.to_owned();
        for operation in &row {
            doc = apply(&doc, &format!("[{operation}]")).expect("members are added");
        }
        assert_eq!(whole, apply(&doc, &format!("[{end}]")), "{end}");
    }
}

/// Each copy of a container into itself doubles its depth; many small moves add up.
#[test]
fn a_document_does_not_become_too_deep_to_walk() {
    let mut copies = Vec::new();
    let (mut at, mut depth) = ("/a".to_owned(), 1);
    while at.len() < 200_000 {
        copies.push(format!(r#"{{"op":"copy","from":"/a","path":"{at}/a"}}"#));
        at.push_str(&"/a".repeat(depth));
        depth *= 2;
    }
    let deep = format!("{}{}", r#"{"a":"#.repeat(20), "{}".to_owned() + &"}".repeat(20));
    let mut moves = vec![format!(r#"{{"op":"add","path":"/a","value":{deep}}}"#)];
    for _ in 0..300 {
        moves.push(format!(r#"{{"op":"add","path":"/b","value":{deep}}}"#));
        moves.push(format!(r#"{{"op":"move","from":"/a","path":"/b{}"}}"#, "/a".repeat(20)));
        moves.push(r#"{"op":"move","from":"/b","path":"/a"}"#.to_owned());
    }
    let refused = move || {
        for operations in [copies, moves] {
            let found = apply(r#"{"a":{}}"#, &format!("[{}]", operations.join(",")));
            assert_eq!(found, Err(PatchError::Malformed("exceeded max depth".to_owned())));
        }
    };
    // The stack size of the server's threads.
    let thread = std::thread::Builder::new().stack_size(8 << 20).spawn(refused).expect("a thread");
    thread.join().expect("it is refused");
}

/// Many operations have the same result as the same ones in small patches.
#[test]
fn many_operations_are_done_as_few_are() {
    let doc = format!(r#"{{"l":[{}],"m":{{"x":{{"y":1}}}},"s":"t"}}"#, vec!["0"; 3000].join(","));
    let mut operations = Vec::new();
    for i in 0..400_usize {
        operations.push(format!(r#"{{"op":"add","path":"/l/{}","value":{i}}}"#, i * 7 % 3000));
        operations.push(format!(r#"{{"op":"add","path":"/m/k{i}","value":{{"n":[{i}]}}}}"#));
        operations.push(format!(r#"{{"op":"remove","path":"/l/{}"}}"#, i * 13 % 2900));
        operations.push(format!(r#"{{"op":"replace","path":"/m/k{i}/n/0","value":"z"}}"#));
        operations.push(format!(r#"{{"op":"test","path":"/m/k{i}","value":{{"n":["z"]}}}}"#));
        operations.push(format!(r#"{{"op":"copy","from":"/m/k{i}","path":"/m/x/c{i}"}}"#));
        if i % 3 == 0 {
            operations.push(format!(r#"{{"op":"move","from":"/m/k{i}","path":"/l/-"}}"#));
        }
    }
    let whole = apply(&doc, &format!("[{}]", operations.join(",")));
    let mut step = doc;
    for some in operations.chunks(40) {
        step = apply(&step, &format!("[{}]", some.join(","))).expect("they can be done");
    }
    assert_eq!(whole, Ok(step));
    for last in [
        r#"{"op":"remove","path":"/l/99999"}"#,
        r#"{"op":"test","path":"/m/x","value":{}}"#,
        r#"{"op":"add","path":"/s/x","value":1}"#,
        r#"{"op":"replace","path":"/l/x","value":1}"#,
        r#"{"op":"move","from":"/none","path":"/b"}"#,
        r#"{"op":"test","path":"/none/x","value":1}"#,
    ] {
        let few = apply(&whole.clone().expect("done"), &format!("[{last}]"));
        operations.push(last.to_owned());
        let many = apply(
            r#"{"l":[0,1],"m":{"x":{"y":1}},"s":"t"}"#,
            &format!("[{}{last}]", r#"{"op":"add","path":"/q","value":1},"#.repeat(70)),
        );
        assert!(few.is_err());
        assert_eq!(std::mem::discriminant(&few), std::mem::discriminant(&many), "{last}");
        operations.pop();
    }
}
