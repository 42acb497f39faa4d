//! A schema of a custom resource and an object of it, a line each: compiled, pruned, defaulted and validated.
#![no_main]

use hydrofoil_codec::json;
use hydrofoil_custom::{self as custom, Definition};
use hydrofoil_types::{Causes, Map, Value};
use libfuzzer_sys::fuzz_target;

fn object(members: impl IntoIterator<Item = (&'static str, Value)>) -> Value {
    let mut out = Map::new();
    for (name, value) in members {
        out.push(name, value);
    }
    Value::Object(out)
}

fuzz_target!(|data: &[u8]| {
    let mut lines = data.splitn(2, |b| *b == b'\n').map(|line| json::parse(line).map(|p| p.value));
    let (Some(Ok(schema)), Some(Ok(mut custom))) = (lines.next(), lines.next()) else { return };
    let version = object([
        ("name", Value::from("v1")),
        ("storage", Value::Bool(true)),
        ("schema", object([("openAPIV3Schema", schema)])),
    ]);
    let spec = object([("group", Value::from("e.com")), ("versions", Value::Array(vec![version]))]);
    let of = Definition::compile(&object([("spec", spec)]));
    if custom::decode(&of, &of.versions[0], &mut custom, &|m| Ok((m.clone(), Vec::new()))).is_ok() {
        custom::create(&of, &of.versions[0], &custom, None, &mut Causes::new());
        custom::prune(&mut custom, &of.versions[0]);
    }
});
