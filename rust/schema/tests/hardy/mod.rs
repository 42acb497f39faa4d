//! Recorded bodies with values swapped for odd ones: no input may cause a panic, nor take long.

use std::time::{Duration, Instant};

use hydrofoil_schema::{Request, default, prepare, validate, warn};
use hydrofoil_types::{Timestamp, Value};
use serde_json::{Value as Json, json};

use crate::Target;

/// The time of all cases.
const NOW: Timestamp = Timestamp { seconds: 1_800_000_000, nanos: 0 };

/// A small random generator: the runs are the same every time.
pub struct Dice(pub u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % sides.max(1) as u64).unwrap_or(0)
    }
}

const TEXTS: [&str; 30] = [
    "",
    "-",
    ".",
    "/",
    "a/",
    "/b",
    "é",
    "日本.語",
    "::",
    "::ffff:1.2.3.4",
    "1.2.3.4/",
    "/99",
    "0.0.0.0/0",
    "%",
    "1e400",
    "-1",
    "99999999999999999999",
    "100%",
    "..",
    "*.",
    "a=b",
    "2001-02-03T04:05:06Z",
    "1h",
    "* * * * *",
    "{{",
    "$(A)",
    "http://[::1",
    "A\u{0}B",
    "None",
    "hugepages-é",
];
const NUMBERS: [i64; 9] = [0, 1, -1, 2, 63, i32::MAX as i64, i32::MIN as i64, i64::MAX, i64::MIN];

/// Change some leaves of a body.
pub fn mangle(body: &mut Json, dice: &mut Dice) {
    match body {
        Json::Object(map) => {
            if dice.roll(40) == 0 {
                let keys: Vec<String> = map.keys().cloned().collect();
                if let Some(key) = keys.get(dice.roll(keys.len())) {
                    map.remove(key);
                }
            }
            map.values_mut().for_each(|v| mangle(v, dice));
        }
        Json::Array(list) => {
            match dice.roll(30) {
                0 => list.clear(),
                1 if !list.is_empty() => list.push(list[0].clone()),
                _ => {}
            }
            for item in list {
                mangle(item, dice);
            }
        }
        Json::String(text) if dice.roll(12) == 0 => {
            *text = TEXTS[dice.roll(TEXTS.len())].repeat([1, 1, 1, 300][dice.roll(4)]);
        }
        Json::Number(_) if dice.roll(6) == 0 => *body = json!(NUMBERS[dice.roll(NUMBERS.len())]),
        Json::Bool(b) => *b ^= dice.roll(6) == 0,
        _ => {}
    }
}

/// The time limit of one validation; builds without optimisation are some ten times slower.
const BUDGET: Duration = Duration::from_millis(if cfg!(debug_assertions) { 500 } else { 50 });

/// Run a step that must end within the budget; a busy machine gets further tries.
#[allow(clippy::disallowed_methods, reason = "it measures work")]
fn in_time<T>(what: &str, run: impl Fn() -> T) {
    let took = || {
        let begun = Instant::now();
        let _ = run();
        begun.elapsed()
    };
    assert!((0..5).any(|_| took() < BUDGET), "{what} takes over {BUDGET:?}");
}

/// Return the object with defaults, which a second run must leave as they are.
fn defaulted(target: &Target, value: &Value) -> Value {
    let mut once = value.clone();
    default::apply(&target.kind, &mut once, NOW);
    let mut twice = once.clone();
    default::apply(&target.kind, &mut twice, NOW);
    assert!(once == twice, "defaults of {} change what they made: {once:?} to {twice:?}", target.kind.kind);
    once
}

/// Run all steps on an object, as new and as an update of `old`.
pub fn all(target: &Target, value: &Value, old: &Value) {
    let kind = &target.kind;
    let mut object = defaulted(target, value);
    let req = Request { kind, subresource: "", old: None, now: NOW };
    prepare::create(&req, &mut object);
    in_time(&kind.kind, || validate::create(&req, &object));
    let _ = warn::create(&req, &object);
    for subresource in
        ["", "status", "scale", "approval", "resize", "ephemeralcontainers", "finalize", "binding", "eviction"]
    {
        let mut object = value.clone();
        default::apply(kind, &mut object, NOW);
        let req = Request { kind, subresource, old: Some(old), now: NOW };
        prepare::update(&req, &mut object);
        in_time(&kind.kind, || validate::update(&req, &object));
        let _ = warn::update(&req, &object);
    }
}
