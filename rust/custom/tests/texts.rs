//! No reader of formats, times, durations, amounts, paths or patterns may panic on any text.

use std::sync::{Arc, LazyLock};

use hydrofoil_cel::{Decl, Failure, Kind, Program, Variables};
use hydrofoil_custom::{self as custom, Definition, StringFormat};
use hydrofoil_types::{Causes, Map, Quantity, Timestamp, Value, notation};
use proptest::prelude::*;

/// Texts that some reader accepts: those that are nearly valid get furthest.
const GOOD: [&str; 40] = [
    "2001-02-03T04:05:06Z",
    "2001-02-03t04:05:06.12+01:00",
    "0001-01-01T00:00:00Z",
    "9999-12-31T23:59:59.999999999-23:59",
    "2001-02-03",
    "1h2m3.5s",
    "-9223372036854775807ns",
    "99999999999999999999999999999s",
    "3 weeks",
    "22 µs",
    "+-9223372036854775807:00",
    "-02:30",
    "00:-9223372036854775807",
    "America/New_York",
    "9223372036854775807",
    "-0x8000000000000000",
    "1e-2147483648",
    "1.5Gi",
    "-999999999999999999999E",
    "11111111-2222-4333-8444-555555555555",
    "978-0321751041",
    "4111 1111 1111 1111",
    "#fff",
    "rgb(1, 2,255)",
    "a.b@c.d",
    "http://[::1%25a]:80/%41?x=1#y",
    "::ffff:1.2.3.4",
    "10.0.0.0/8",
    "01:23:45:67:89:ab",
    "YWJj",
    "a-b.c-d",
    ".spec.list[?(@.type=='x')].value",
    "{.items[0:9223372036854775807:2]['a\\.b']}",
    "[9223372036854775807]",
    "..[-1]",
    r"^[[:alpha:]\d]{1,1000}\Q.*\E$",
    "(a|b)*?\\pL{3}",
    "1.2.3-rc.1+build",
    "%s %.3f %x",
    "{\"a\":[1,-2.5e3,\"\\ud83d\\ude00\"]}",
];

/// Return a strategy for any text, and valid ones with others put into them or cut out.
fn text() -> impl Strategy<Value = String> {
    let changed =
        (0..GOOD.len(), any::<prop::sample::Index>(), 0..4usize, ".{0,3}").prop_map(|(which, at, cut, more)| {
            let chars: Vec<char> = GOOD[which].chars().collect();
            let at = at.index(chars.len());
            chars[..at].iter().copied().chain(more.chars()).chain(chars.iter().skip(at + cut).copied()).collect()
        });
    prop_oneof![1 => ".{0,40}", 1 => "[-+0-9.:eEnsumhZT/ é]{0,40}", 4 => changed]
}

fn object(members: impl IntoIterator<Item = (&'static str, Value)>) -> Value {
    let mut out = Map::new();
    for (name, value) in members {
        out.push(name, value);
    }
    Value::Object(out)
}

const RULES: [&str; 16] = [
    "duration(self.s) > duration('0s')",
    "duration(self.s) + duration(self.s) == duration(self.s) - duration(self.s)",
    "duration(self.s).getHours() + duration(self.s).getMilliseconds() > 0",
    "string(duration(self.s)) == self.s",
    "timestamp(self.s).getDayOfYear() > 0",
    "timestamp(self.s) + duration('2540400h') > timestamp(self.s) - duration('2540400h')",
    "timestamp(self.s) - timestamp('0001-01-01T00:00:00Z') > duration('1s')",
    "timestamp('2024-02-29T12:34:56.7Z').getHours(self.s) > 0",
    "timestamp('0001-01-01T00:00:00Z').getFullYear(self.s) > 0",
    "timestamp('9999-12-31T23:59:59Z').getDate(self.s) > 0",
    "quantity(self.s).add(quantity(self.s)).sub(1).isInteger()",
    "int(self.s) - 1 > 0 || uint(self.s) + 1u > 0u || double(self.s) * 2.0 > 0.0",
    "url(self.s).getHost() == self.s || ip(self.s).family() == 4 || cidr(self.s).prefixLength() > 3",
    "semver(self.s).major() > 0 || format.named('dns1123Label').value().validate(self.s).hasValue()",
    "self.s.matches(self.s) || self.s.format([1, 2.5, self.s]) == ''",
    "self.s.split('').size() > self.s.indexOf('é') && self.s.substring(1) != self.s.lowerAscii()",
];

static PROGRAMS: LazyLock<(Arc<Decl>, Vec<Program>)> = LazyLock::new(|| {
    let text = object([("type", Value::from("string"))]);
    let schema = object([("type", Value::from("object")), ("properties", object([("s", text)]))]);
    let decl = Decl::compile(&schema, false).expect("an object is seen");
    let made = |rule: &&str| Program::compile(rule, &decl, false, Kind::Bool).unwrap_or_else(|_| panic!("{rule}"));
    let programs = RULES.iter().map(made).collect();
    (decl, programs)
});

/// Run every rule on a text.
fn run(text: &str) -> Vec<Result<bool, Failure>> {
    let (decl, programs) = &*PROGRAMS;
    let this = object([("s", Value::from(text))]);
    programs.iter().map(|program| program.truth(Variables { this: &this, old: None, decl }, None).0).collect()
}

/// Use a text wherever a definition can, and in a resource of it.
fn defined(text: &str) {
    let own = || Value::from(text);
    let field = |format: &str| {
        object([
            ("type", Value::from("string")),
            ("format", Value::from(format)),
            ("pattern", own()),
            ("default", own()),
        ])
    };
    let mut properties = Map::new();
    // Dashes do not count, and unknown formats mean nothing.
    let names = StringFormat::ALL.map(|(name, _)| name);
    for name in names.into_iter().chain(["k8s-short-name", "k8s-long-name", "none"]) {
        properties.push(name, field(name));
    }
    let schema = object([("type", Value::from("object")), ("properties", Value::Object(properties))]);
    let column = object([("name", own()), ("type", Value::from("string")), ("jsonPath", own())]);
    let scale = object([("specReplicasPath", own()), ("statusReplicasPath", own()), ("labelSelectorPath", own())]);
    let version = object([
        ("name", Value::from("v1")),
        ("storage", Value::Bool(true)),
        ("schema", object([("openAPIV3Schema", schema)])),
        ("additionalPrinterColumns", Value::Array(vec![column])),
        ("subresources", object([("scale", scale), ("status", Value::object())])),
        ("selectableFields", Value::Array(vec![object([("jsonPath", own())])])),
    ]);
    let spec = object([("group", Value::from("e.com")), ("versions", Value::Array(vec![version]))]);
    let of = Definition::compile(&object([("spec", spec)]));
    let version = &of.versions[0];
    let items = Value::Array(vec![own(), Value::Int(1), object([("type", own())])]);
    let mut given = object([("spec", object([("list", items.clone())])), ("items", items)]);
    if custom::decode(&of, version, &mut given, &|m| Ok((m.clone(), Vec::new()))).is_ok() {
        custom::create(&of, version, &given, None, &mut Causes::new());
        of.fields(&given);
        version.columns.row(&given, Timestamp { seconds: 0, nanos: 0 });
    }
}

proptest! {
    #[test]
    fn formats_refuse_or_allow(text in text()) {
        for (name, format) in StringFormat::ALL {
            prop_assert_eq!(StringFormat::parse(name), Some(format));
            let _ = format.allows(&text);
        }
        let _ = StringFormat::parse(&text);
    }

    #[test]
    fn amounts_and_times_are_read_or_refused(text in text()) {
        if let Ok(amount) = Quantity::parse(&text) {
            let shown = amount.to_string();
            let again = Quantity::parse(&shown).map(|q| (q.milli(), q.value()));
            prop_assert!(again.is_ok(), "{text} is {shown}");
        }
        if let Some(time) = Timestamp::parse(&text) {
            // A zone can carry it into the year 10000 or -1, which is written and not read, as in Go.
            let shown = time.rfc3339_micro();
            let four = shown.len() == "2006-01-02T15:04:05.000000Z".len();
            prop_assert_eq!(Timestamp::parse(&shown).is_some(), four, "{} is {}", text, shown);
        }
        let _ = notation::parse(&text);
    }

    #[test]
    fn bodies_are_read_or_refused(text in text()) {
        let _ = hydrofoil_codec::yaml::parse(text.as_bytes());
        let _ = hydrofoil_codec::yaml::parse(format!("a: {text}\n").as_bytes());
        let _ = hydrofoil_codec::json::parse(text.as_bytes());
        let _ = hydrofoil_codec::cbor::to_json(text.as_bytes());
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn expressions_about_a_text_give_a_result_or_an_error(text in text()) {
        prop_assert_eq!(run(&text).len(), RULES.len());
    }

    #[test]
    fn definitions_stand_any_text(text in text()) {
        defined(&text);
    }
}

/// Cases found by hand.
#[test]
fn no_text_of_these_panics() {
    let many = format!("{0}s{0}s{0}h", "9".repeat(29));
    for text in ["2001-02-03T04:05:0é11Z", "2001-02-03T04:05:06é", "[9223372036854775807]", &many, "hugepages-é"]
        .into_iter()
        .chain(GOOD)
    {
        for (_, format) in StringFormat::ALL {
            let _ = format.allows(text);
        }
        assert_eq!(run(text).len(), RULES.len());
        defined(text);
    }
}
