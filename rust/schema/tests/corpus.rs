//! The recorded answers of kube-apiserver against defaults, preparation and validation.
//!
//! `CORPUS_ONLY=pods` picks files by name, `CORPUS_ID=text` cases by id, `CORPUS_SHOW=20` prints differences.

#![allow(clippy::print_stdout, missing_docs, reason = "the figures are what this test is for")]

mod admit;
mod change;
mod hardy;
mod recordings;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::LazyLock;

use hydrofoil_codec::json;
use hydrofoil_schema::{Kind, Release, Request, default, prepare, validate, warn};
use hydrofoil_types::{Catalog, Causes, Schema, SmolStr, Timestamp, Value};
use recordings::{cases, corpus};
use serde_json::Value as Json;

/// The release of the package.
static RELEASE: LazyLock<Release> = LazyLock::new(|| {
    Release::parse(include_bytes!("../../../python/hydrofoil/apis/releases/1.36.json")).expect("a release")
});

/// The time of all cases.
const NOW: Timestamp = Timestamp { seconds: 1_800_000_000, nanos: 0 };

static CATALOG: LazyLock<Catalog> = LazyLock::new(|| {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../python/hydrofoil/apis/data/catalog.json");
    Catalog::parse(&std::fs::read(path).expect("the package data is there")).expect("the package data parses")
});

#[derive(Default)]
struct Figures {
    fields: usize,
    exact: usize,
    total: usize,
}

/// One resource and its types.
pub struct Target {
    pub kind: Kind,
    pub schema: Schema,
    pub subresource: String,
}

/// Return the resource that a request path names.
pub fn target(path: &str) -> Option<Target> {
    let path = path.split('?').next().unwrap_or(path);
    let parts: Vec<&str> = path.trim_matches('/').split('/').collect();
    let (group, version, rest) = match parts.as_slice() {
        ["api", version, rest @ ..] => ("", *version, rest),
        ["apis", group, version, rest @ ..] => (*group, *version, rest),
        _ => return None,
    };
    let rest = match rest {
        ["namespaces", _, plural, ..] if CATALOG.resource(group, version, plural).is_some() => &rest[2..],
        _ => rest,
    };
    let plural = rest.first()?;
    let r = CATALOG.resource(group, version, plural)?;
    Some(Target {
        kind: Kind::of(r, *RELEASE),
        schema: CATALOG.schema(&r.type_name)?,
        subresource: rest.get(2).map_or(String::new(), |s| (*s).to_owned()),
    })
}

fn namespace(path: &str) -> String {
    path.split("/namespaces/").nth(1).and_then(|p| p.split(['/', '?']).next()).unwrap_or("").to_owned()
}

/// Return a new object as a server would create it; `Err` with the causes.
pub fn create(target: &Target, path: &str, body: &Json, warnings: &mut Vec<String>) -> Result<Value, Causes> {
    let text = serde_json::to_vec(body).unwrap();
    let mut value = match json::decode(&target.schema, &text) {
        Ok(decoded) => decoded.value,
        Err(e) => {
            let mut causes = Causes::new();
            causes.required(&hydrofoil_types::Path::new("undecodable"), &e.to_string());
            return Err(causes);
        }
    };
    let unlabelled = value.at(&["metadata", "labels"]).is_none_or(Value::is_zero);
    default::apply(&target.kind, &mut value, NOW);
    let ns = namespace(path);
    let map = value.object_at_mut(&["metadata"]);
    if target.kind.namespaced {
        map.set("namespace", Value::from(ns));
    } else {
        map.remove("namespace");
    }
    if map.str("name").is_empty() && !map.str("generateName").is_empty() {
        let base: String = map.str("generateName").chars().take(58).collect();
        let name = format!("{base}xxxxx");
        map.set("name", Value::from(name));
    }
    map.set("uid", Value::from("00000000-0000-0000-0000-000000000000"));
    map.set("creationTimestamp", Value::from("2001-02-03T04:05:06Z"));
    map.remove("deletionTimestamp");
    map.remove("deletionGracePeriodSeconds");
    map.remove("selfLink");
    map.remove("managedFields");
    let map = value.object_at_mut(&[]);
    map.set("kind", Value::from(target.kind.kind.clone()));
    let gv = if target.kind.group.is_empty() {
        target.kind.version.to_string()
    } else {
        format!("{}/{}", target.kind.group, target.kind.version)
    };
    map.set("apiVersion", Value::from(gv));
    let req = Request { kind: &target.kind, subresource: "", old: None, now: NOW };
    prepare::create(&req, &mut value);
    if unlabelled {
        prepare::complete_unlabelled(&target.kind, &mut value);
    }
    admit::create(&target.kind, &mut value);
    let causes = validate::create(&req, &value);
    if causes.is_empty() {
        warnings.extend(warn::create(&req, &value));
        Ok(value)
    } else {
        Err(causes)
    }
}

fn update(target: &Target, mut value: Value, old: &Value, warnings: &mut Vec<String>) -> Result<Value, Causes> {
    default::apply(&target.kind, &mut value, NOW);
    let keep = ["uid", "creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds", "generation"];
    for key in keep {
        let before = old.at(&["metadata", key]).cloned();
        let map = value.object_at_mut(&["metadata"]);
        match before {
            Some(v) => map.set(key, v),
            // A server fills in what marks a deletion, and leaves it to validation otherwise.
            None if key.starts_with("deletion") => {}
            None => drop(map.remove(key)),
        }
    }
    if value.str_at(&["metadata", "resourceVersion"]).is_empty()
        && hydrofoil_schema::traits(&target.kind).allow_unconditional_update
    {
        value.object_at_mut(&["metadata"]).set("resourceVersion", Value::from("1"));
    }
    let req = Request { kind: &target.kind, subresource: &target.subresource, old: Some(old), now: NOW };
    prepare::update(&req, &mut value);
    let causes = validate::update(&req, &value);
    if causes.is_empty() {
        warnings.extend(warn::update(&req, &value));
        Ok(value)
    } else {
        Err(causes)
    }
}

fn expected_causes(answer: &Json) -> Vec<(String, String, String)> {
    let list = answer["body"]["details"]["causes"].as_array().cloned().unwrap_or_default();
    let text = |c: &Json, k: &str| c[k].as_str().unwrap_or("").to_owned();
    list.iter().map(|c| (text(c, "field"), text(c, "reason"), text(c, "message"))).collect()
}

fn found_causes(causes: &Causes) -> Vec<(String, String, String)> {
    causes.as_slice().iter().map(|c| (c.field.to_string(), c.reason.wire().to_owned(), c.message.to_string())).collect()
}

/// Return the outcome of a case, or `None` when it is of no concern here.
fn run(case: &Json) -> Option<(bool, bool, String)> {
    let answer = &case["answer"];
    let code = answer["code"].as_i64()?;
    let path = case["path"].as_str()?;
    let verb = case["verb"].as_str()?;
    if case["body"].is_null() || case["raw"].is_string() {
        return None;
    }
    let invalid = code == 422 && answer["body"]["reason"] == "Invalid";
    if !(invalid || code == 201 || code == 200) || path.contains("tables") {
        return None;
    }
    let case = &expand(case);
    let target = target(path)?;
    let mut warnings = Vec::new();
    let before = case["before"].as_array().cloned().unwrap_or_default();
    let outcome = match verb {
        "POST" if before.is_empty() && target.subresource.is_empty() => {
            create(&target, path, &case["body"], &mut warnings)
        }
        "PATCH" | "PUT" => {
            if !matches!(target.subresource.as_str(), "" | "status" | "ephemeralcontainers" | "resize" | "approval") {
                return None;
            }
            let old = change::stored(&before, path)?;
            let text = json::encode(&target.schema, &old);
            let json_old: Json = serde_json::from_slice(&text).unwrap();
            let new = if verb == "PUT" { case["body"].clone() } else { change::patched(&json_old, case)? };
            let mut decoded = json::decode(&target.schema, &serde_json::to_vec(&new).unwrap()).ok()?.value;
            let map = decoded.object_at_mut(&["metadata"]);
            if target.kind.namespaced {
                map.set("namespace", Value::from(namespace(path)));
            }
            map.remove("managedFields");
            update(&target, decoded, &old, &mut warnings)
        }
        _ => return None,
    };
    Some(match outcome {
        Err(causes) => {
            let found = found_causes(&causes);
            if !invalid {
                return Some((false, false, format!("wanted {code}, found {found:?}")));
            }
            let mut wanted = expected_causes(answer);
            let key = |c: &(String, String, String)| (c.0.clone(), c.1.clone());
            let mut a: Vec<_> = found.iter().map(key).collect();
            let mut b: Vec<_> = wanted.iter().map(key).collect();
            a.sort();
            a.dedup();
            b.sort();
            b.dedup();
            let mut found = found;
            dedup(&mut found);
            dedup(&mut wanted);
            (a == b, found == wanted, format!("wanted {wanted:#?}\nfound {found:#?}"))
        }
        Ok(value) => {
            if invalid {
                return Some((false, false, format!("wanted {:#?}\nfound nothing", expected_causes(answer))));
            }
            let text = json::encode(&target.schema, &value);
            let found: Json = serde_json::from_slice(&text).unwrap();
            let (found, wanted) = (admit::level(found), admit::level(answer["body"].clone()));
            let same = found == wanted;
            let reported: Vec<String> = answer["warnings"]
                .as_array()
                .map(|l| l.iter().filter_map(Json::as_str).map(str::to_owned).collect())
                .unwrap_or_default();
            (
                same,
                same && reported == warnings,
                format!("{}\nwarnings wanted {reported:?}\nfound {warnings:?}", change::difference(&wanted, &found)),
            )
        }
    })
}

fn dedup(list: &mut Vec<(String, String, String)>) {
    let mut seen = Vec::new();
    list.retain(|c| {
        let new = !seen.contains(c);
        seen.push(c.clone());
        new
    });
}

/// Write out `${repeat:N:c}`.
fn expand(case: &Json) -> Json {
    fn walk(value: &mut Json) {
        match value {
            Json::String(s) => {
                while let Some(at) = s.find("${repeat:") {
                    let Some(end) = s[at..].find('}') else { return };
                    let inner = &s[at + 9..at + end];
                    let Some((n, c)) = inner.split_once(':') else { return };
                    let text = c.repeat(n.parse().unwrap_or(0));
                    s.replace_range(at..=at + end, &text);
                }
                if s == "${rv}" {
                    "1".clone_into(s);
                } else if s == "${uid}" {
                    "00000000-0000-0000-0000-000000000000".clone_into(s);
                }
            }
            Json::Array(a) => a.iter_mut().for_each(walk),
            Json::Object(m) => {
                let keys: Vec<String> = m.keys().filter(|k| k.contains("${repeat")).cloned().collect();
                for key in keys {
                    let mut k = Json::String(key.clone());
                    walk(&mut k);
                    let v = m.remove(&key).unwrap();
                    m.insert(k.as_str().unwrap().to_owned(), v);
                }
                m.values_mut().for_each(walk);
            }
            _ => {}
        }
    }
    let mut out = case.clone();
    let answer = out["answer"].take();
    walk(&mut out);
    out["answer"] = answer;
    out
}

/// The rest needs other objects, admission or a server; `tests/conformance` has floors for the whole. The least number of
/// cases, and the least shares of them in percent whose fields agree, and that agree to the letter.
const FLOOR: (usize, f64, f64) = (11_000, 97.0, 95.5);

#[test]
fn corpus_is_answered() {
    let sum = answered(&corpus());
    let share = |part: usize| 100.0 * part as f64 / sum.total as f64;
    let (total, fields, exact) = FLOOR;
    assert!(sum.total >= total, "{} cases", sum.total);
    assert!(share(sum.fields) >= fields, "{:.2} % of {} cases have the right fields", share(sum.fields), sum.total);
    assert!(share(sum.exact) >= exact, "{:.2} % of {} cases are exact", share(sum.exact), sum.total);
}

/// The project's own cases, of every way in which built-in kinds are refused or completed: all agree to the letter.
#[test]
fn own_corpus_is_answered() {
    let sum = answered(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus"));
    assert!(sum.total >= 30, "{} cases", sum.total);
    assert_eq!((sum.fields, sum.exact), (sum.total, sum.total));
}

/// Run the cases of a folder and print how many agree, by resource.
fn answered(dir: &Path) -> Figures {
    let only = std::env::var("CORPUS_ONLY").unwrap_or_default();
    let id = std::env::var("CORPUS_ID").unwrap_or_default();
    let by = std::env::var("CORPUS_BY").unwrap_or_default();
    let strict = std::env::var("CORPUS_EXACT").is_ok();
    let mut show: usize = std::env::var("CORPUS_SHOW").ok().and_then(|n| n.parse().ok()).unwrap_or(0);
    let mut figures: BTreeMap<SmolStr, Figures> = BTreeMap::new();
    let mut files: Vec<_> = std::fs::read_dir(dir).unwrap().map(|f| f.unwrap().path()).collect();
    files.sort();
    for file in files {
        let name = file.file_name().unwrap().to_string_lossy().into_owned();
        if !name.contains(&only) || name.starts_with("tables") {
            continue;
        }
        for case in cases(&file) {
            let case_id = case["id"].as_str().unwrap_or("").to_owned();
            if !case_id.contains(&id) {
                continue;
            }
            let Some((fields, exact, reported)) = run(&case) else { continue };
            let key = if by == "class" { case["class"].as_str() } else { case["resource"].as_str() };
            let f = figures.entry(SmolStr::new(key.unwrap_or(""))).or_default();
            f.total += 1;
            f.fields += usize::from(fields);
            f.exact += usize::from(exact);
            if show > 0 && (!fields || (strict && !exact)) {
                show -= 1;
                println!("--- {case_id}\n{reported}");
            }
        }
    }
    let mut sum = Figures::default();
    for (key, f) in &figures {
        println!("{key:60} fields {:5} exact {:5} of {:5}", f.fields, f.exact, f.total);
        sum.fields += f.fields;
        sum.exact += f.exact;
        sum.total += f.total;
    }
    println!("{:60} fields {:5} exact {:5} of {:5}", "all", sum.fields, sum.exact, sum.total);
    sum
}

#[test]
fn odd_values_never_panic() {
    // Frames of a debug build are large, and expressions nest; the thread that serves has as much.
    let thread = std::thread::Builder::new().stack_size(8 << 20).spawn(odd_values).expect("a thread starts");
    thread.join().expect("no value panics");
}

fn odd_values() {
    let mut seen = 0;
    let rounds: usize = std::env::var("HARDY_ROUNDS").ok().and_then(|n| n.parse().ok()).unwrap_or(1);
    let mut dice = hardy::Dice(0x9e37_79b9_7f4a_7c15);
    for file in std::fs::read_dir(corpus()).unwrap().map(|f| f.unwrap().path()) {
        let mut last: Option<(SmolStr, Value)> = None;
        for case in cases(&file) {
            let Some(target) = case["path"].as_str().and_then(target) else { continue };
            if !case["body"].is_object() {
                continue;
            }
            for _ in 0..rounds {
                let mut body = case["body"].clone();
                hardy::mangle(&mut body, &mut dice);
                let Ok(decoded) = json::decode(&target.schema, &serde_json::to_vec(&body).unwrap()) else { continue };
                seen += 1;
                if let Some((_, old)) = last.as_ref().filter(|(kind, _)| *kind == target.kind.kind) {
                    hardy::all(&target, &decoded.value, old);
                } else {
                    hardy::all(&target, &decoded.value, &decoded.value);
                }
                last = Some((target.kind.kind.clone(), decoded.value));
            }
        }
    }
    assert!(seen > 5000, "{seen} objects");
}
