use super::strategic;
use crate::PatchError;
use crate::testing::{json, schema, text};

fn apply(kind: &str, doc: &str, patch: &str) -> Result<String, PatchError> {
    let mut target = json(doc);
    strategic(&schema(kind), &mut target, json(patch))?;
    Ok(text(&target))
}

fn pod(containers: &str, patch: &str) -> Result<String, PatchError> {
    let doc = format!(r#"{{"spec":{{"containers":{containers}}}}}"#);
    let out = apply("core.v1.Pod", &doc, &format!(r#"{{"spec":{patch}}}"#))?;
    Ok(out.strip_prefix(r#"{"spec":{"containers":"#).and_then(|s| s.strip_suffix("}}")).unwrap_or(&out).to_owned())
}

#[test]
fn lists_merge_by_key() {
    let two =
        r#"[{"name":"one","image":"1","env":[{"name":"A","value":"1"},{"name":"B","value":"2"}]},{"name":"two"}]"#;
    let cases = [
        // New items follow the patched item before them.
        (
            r#"{"containers":[{"name":"one","image":"2"},{"name":"three"}]}"#,
            r#"[{"name":"one","image":"2","env":[{"name":"A","value":"1"},{"name":"B","value":"2"}]},{"name":"three"},{"name":"two"}]"#,
        ),
        (
            r#"{"containers":[{"name":"two","$patch":"delete"}]}"#,
            r#"[{"name":"one","image":"1","env":[{"name":"A","value":"1"},{"name":"B","value":"2"}]}]"#,
        ),
        (
            r#"{"containers":[{"name":"one","env":[{"name":"B","value":"3"},{"name":"C"}]}]}"#,
            r#"[{"name":"one","image":"1","env":[{"name":"A","value":"1"},{"name":"B","value":"3"},{"name":"C"}]},{"name":"two"}]"#,
        ),
        (r#"{"containers":[{"$patch":"replace"},{"name":"only"}]}"#, r#"[{"name":"only"}]"#),
        (
            r#"{"containers":[{"name":"one","$retainKeys":["name","image"],"image":"9"}]}"#,
            r#"[{"name":"one","image":"9"},{"name":"two"}]"#,
        ),
        (
            r#"{"$setElementOrder/containers":[{"name":"two"},{"name":"one"}],"containers":[{"name":"one","env":null}]}"#,
            r#"[{"name":"two"},{"name":"one","image":"1"}]"#,
        ),
        (
            r#"{"$setElementOrder/containers":[{"name":"new"},{"name":"two"}],"containers":[{"name":"new"},{"name":"one","$patch":"delete"}]}"#,
            r#"[{"name":"new"},{"name":"two"}]"#,
        ),
        (
            r#"{"$setElementOrder/containers":[{"name":"two"},{"name":"none"}]}"#,
            r#"[{"name":"one","image":"1","env":[{"name":"A","value":"1"},{"name":"B","value":"2"}]},{"name":"two"}]"#,
        ),
    ];
    for (patch, expected) in cases {
        assert_eq!(pod(two, patch).as_deref(), Ok(expected), "{patch}");
    }
}

#[test]
fn maps_and_primitives() {
    let cases = [
        (r#"{"data":{"a":"1","b":"2"}}"#, r#"{"data":{"a":null,"c":"3"}}"#, r#"{"data":{"b":"2","c":"3"}}"#),
        (r#"{"data":{"a":"1"}}"#, r#"{"data":{"$patch":"replace","c":"3"}}"#, r#"{"data":{"c":"3"}}"#),
        (r#"{"data":{"a":"1"}}"#, r#"{"data":{"$patch":"delete"}}"#, r#"{"data":{}}"#),
        (r#"{"data":{"a":"1"}}"#, r#"{"data":null,"immutable":null}"#, "{}"),
        (r"{}", r#"{"data":{"a":null,"b":"1"},"binaryData":{"$patch":"delete"}}"#, r#"{"data":{"b":"1"}}"#),
        (
            r#"{"metadata":{"finalizers":["a","b"]}}"#,
            r#"{"metadata":{"finalizers":["c","b"]}}"#,
            r#"{"metadata":{"finalizers":["c","a","b"]}}"#,
        ),
        (
            r#"{"metadata":{"finalizers":["a","b"]}}"#,
            r#"{"metadata":{"$deleteFromPrimitiveList/finalizers":["a","z"]}}"#,
            r#"{"metadata":{"finalizers":["b"]}}"#,
        ),
        (
            r"{}",
            r#"{"metadata":{"$deleteFromPrimitiveList/finalizers":["a"]}}"#,
            r#"{"metadata":{"$deleteFromPrimitiveList/finalizers":["a"]}}"#,
        ),
        (
            r#"{"metadata":{"finalizers":["a","b"]}}"#,
            r#"{"metadata":{"$setElementOrder/finalizers":["b","a","c"],"finalizers":["c"]}}"#,
            r#"{"metadata":{"finalizers":["b","a","c"]}}"#,
        ),
        (
            r#"{"metadata":{"ownerReferences":[{"uid":"1","name":"x"}]}}"#,
            r#"{"metadata":{"ownerReferences":[{"uid":"1","name":"y"},{"uid":"2"}]}}"#,
            r#"{"metadata":{"ownerReferences":[{"uid":"1","name":"y"},{"uid":"2"}]}}"#,
        ),
        (
            r#"{"metadata":{"managedFields":[{"manager":"a"}]}}"#,
            r#"{"metadata":{"managedFields":[{}]}}"#,
            r#"{"metadata":{"managedFields":[{}]}}"#,
        ),
    ];
    for (doc, patch, expected) in cases {
        assert_eq!(apply("core.v1.ConfigMap", doc, patch).as_deref(), Ok(expected), "{patch}");
    }
}

#[test]
fn retained_keys_clear_the_rest() {
    let doc = r#"{"spec":{"strategy":{"type":"RollingUpdate","rollingUpdate":{"maxSurge":1}}}}"#;
    let patch = r#"{"spec":{"strategy":{"$retainKeys":["type"],"type":"Recreate"}}}"#;
    let expected = r#"{"spec":{"strategy":{"type":"Recreate"}}}"#;
    assert_eq!(apply("apps.v1.Deployment", doc, patch).as_deref(), Ok(expected));
    let patch = r#"{"spec":{"strategy":{"$retainKeys":[],"type":"Recreate"}}}"#;
    let error = Err(PatchError::Malformed("invalid patch format of retainKeys".into()));
    assert_eq!(apply("apps.v1.Deployment", doc, patch), error);
}

#[test]
fn bad_patches_are_told_apart() {
    let malformed = [r#"{"$deleteFromPrimitiveListX":[]}"#, r#"{"$setElementOrder":[]}"#, r#"{"$retainKeys":5}"#];
    for patch in malformed {
        assert!(matches!(pod("[]", patch), Err(PatchError::Malformed(_))), "{patch}");
    }
    let internal = [
        (r#"{"containers":[{"image":"x"}]}"#, "map: map[image:x] does not contain declared merge key: name"),
        (
            r#"{"containers":[{"$patch":"delete"}]}"#,
            "map: map[$patch:delete] does not contain declared merge key: name",
        ),
        (r#"{"containers":[{"$patch":"merge"}]}"#, "merging lists cannot yet be specified in the patch"),
        (r#"{"containers":[{"$patch":"spin","a":[1]}]}"#, "unknown patch type: spin in map: map[$patch:spin a:[1]]"),
        (r#"{"$patch":"merge"}"#, "unknown patch type: merge in map: map[$patch:merge]"),
        (r#"{"containers":["x"]}"#, "list element types are not identical: [[map[name:a]] [x]]"),
        (r#"{"$setElementOrder/containers":{}}"#, "expected a []interface {}, but received a map[string]interface {}"),
        (
            r#"{"$setElementOrder/containers":[{"name":"b"}],"containers":[{"name":"a"}]}"#,
            "The order in patch list:\n[map[name:a]]\n doesn't match $setElementOrder list:\n[map[name:b]]\n",
        ),
        (r#"{"$setElementOrder/none":[1]}"#, r#"unable to find api field in struct PodSpec for the json field "none""#),
    ];
    for (patch, message) in internal {
        assert_eq!(pod(r#"[{"name":"a"}]"#, patch), Err(PatchError::Internal(message.into())), "{patch}");
    }
    let lists = r#"{"containers":[[1]]}"#;
    assert!(matches!(pod("[[2]]", lists), Err(PatchError::Failed(_))));
    assert!(matches!(apply("core.v1.Pod", "{}", "[1]"), Err(PatchError::Malformed(_))));
}
