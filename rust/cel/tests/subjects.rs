//! Expressions on claims, users and requests (apiserver `pkg/authentication/cel`, `pkg/authorization/cel`).

use hydrofoil_cel::{Expression, Failure, Refusal, Subject};
use hydrofoil_types::Value;

fn parsed(text: &str) -> Value {
    hydrofoil_codec::json::parse(text.as_bytes()).expect("the text is JSON").value
}

fn compiled(text: &str, subject: Subject) -> Expression {
    Expression::compile(text, subject).unwrap_or_else(|why| panic!("{text}: {why:?}"))
}

fn gives(text: &str, subject: Subject, on: &str) -> Value {
    compiled(text, subject).evaluate(&parsed(on), None).unwrap_or_else(|why| panic!("{text}: {why:?}"))
}

fn fails(text: &str, subject: Subject, on: &str) -> String {
    match compiled(text, subject).evaluate(&parsed(on), None) {
        Err(Failure::Error(why)) => why,
        other => panic!("{text}: {other:?}"),
    }
}

fn refused(text: &str, subject: Subject) -> String {
    match Expression::compile(text, subject) {
        Err(Refusal::Issues(why)) => why,
        other => panic!("{text}: {other:?}"),
    }
}

const CLAIMS: &str = r#"{"sub": "jane", "exp": 1000, "iat": 100, "roles": ["a", "b"], "deep": {"list": [1, {"k": null}]},
    "email_verified": true, "f": 1.5, "none": null, "a-b": "dash", "in": "word", "big": 18446744073709551616}"#;

#[test]
fn claims_are_any_json() {
    for (text, want) in [
        ("'cel:' + (has(claims.email) ? claims.email : claims.sub)", r#""cel:jane""#),
        ("has(claims.roles) ? dyn(claims.roles).map(r, 'cel:' + r) : []", r#"["cel:a","cel:b"]"#),
        ("claims.exp - claims.iat <= 86400", "true"),
        ("!has(claims.email_verified) || claims.email_verified == true", "true"),
        ("claims[?'x'].orValue('none')", r#""none""#),
        ("claims[?'sub'].orValue('none')", r#""jane""#),
        // A value that is no optional is the result, as upstream has it.
        ("claims.sub.orValue('none')", r#""jane""#),
        ("claims.roles.or(optional.none()) == claims.roles", "true"),
        ("claims.?deep.?list[1].?k.hasValue()", "true"),
        ("claims.deep.list[0] + 1", "2"),
        ("claims.deep.list[1].k == null", "true"),
        ("claims.none == null", "true"),
        ("has(claims.none)", "true"),
        ("claims['a-b'] + claims['in']", r#""dashword""#),
        ("claims.f > 1", "true"),
        ("claims.deep", r#"{"list":[1,{"k":null}]}"#),
        ("'sub' in claims && claims.roles == ['a', 'b']", "true"),
        ("sets.contains(claims.roles, ['b'])", "true"),
        ("claims.roles.join('-').split('-').size()", "2"),
        ("type(claims.exp) == int && type(claims.deep) == map", "true"),
        ("claims.exists(k, k == 'sub')", "true"),
        ("claims.sub.find('[a-j]+')", r#""ja""#),
        ("isQuantity('1Gi') && ip('10.0.0.1').family() == 4 && isSemver('1.2.3')", "true"),
    ] {
        assert_eq!(gives(text, Subject::Claims, CLAIMS).to_json(), want, "{text}");
    }
}

#[test]
fn missing_and_odd_claims_fail() {
    assert_eq!(fails("claims.tenant", Subject::Claims, CLAIMS), "no such key: tenant");
    assert_eq!(fails("claims.sub + claims.exp", Subject::Claims, CLAIMS), "no such overload");
    assert_eq!(fails("claims.sub.foo", Subject::Claims, CLAIMS), "no such key: foo");
    assert!(fails("claims.exp.split(',')", Subject::Claims, CLAIMS).starts_with("no such overload"));
    assert!(fails("duration('1s')", Subject::Claims, "{}").contains("unsupported"));
    let doubled = format!("[[1]]{}.size() > 0", ".map(x, x + x)".repeat(60));
    assert_eq!(compiled(&doubled, Subject::Claims).evaluate(&parsed("{}"), None), Err(Failure::Limit));
}

/// As kube-apiserver 1.36.1 answers on `dyn(...)` in policies.
#[test]
fn what_has_no_members_lacks_each_of_them() {
    for text in [
        "has(claims.none.foo)",
        "has(claims.sub.foo)",
        "has(claims.exp.foo)",
        "has(dyn(timestamp('2020-01-01T00:00:00Z')).foo)",
        "has(dyn(type(1)).foo)",
        "has(optional.of(dyn(1)).foo)",
        "claims.none.?foo.hasValue()",
        "claims.none.?foo.?bar.hasValue()",
        "claims.none[?'foo'].hasValue()",
        "claims.exp[?0].hasValue()",
        "claims.roles[?5].hasValue()",
        "has(dyn({1: 1}).foo)",
    ] {
        assert_eq!(gives(text, Subject::Claims, CLAIMS).to_json(), "false", "{text}");
    }
    for (text, why) in [
        ("claims.none.foo", "no such key: foo"),
        ("claims.exp.foo", "no such key: foo"),
        ("dyn(quantity('1')).foo", "no such key: foo"),
        ("claims.none['foo']", "no such key: foo"),
        ("claims.sub[0]", "no such key: 0"),
        ("claims.exp[1.5]", "no such key: 1.5"),
        ("claims.exp[claims.none == null]", "no such key: true"),
        ("claims.deep[claims.none]", "invalid qualifier type: <nil>"),
        ("claims.deep[?claims.none]", "invalid qualifier type: <nil>"),
        ("claims.roles.foo", "unsupported index type 'string' in list"),
        ("has(claims.roles.foo)", "unsupported index type 'string' in list"),
        ("claims.roles.?foo", "unsupported index type 'string' in list"),
        ("claims.roles[?'a']", "unsupported index type 'string' in list"),
        ("claims.roles[?1.5]", "unsupported index value 1.5 in list"),
    ] {
        assert_eq!(fails(text, Subject::Claims, CLAIMS), why, "{text}");
    }
}

#[test]
fn claims_are_no_range_without_dyn() {
    let why = refused("claims.roles.map(r, r)", Subject::Claims);
    assert!(why.contains("expression of type 'any' cannot be range of a comprehension"), "{why}");
    assert!(refused("user.username", Subject::Claims).contains("undeclared reference to 'user'"));
    assert!(refused("claims.", Subject::Claims).contains("Syntax error"));
    assert_eq!(compiled("claims.email_verified", Subject::Claims).result, "google.protobuf.Any");
    assert_eq!(compiled("claims.email_verified == true", Subject::Claims).result, "bool");
}

#[test]
fn users_have_declared_fields() {
    let user = r#"{"username": "cel:jo", "uid": "", "groups": ["a"], "extra": {"example.com/k": ["v"]}}"#;
    for text in [
        "!user.username.contains('system:')",
        "user.groups.all(g, g != 'cel:banned')",
        "user.extra['example.com/k'] == ['v'] && user.uid == ''",
        "user.extra.all(k, user.extra[k].size() == 1)",
    ] {
        assert_eq!(gives(text, Subject::User, user), Value::Bool(true), "{text}");
        assert_eq!(compiled(text, Subject::User).result, "bool");
    }
    assert!(refused("user.name == 'x'", Subject::User).contains("undefined field 'name'"));
    assert_eq!(compiled("user", Subject::User).result, "kubernetes.UserInfo");
}

#[test]
fn requests_are_reviews() {
    let on = r#"{"user": "petra", "groups": ["g"], "uid": "", "extra": {}, "resourceAttributes": {"namespace": "gate-1",
        "verb": "list", "group": "", "version": "v1", "resource": "pods", "subresource": "", "name": "a",
        "labelSelector": {"requirements": [{"key": "k", "operator": "In", "values": ["v"]}]}}}"#;
    for text in [
        "has(request.resourceAttributes)",
        "!has(request.nonResourceAttributes)",
        "request.resourceAttributes.namespace.startsWith('gate')",
        "!('system:serviceaccounts' in request.groups)",
        "request.resourceAttributes.labelSelector.requirements.exists(r, r.key == 'k' && 'v' in r.values)",
        "!has(request.resourceAttributes.fieldSelector)",
        "request.?nonResourceAttributes.?path.orValue('none') == 'none'",
    ] {
        assert_eq!(gives(text, Subject::Request, on), Value::Bool(true), "{text}");
    }
    let split = "request.resourceAttributes.name.split('-')[1] == 'b'";
    assert_eq!(fails(split, Subject::Request, on), "index out of bounds: 1");
    assert_eq!(
        fails("request.nonResourceAttributes.path == ''", Subject::Request, on),
        "no such key: nonResourceAttributes"
    );
    assert!(refused("request.bogus", Subject::Request).contains("undefined field 'bogus'"));
    assert!(refused("request.resourceAttributes.verbs", Subject::Request).contains("undefined field 'verbs'"));
}

#[test]
fn the_fields_that_an_expression_names_are_known() {
    let named = |text: &str| compiled(text, Subject::Claims).fields.iter().cloned().collect::<Vec<_>>().join(",");
    assert_eq!(named("claims.email"), "email");
    assert_eq!(named("has(claims.email_verified) ? [claims.?email.orValue('')] : ['']"), "email,email_verified");
    assert_eq!(named("dyn(claims.list).all(x, x == claims.email.size())"), "email,list");
    assert_eq!(named("claims['email']"), "");
}

#[test]
fn no_text_panics() {
    // Frames of a debug build are large; the server's thread has the same stack size.
    let thread = std::thread::Builder::new().stack_size(8 << 20).spawn(texts).expect("a thread starts");
    thread.join().expect("no text panics");
}

fn texts() {
    for part in ["claims.", "claims[?'a']", "(", "claims.?a", "[claims", "{'a':", "has(claims", "`", "dyn("] {
        for times in [1, 3, 300] {
            let text = part.repeat(times);
            for subject in [Subject::Claims, Subject::User, Subject::Request] {
                if let Ok(found) = Expression::compile(&text, subject) {
                    let _ = found.evaluate(&parsed(CLAIMS), None);
                    let _ = found.evaluate(&Value::Null, None);
                }
            }
        }
    }
}
