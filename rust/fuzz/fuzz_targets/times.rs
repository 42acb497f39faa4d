//! Times, time zones and durations of expressions: rules on a string of an object.
#![no_main]

use std::sync::{Arc, LazyLock};

use hydrofoil_cel::{Decl, Kind, Program, Variables};
use hydrofoil_codec::json;
use hydrofoil_types::{Map, Value};
use libfuzzer_sys::fuzz_target;

const SCHEMA: &str = r#"{"type":"object","properties":{"s":{"type":"string"},
"d":{"type":"string","format":"duration"},"t":{"type":"string","format":"date-time"},
"y":{"type":"string","format":"date"}}}"#;

const RULES: [&str; 10] = [
    "duration(self.s) + duration(self.s) > duration(self.s) - duration(self.s)",
    "string(duration(self.s)) == self.s",
    "duration(self.s).getHours() + duration(self.s).getMilliseconds() > 0",
    "timestamp(self.s).getDayOfYear() > timestamp(self.s).getDayOfWeek()",
    "timestamp(self.s) + duration('2540400h') > timestamp(self.s) - duration('2540400h')",
    "timestamp('2024-02-29T12:34:56.7Z').getHours(self.s) > 0",
    "timestamp('0001-01-01T00:00:00Z').getFullYear(self.s) > 0",
    "timestamp('9999-12-31T23:59:59Z').getDate(self.s) > 0",
    "self.d + self.d > duration('0s')",
    "self.t + duration('1h') > self.y",
];

static PROGRAMS: LazyLock<(Arc<Decl>, Vec<Program>)> = LazyLock::new(|| {
    let schema = json::parse(SCHEMA.as_bytes()).expect("JSON").value;
    let decl = Decl::compile(&schema, false).expect("an object is seen");
    let programs =
        RULES.iter().map(|r| Program::compile(r, &decl, false, Kind::Bool).unwrap_or_else(|_| panic!("{r}"))).collect();
    (decl, programs)
});

fuzz_target!(|text: &str| {
    let (decl, programs) = &*PROGRAMS;
    let members = ["s", "d", "t", "y"].map(|name| (name.into(), Value::from(text)));
    let this = Value::Object(Map::from_unique(members.to_vec()));
    for program in programs {
        let _ = program.truth(Variables { this: &this, old: None, decl }, None);
    }
});
