//! Policies checked by types (apiserver `plugin/policy/validating/typechecking_test.go`).

use std::sync::Arc;

use hydrofoil_cel::{Decl, issues};
use hydrofoil_types::Value;

fn parsed(text: &str) -> Value {
    hydrofoil_codec::json::parse(text.as_bytes()).expect("the text is JSON").value
}

const META: &str = "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta";

/// Return a document with a Deployment, whose spec may have itself as a field.
fn document() -> Value {
    parsed(&format!(
        r##"{{"components": {{"schemas": {{
            "{META}": {{"type": "object", "properties": {{
                "name": {{"type": "string"}},
                "generateName": {{"type": "string"}},
                "labels": {{"type": "object", "additionalProperties": {{"type": "string", "default": ""}}}},
                "creationTimestamp": {{"$ref": "#/components/schemas/Time"}}
            }}}},
            "Time": {{"type": "string", "format": "date-time"}},
            "Port": {{"format": "int-or-string", "oneOf": [{{"type": "integer"}}, {{"type": "string"}}]}},
            "Quantity": {{"oneOf": [{{"type": "string"}}, {{"type": "number"}}]}},
            "Spec": {{"type": "object", "properties": {{
                "replicas": {{"type": "integer", "format": "int32"}},
                "port": {{"$ref": "#/components/schemas/Port"}},
                "limits": {{"type": "object", "additionalProperties": {{"$ref": "#/components/schemas/Quantity"}}}},
                "again": {{"$ref": "#/components/schemas/Spec"}}
            }}}},
            "Deployment": {{"type": "object", "properties": {{
                "metadata": {{"allOf": [{{"$ref": "#/components/schemas/{META}"}}], "default": {{}}}},
                "kind": {{"type": "string"}},
                "apiVersion": {{"type": "string"}},
                "spec": {{"allOf": [{{"$ref": "#/components/schemas/Spec"}}], "default": {{}}}}
            }}, "x-kubernetes-group-version-kind": [{{"group": "apps", "version": "v1", "kind": "Deployment"}}]}}
        }}}}}}"##
    ))
}

fn deployment() -> Arc<Decl> {
    Decl::of_openapi(&document(), ["apps", "v1", "Deployment"], "Deployment7").expect("the kind is published")
}

fn issue(object: &Arc<Decl>, text: &str) -> Option<String> {
    issues(object, None, &[], &[text.to_owned()], 1 << 20).expect("few").remove(0)
}

#[test]
fn members_have_the_types_of_the_schema() {
    let object = deployment();
    for text in [
        "object.spec.replicas > 1 && object.metadata.name == oldObject.metadata.name",
        "object.metadata.labels['a'] == 'b' && object.metadata.creationTimestamp.getFullYear() > 2000",
        "object.spec.port == 1 || object.spec.port == 'http'",
        "has(object.spec.again) && oldObject == null",
        "authorizer.group('').resource('pods').check('get').allowed() && request.operation == 'CREATE'",
        "namespaceObject.metadata.name == 'a'",
    ] {
        assert_eq!(issue(&object, text), None, "{text}");
    }
    let shown = "ERROR: <input>:1:7: undefined field 'replicas'\n | object.replicas > 1\n | ......^";
    assert_eq!(issue(&object, "object.replicas > 1").as_deref(), Some(shown));
    for (text, why) in [
        ("object.spec.replicas == 'a'", "no matching overload for '_==_' applied to '(int, string)'"),
        ("object.spec + 1", "no matching overload for '_+_' applied to '(Deployment7.spec, int)'"),
        // A circle ends in an object without fields. A member without a type is no field.
        ("object.spec.again.replicas == 1", "undefined field 'replicas'"),
        ("object.spec.limits.size() == 1", "undefined field 'limits'"),
        ("authorizer.allowed()", "'allowed' applied to 'kubernetes.authorization.Authorizer.()'"),
        ("authorizer.requestResource.check('get').allowed()", "undefined field 'requestResource'"),
        ("params.a == 1", "undeclared reference to 'params'"),
    ] {
        let found = issue(&object, text).unwrap_or_default();
        assert!(found.contains(why), "{text}: {found}");
    }
}

#[test]
fn a_kind_that_is_not_published_has_no_type() {
    assert!(Decl::of_openapi(&document(), ["apps", "v1", "Absent"], "Absent").is_none());
}

#[test]
fn parameters_and_variables_are_typed() {
    let object = deployment();
    let definition = parsed(
        r#"{"spec": {"versions": [{"name": "v2"}, {"name": "v1", "schema": {"openAPIV3Schema": {
            "type": "object", "properties": {
                "most": {"type": "integer"},
                "template": {"type": "object", "x-kubernetes-embedded-resource": true}
            }}}}]}}"#,
    );
    let params = Decl::of_definition(&definition, "v1", &document(), "Limit7").expect("the version is defined");
    let variables = [("most".to_owned(), "params.most".to_owned()), ("bad".to_owned(), "params.bad".to_owned())];
    let texts = [
        "object.spec.replicas <= variables.most",
        "variables.most == 'a'",
        "variables.bad == 'a'",
        "variables.absent",
        "params.metadata.labels.size() == 0 && params.template.metadata.labels['a'] == params.kind",
        "params.least == 1",
    ]
    .map(str::to_owned);
    let found = issues(&object, Some(&params), &variables, &texts, 1 << 20).expect("few");
    assert_eq!(found.iter().map(Option::is_some).collect::<Vec<_>>(), [false, true, false, true, false, true]);
    assert!(found[5].as_deref().is_some_and(|why| why.contains("undefined field 'least'")));
    let bare = Decl::of_definition(&definition, "v2", &document(), "Limit8").expect("the version is defined");
    assert_eq!(issue(&bare, "object.metadata.name == object.kind"), None);
    assert!(issue(&bare, "object.metadata.labels == {}").is_some());
    assert!(Decl::of_definition(&definition, "v3", &document(), "Limit9").is_none());
}

#[test]
fn a_definition_that_repeats_metadata_everywhere_is_not_expanded() {
    let part = r#""x-kubernetes-embedded-resource": true, "type": "object""#;
    let many: Vec<String> = (0..30_000).map(|i| format!(r#""f{i}": {{{part}}}"#)).collect();
    let definition = parsed(&format!(
        r#"{{"spec": {{"versions": [{{"name": "v1", "schema": {{"openAPIV3Schema": {{"type": "object", "properties": {{{}}}}}}}}}]}}}}"#,
        many.join(",")
    ));
    assert!(Decl::of_definition(&definition, "v1", &document(), "Large").is_none());
}

#[test]
fn many_issues_are_bounded() {
    let object = deployment();
    let many = vec!["object.a"; 150].join(" == ");
    let found = issue(&object, &many).expect("they are undefined");
    assert_eq!(found.matches("undefined field 'a'").count(), 100);
    assert!(found.ends_with("\n50 more errors were truncated"), "{found}");
    assert!(issues(&object, None, &[], &[many.clone(), many], found.len() + 1).is_none());
}
