//! Evaluations that a caller waits for, and large maps and sets (VAL-*, CRD-29).

use std::sync::Arc;
use std::time::Duration;

use hydrofoil_cel::{Decl, Failure, Kind, Patience, Program, Variables};
use hydrofoil_types::Value;

const HOUR: Duration = Duration::from_secs(3600);

fn json(text: &str) -> Value {
    hydrofoil_codec::json::parse(text.as_bytes()).expect("it is JSON").value
}

fn decl(schema: &str) -> Arc<Decl> {
    Decl::compile(&json(schema), false).expect("an object is seen")
}

fn plain() -> Arc<Decl> {
    decl(r#"{"type":"object","properties":{"s":{"type":"string"}}}"#)
}

fn compiled(rule: &str, decl: &Arc<Decl>) -> Program {
    Program::compile(rule, decl, false, Kind::Bool).unwrap_or_else(|why| panic!("{rule}: {why:?}"))
}

/// Return the result of a rule on a text, and whether its caller waits no longer.
fn run(rule: &str, text: &str, time: Duration) -> (Result<bool, Failure>, bool) {
    let (decl, this, patience) = (plain(), json(&format!(r#"{{"s":"{text}"}}"#)), Patience::of(time));
    let on = Variables { this: &this, old: None, decl: &decl };
    (compiled(rule, &decl).truth(on, Some(&patience)).0, patience.is_over())
}

#[test]
fn a_short_evaluation_does_not_look_at_the_clock() {
    assert_eq!(run("self.s == 'a'", "a", Duration::ZERO), (Ok(true), false));
}

#[test]
fn a_long_one_gives_up() {
    for rule in [
        "lists.range(200).all(x, x < 200)",
        "lists.range(200).exists(x, [x] == [7, 8]) || true",
        // Constants cost nothing, but take time.
        &format!("lists.range(20).all(x, dyn(x) in [{}] || true)", vec!["1"; 400].join(",")),
    ] {
        assert!(run(rule, "a", Duration::ZERO).1, "{rule}");
        assert_eq!(run(rule, "a", HOUR), (Ok(true), false), "{rule}");
    }
}

#[test]
fn short_ones_add_up() {
    let (decl, this, patience) = (plain(), json(r#"{"s":"a"}"#), Patience::of(Duration::ZERO));
    let program = compiled("self.s == 'a'", &decl);
    let more = || {
        let _ = program.truth(Variables { this: &this, old: None, decl: &decl }, Some(&patience));
        !patience.is_over()
    };
    assert!((0..100).take_while(|_| more()).count() < 50);
}

#[test]
fn a_call_that_takes_long_is_not_begun() {
    let text = "abcdefghij".repeat(20_000);
    for rule in [
        "lists.range(100000).size() > 0",
        "lists.range(9000).sort().size() > 0",
        "sets.contains(lists.range(9000), lists.range(9000))",
        "self.s.split('').size() > 3",
        "self.s.upperAscii() != ''",
        "self.s.replace('', self.s) != ''",
        "'%s%s'.format([self.s, self.s]) != ''",
        "[self.s, self.s].join('') != ''",
        "self.s + self.s != ''",
        "self.s.contains(self.s + 'x')",
        "self.s.matches(self.s)",
    ] {
        assert!(run(rule, &text, HOUR).1, "{rule}");
    }
}

#[test]
fn what_exceeds_the_limit_is_not_begun() {
    let (decl, this) = (plain(), json(r#"{"s":"a"}"#));
    // Each compares a million items with each other, or would.
    for rule in ["lists.range(900000).sort().size() > 0", "sets.contains(lists.range(40000), lists.range(40000))"] {
        let (found, spent) = compiled(rule, &decl).truth(Variables { this: &this, old: None, decl: &decl }, None);
        assert_eq!(found, Err(Failure::Limit), "{rule}");
        assert!(spent > 1_000_000, "{rule}");
    }
}

#[test]
fn large_maps_are_searched_in_constant_time() {
    let (decl, this) = (plain(), json(r#"{"s":"a"}"#));
    for (rule, want) in [
        ("lists.range(90000).transformMap(i, v, v).size() == 90000", Ok(true)),
        ("[lists.range(60000).transformMap(i, v, v)].all(m, lists.range(60000).all(x, m[x] == x))", Ok(true)),
        ("[lists.range(40).transformMap(i, v, v)].all(m, m[dyn(7u)] == 7 && m[dyn(7.0)] == 7)", Ok(true)),
        ("[lists.range(40).transformMap(i, v, v)].all(m, dyn('7') in m)", Ok(false)),
        (
            "lists.range(40).transformMapEntry(i, v, {v % 39: v}).size() > 0",
            Err(Failure::Error("insert failed: key 0 already exists".to_owned())),
        ),
    ] {
        let found = compiled(rule, &decl).truth(Variables { this: &this, old: None, decl: &decl }, None).0;
        assert_eq!(found, want, "{rule}");
    }
    let entries: Vec<String> = (0..5000).map(|n| format!("'k{}': {n}", n % 4000)).collect();
    let rule = format!("[{{{}}}].all(m, m.size() == 4000 && m['k7'] == 4007)", entries.join(", "));
    let found = compiled(&rule, &decl).truth(Variables { this: &this, old: None, decl: &decl }, None).0;
    assert_eq!(found, Ok(true), "the last value of a key counts");
}

#[test]
fn large_sets_and_lists_by_keys_are_compared_in_linear_time() {
    const COUNT: usize = 20_000;
    let decl = decl(
        r#"{"type":"object","properties":{
            "set":{"type":"array","x-kubernetes-list-type":"set","items":{"type":"string"}},
            "map":{"type":"array","x-kubernetes-list-type":"map","x-kubernetes-list-map-keys":["k","n"],
                "items":{"type":"object","properties":{
                    "k":{"type":"string"},"n":{"type":"integer"},"v":{"type":"integer"}}}}}}"#,
    );
    let of = |change: usize, backwards: bool| {
        let mut places: Vec<usize> = (0..COUNT).collect();
        if backwards {
            places.reverse();
        }
        let changed = |n: usize| n + usize::from(n == change);
        let set: Vec<String> = places.iter().map(|n| format!("\"{}x\"", changed(*n) * 2)).collect();
        let item = |n: &usize| format!(r#"{{"k":"k{}","n":{n},"v":{}}}"#, n % 7, changed(*n));
        let map: Vec<String> = places.iter().map(item).collect();
        json(&format!(r#"{{"set":[{}],"map":[{}]}}"#, set.join(","), map.join(",")))
    };
    let (this, same, other) = (of(COUNT, false), of(COUNT, true), of(COUNT / 2, true));
    for (rule, on_same, on_other) in [
        ("self.map == oldSelf.map", true, false),
        ("(self.set + oldSelf.set).size() == self.set.size()", true, true),
        ("(self.map + oldSelf.map).size() == self.map.size()", true, true),
        ("(self.map + oldSelf.map).all(x, x.v == x.n)", true, false),
    ] {
        for (old, want) in [(&same, on_same), (&other, on_other)] {
            let on = Variables { this: &this, old: Some(old), decl: &decl };
            assert_eq!(compiled(rule, &decl).truth(on, None).0, Ok(want), "{rule}");
        }
    }
    let equal = |a: &Value, b: &Value| {
        let on = Variables { this: a, old: Some(b), decl: &decl };
        compiled("self.set == oldSelf.set", &decl).truth(on, None).0
    };
    assert_eq!(equal(&this, &same), Ok(true));
}
