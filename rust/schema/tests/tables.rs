//! The recorded tables of kube-apiserver against columns and rows.
//!
//! `TABLES_SHOW=20` prints differences.

#![allow(clippy::print_stdout, missing_docs, reason = "the figures are what this test is for")]

mod recordings;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, LazyLock};

use hydrofoil_codec::json;
use hydrofoil_schema::{Kind, Release, Request, default, prepare, table};
use hydrofoil_types::{Catalog, Resource, Schema, Timestamp, Value};
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

/// Cases whose cells depend on other parts of a whole server than storage, and the reasons.
const ELSEWHERE: &[(&str, &str)] = &[
    ("flowschemas/table/one/t-minimal", "the flow controller in the server finds the priority level missing"),
    ("flowschemas/table/one/t-typical", "the same controller finds the level that its status says is missing"),
    ("flowschemas/table/version-v1beta1", "the same"),
    ("apiservices/table/one/v2beta1.corpus.example.com", "the aggregator finds no service"),
    ("secrets/table/one/t-opaque", "stringData is merged by the conversion of what a client sends"),
];

/// The placeholder for values that allocators and admission set when an object lacks them.
const ADMITTED: &str = "<admitted>";

struct Target {
    resource: Arc<Resource>,
    schema: Schema,
    namespace: Option<String>,
}

fn target(path: &str) -> Option<Target> {
    let path = path.split('?').next()?;
    let parts: Vec<&str> = path.trim_matches('/').split('/').collect();
    let (group, version, rest) = match parts.as_slice() {
        ["api", version, rest @ ..] => ("", *version, rest),
        ["apis", group, version, rest @ ..] => (*group, *version, rest),
        _ => return None,
    };
    let (namespace, plural) = match rest {
        ["namespaces", namespace, plural, ..] if CATALOG.resource(group, version, plural).is_some() => {
            (Some((*namespace).to_owned()), plural)
        }
        [plural, ..] => (None, plural),
        [] => return None,
    };
    let resource = Arc::clone(CATALOG.resource(group, version, plural)?);
    let schema = CATALOG.schema(&resource.type_name)?;
    Some(Target { resource, schema, namespace })
}

/// Return an object of `before` as the server would store it.
fn stored(step: &Json) -> (Target, Value) {
    let target = target(step["path"].as_str().expect("a path")).expect("a known resource");
    let kind = Kind::of(&target.resource, *RELEASE);
    let decode = |body: &Json| {
        json::decode(&target.schema, &serde_json::to_vec(body).expect("JSON")).expect("a recorded object decodes").value
    };
    let mut value = decode(&step["body"]);
    default::apply(&kind, &mut value, NOW);
    let meta = value.object_at_mut(&["metadata"]);
    meta.set("uid", "00000000-0000-0000-0000-000000000000");
    meta.set("creationTimestamp", NOW.rfc3339());
    if let Some(namespace) = &target.namespace {
        meta.set("namespace", namespace.as_str());
    }
    let unlabelled = value.at(&["metadata", "labels"]).is_none_or(Value::is_zero);
    prepare::create(&Request { kind: &kind, subresource: "", old: None, now: NOW }, &mut value);
    if unlabelled {
        prepare::complete_unlabelled(&kind, &mut value);
    }
    admit(&kind, &mut value);
    if step["status"].is_object() {
        let mut body: Json = serde_json::from_slice(&json::encode(&target.schema, &value)).expect("JSON");
        merge(&mut body["status"], &step["status"]);
        value = decode(&body);
    }
    (target, value)
}

/// Set cluster addresses and the name of the user.
fn admit(kind: &Kind, value: &mut Value) {
    match kind.kind.as_str() {
        "Service" => {
            let spec = value.object_at_mut(&["spec"]);
            let given = spec.str("clusterIP").to_owned();
            if spec.str("type") != "ExternalName" && !spec.contains_key("clusterIPs") {
                let address = if given.is_empty() { ADMITTED } else { &given };
                spec.set("clusterIPs", vec![Value::from(address)]);
            }
        }
        "CertificateSigningRequest" => value.object_at_mut(&["spec"]).set("username", "admin"),
        _ => {}
    }
}

fn merge(target: &mut Json, patch: &Json) {
    let Json::Object(patch) = patch else {
        *target = patch.clone();
        return;
    };
    if !target.is_object() {
        *target = Json::Object(serde_json::Map::new());
    }
    let map = target.as_object_mut().expect("made so");
    for (key, value) in patch {
        if value.is_null() {
            map.remove(key);
        } else {
            merge(map.entry(key.clone()).or_insert(Json::Null), value);
        }
    }
}

/// Report whether a cell is as recorded, where some parts are placeholders.
fn same(wanted: &Json, found: &Json, column: Option<&str>) -> bool {
    let (Some(wanted), Some(found)) = (wanted.as_str(), found.as_str()) else { return wanted == found };
    if wanted == found || (wanted == "<address>" && found == ADMITTED) {
        return true;
    }
    let age = |text: &str| {
        let mut parts = text.split_inclusive(['s', 'm', 'h', 'd', 'y']);
        !text.is_empty() && parts.all(|p| p.len() > 1 && p[..p.len() - 1].bytes().all(|b| b.is_ascii_digit()))
    };
    if let Some((before, after)) = wanted.split_once("<age>") {
        return found.strip_prefix(before).and_then(|f| f.strip_suffix(after)).is_some_and(age);
    }
    if wanted == "<time>" {
        return Timestamp::parse(found).is_some();
    }
    if let Some(before) = wanted.strip_suffix("<uid>") {
        return found.strip_prefix(before).is_some_and(|uid| uid.len() == 36);
    }
    // Ages of a cell without a column were recorded as they were.
    column.is_none() && age(wanted) && age(found)
}

fn name_of(cells: &[Json], at: usize) -> &str {
    // Classes show that they are the default after their name.
    cells.get(at).and_then(Json::as_str).map_or("", |n| n.trim_end_matches(" (default)"))
}

/// Return the differences of a case; empty when there are none.
fn differences(case: &Json) -> Vec<String> {
    let body = &case["answer"]["body"];
    let wanted = target(case["path"].as_str().expect("a path")).expect("a known resource");
    let mut out = Vec::new();
    let mut columns: Json = serde_json::from_slice(&json::encode_any(&Value::Array(table::columns(
        &Kind::of(&wanted.resource, *RELEASE),
        &wanted.resource,
    ))))
    .expect("JSON");
    for column in columns.as_array_mut().expect("a list") {
        if column.as_object_mut().expect("an object").remove("description").is_none() {
            out.push(format!("no description of {column}"));
        }
    }
    if columns != body["columnDefinitions"] {
        out.push(format!("columns: wanted {} found {columns}", body["columnDefinitions"]));
    }
    let titles: Vec<&str> = columns.as_array().expect("a list").iter().filter_map(|c| c["name"].as_str()).collect();
    let at = titles.iter().position(|t| *t == "Name").expect("every table shows names");
    let selects = case["path"].as_str().is_some_and(|p| p.contains("Selector="));
    let empty = Vec::new();
    let rows = body["rows"].as_array().unwrap_or(&empty);
    let mut matched = 0;
    for step in case["before"].as_array().unwrap_or(&empty) {
        let (target, value) = stored(step);
        if (&target.resource.group, &target.resource.kind) != (&wanted.resource.group, &wanted.resource.kind) {
            continue;
        }
        let name = step["body"]["metadata"]["name"].as_str().expect("a name");
        let row = table::row(&Kind::of(&wanted.resource, *RELEASE), &value, NOW);
        let found: Vec<Json> =
            row.cells.iter().map(|c| serde_json::from_slice(&json::encode_any(c)).expect("JSON")).collect();
        let Some(cells) = rows.iter().filter_map(|r| r["cells"].as_array()).find(|c| name_of(c, at) == name) else {
            if !selects {
                out.push(format!("{name} is not in the recorded table"));
            }
            continue;
        };
        matched += 1;
        let equal = cells.len() == found.len()
            && cells.iter().zip(&found).enumerate().all(|(i, (w, f))| same(w, f, titles.get(i).copied()));
        if !equal {
            out.push(format!("wanted {cells:?}\n found {found:?}"));
        }
    }
    // Lists of kinds of which a server itself creates objects hold more.
    let own = ["flowschemas", "prioritylevelconfigurations", "priorityclasses", "namespaces", "apiservices"];
    if matched != rows.len() && !own.contains(&wanted.resource.plural.as_str()) {
        out.push(format!("{} recorded rows, {matched} made", rows.len()));
    }
    out
}

#[test]
fn corpus_is_answered() {
    let mut show: usize = std::env::var("TABLES_SHOW").ok().and_then(|n| n.parse().ok()).unwrap_or(20);
    let mut figures: BTreeMap<String, (usize, usize, usize)> = BTreeMap::new();
    let mut failed = Vec::new();
    for case in recordings::cases(&recordings::corpus().join("tables.jsonl.gz")) {
        if case["class"] != "table" || case["answer"]["body"]["kind"] != "Table" {
            continue;
        }
        let id = case["id"].as_str().expect("an id").to_owned();
        let (passed, elsewhere, total) = figures.entry(case["resource"].as_str().unwrap_or("").to_owned()).or_default();
        *total += 1;
        let reported = differences(&case);
        if reported.is_empty() {
            *passed += 1;
            continue;
        }
        if let Some((_, reason)) = ELSEWHERE.iter().find(|(end, _)| id.ends_with(end)) {
            println!("--- {id}: not asserted, {reason}");
            *elsewhere += 1;
            continue;
        }
        if show > 0 {
            show -= 1;
            println!("--- {id}\n{}", reported.join("\n"));
        }
        failed.push(id);
    }
    let mut sum = (0, 0, 0);
    for (resource, (passed, elsewhere, total)) in &figures {
        println!("{resource:66} passed {passed:3} explained {elsewhere:2} of {total:3}");
        sum = (sum.0 + passed, sum.1 + elsewhere, sum.2 + total);
    }
    println!("{:66} passed {:3} explained {:2} of {:3}", "all", sum.0, sum.1, sum.2);
    assert!(sum.2 >= 340, "only {} tables", sum.2);
    assert!(failed.is_empty(), "{} tables differ: {failed:?}", failed.len());
}

/// Rows that the corpus lacks, as `printPod` of 1.36.1 made them when it was run on the same objects.
#[test]
fn pods_tell_their_state() {
    let resource = CATALOG.resource("", "v1", "pods").expect("pods are known");
    let now = Timestamp::parse("2024-01-01T01:00:00Z").expect("a time");
    for (spec, status, deleted, ready, state, restarts) in [
        (
            r#"{"initContainers":[{"name":"i"},{"name":"s","restartPolicy":"Always"}],"containers":[{"name":"c"}]}"#,
            r#"{"phase":"Pending","initContainerStatuses":[{"name":"i","restartCount":2,"state":{"waiting":{}}}]}"#,
            false,
            "0/2",
            "Init:0/2",
            "2",
        ),
        (
            r#"{"initContainers":[{"name":"s","restartPolicy":"Always"}],"containers":[{"name":"c"}]}"#,
            r#"{"phase":"Running","initContainerStatuses":[{"name":"s","restartCount":1,"started":true,"ready":true,
                "lastState":{"terminated":{"exitCode":1,"finishedAt":"2024-01-01T00:00:00Z"}}}],
                "containerStatuses":[{"name":"c","restartCount":3,"state":{"terminated":{"exitCode":137,"signal":9}}}]}"#,
            false,
            "1/2",
            "Signal:9",
            "4 (60m ago)",
        ),
        (
            r#"{"containers":[{"name":"c"},{"name":"d"}]}"#,
            r#"{"phase":"Running","containerStatuses":[{"name":"c","state":{"terminated":{"reason":"Completed"}}},
                {"name":"d","ready":true,"state":{"running":{}}}]}"#,
            false,
            "1/2",
            "NotReady",
            "0",
        ),
        (r#"{"containers":[{"name":"c"}]}"#, r#"{"phase":"Running"}"#, true, "0/1", "Terminating", "0"),
        (r#"{"containers":[{"name":"c"}]}"#, r#"{"phase":"Failed","reason":"Evicted"}"#, true, "0/1", "Evicted", "0"),
    ] {
        let deleted = if deleted { r#","deletionTimestamp":"2024-01-01T00:00:00Z""# } else { "" };
        let text = format!(r#"{{"metadata":{{"name":"p"{deleted}}},"spec":{spec},"status":{status}}}"#);
        let pod = json::parse(text.as_bytes()).expect("JSON").value;
        let row = table::row(&Kind::of(resource, *RELEASE), &pod, now);
        let wanted = ["p", ready, state, restarts, "<unknown>", "<none>", "<none>", "<none>", "<none>"];
        assert_eq!(row.cells, wanted.map(Value::from), "{text}");
        assert_eq!(row.conditions.len(), usize::from(status.contains("Failed")), "{text}");
    }
}
