//! Expressions of admission and of device selectors (VAL-*): which are valid, and the messages for others.

use hydrofoil_cel::{Environment, Named, Refusal};

fn refused(environment: &Environment, text: &str) -> String {
    match environment.check(text) {
        Err(Refusal::Issues(why)) => why,
        other => panic!("{text}: {other:?}"),
    }
}

fn gives(environment: &Environment, text: &str) -> String {
    environment.check(text).unwrap_or_else(|why| panic!("{text}: {why:?}")).to_string()
}

#[test]
fn admission_sees_the_request() {
    let env = Environment::admission(false, true);
    assert_eq!(gives(&env, "object.spec.replicas"), "dyn");
    assert_eq!(gives(&env, "request.userInfo.groups"), "list(string)");
    assert_eq!(gives(&env, "request.resource.group == 'apps'"), "bool");
    assert_eq!(gives(&env, "namespaceObject.metadata.creationTimestamp"), "google.protobuf.Timestamp");
    assert_eq!(gives(&env, "authorizer.requestResource.check('get').allowed()"), "bool");
    assert_eq!(gives(&env, "null"), "null_type");
    assert!(refused(&env, "params.x").contains("undeclared reference to 'params'"));
    assert!(refused(&env, "request.bogus").contains("undefined field 'bogus'"));
    assert!(refused(&env, "JSONPatch{op: 'add'}").contains("undeclared reference to 'JSONPatch'"));
    assert!(refused(&env, "jsonpatch.escapeKey('a')").contains("undeclared reference"));
}

#[test]
fn variables_have_the_types_of_their_expressions() {
    let env = Environment::admission(true, false);
    let count = env.check("size(object.items)").expect("compiles");
    let mut variables = Named::default();
    variables.set("count", None);
    variables.set("count", Some(count));
    variables.set("broken", None);
    let env = env.with_variables(&variables);
    assert_eq!(gives(&env, "variables.count + 1"), "int");
    assert_eq!(gives(&env, "variables.broken"), "dyn");
    assert!(refused(&env, "variables.other").contains("undefined field 'other'"));
}

#[test]
fn patches_are_messages() {
    let env = Environment::admission(false, true).with_patches();
    assert_eq!(gives(&env, "Object{metadata: Object.metadata{labels: {'a': 'b'}}}"), "Object");
    let patch = "[JSONPatch{op: 'add', path: '/a/' + jsonpatch.escapeKey('x/y'), value: 1}]";
    assert_eq!(gives(&env, patch), "list(JSONPatch)");
    assert_eq!(gives(&env, "[]"), "list(dyn)");
    let why = refused(&env, "JSONPatch{op: 1}");
    assert!(why.contains("expected type of field 'op' is 'string' but provided type is 'int'"), "{why}");
    assert!(refused(&env, "Object{spec: Bogus{}}").contains("undeclared reference to 'Bogus'"));
}

#[test]
fn devices_are_bounded() {
    let env = Environment::device();
    let simple = "device.attributes['gpu.example.com'].model == 'a' && device.driver == 'gpu.example.com'";
    assert!(env.check(simple).expect("compiles").cost < 1_000);
    let bind = "cel.bind(gpu, device.attributes['gpu.example.com'], gpu.model.matches('a+') && gpu.ok)";
    let bound = env.check(bind).expect("compiles");
    assert!(bound.is("bool") && bound.cost < 1_000_000, "{bound}: {}", bound.cost);
    assert!(refused(&env, "object.x").contains("undeclared reference to 'object'"));
    assert!(refused(&Environment::admission(false, false), "cel.bind(a, 1, a)").contains("undeclared reference"));
}
