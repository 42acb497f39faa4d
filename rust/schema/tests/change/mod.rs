//! Objects that exist before a case, and patches of them.

use hydrofoil_types::Value;
use serde_json::Value as Json;

/// Return the object that the path of an update names, from the `before` of its case.
pub fn stored(before: &[Json], path: &str) -> Option<Value> {
    let path = path.split('?').next()?;
    for item in before.iter().rev() {
        let here = item["path"].as_str()?.split('?').next()?;
        let name = item["body"]["metadata"]["name"].as_str()?;
        let own = format!("{here}/{name}");
        if path != own && !path.starts_with(&format!("{own}/")) {
            continue;
        }
        let target = super::target(here)?;
        let mut value = super::create(&target, here, &item["body"], &mut Vec::new()).ok()?;
        if !item["status"].is_null() {
            let text = hydrofoil_codec::json::encode(&target.schema, &value);
            let mut json: Json = serde_json::from_slice(&text).ok()?;
            let status = item["status"].get("status").unwrap_or(&item["status"]).clone();
            merge(&mut json["status"], &status);
            value = hydrofoil_codec::json::decode(&target.schema, &serde_json::to_vec(&json).ok()?).ok()?.value;
        }
        value.object_at_mut(&["metadata"]).set("resourceVersion", Value::from("1"));
        return Some(value);
    }
    None
}

/// Return the object of a JSON patch or merge patch; `None` for other kinds of patches.
pub fn patched(old: &Json, case: &Json) -> Option<Json> {
    let mut new = old.clone();
    match case["type"].as_str()? {
        "application/merge-patch+json" => merge(&mut new, &case["body"]),
        "application/json-patch+json" => {
            for op in case["body"].as_array()? {
                operate(&mut new, op)?;
            }
        }
        _ => return None,
    }
    Some(new)
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

fn operate(doc: &mut Json, op: &Json) -> Option<()> {
    let pointer = op["path"].as_str()?;
    let (parent, last) = pointer.rsplit_once('/')?;
    let last = last.replace("~1", "/").replace("~0", "~");
    let holder = doc.pointer_mut(parent)?;
    match (op["op"].as_str()?, holder) {
        ("add" | "replace", Json::Object(map)) => drop(map.insert(last, op["value"].clone())),
        ("remove", Json::Object(map)) => drop(map.remove(&last)?),
        ("add", Json::Array(list)) if last == "-" => list.push(op["value"].clone()),
        ("add", Json::Array(list)) => {
            let at = last.parse::<usize>().ok().filter(|i| *i <= list.len())?;
            list.insert(at, op["value"].clone());
        }
        ("replace", Json::Array(list)) => *list.get_mut(last.parse::<usize>().ok()?)? = op["value"].clone(),
        ("remove", Json::Array(list)) => {
            let at = last.parse::<usize>().ok().filter(|i| *i < list.len())?;
            list.remove(at);
        }
        _ => return None,
    }
    Some(())
}

/// Return where two documents differ.
pub fn difference(wanted: &Json, found: &Json) -> String {
    let mut out = String::new();
    walk(wanted, found, "", &mut out);
    out
}

fn walk(a: &Json, b: &Json, path: &str, out: &mut String) {
    match (a, b) {
        (Json::Object(x), Json::Object(y)) => {
            for key in x.keys().chain(y.keys().filter(|k| !x.contains_key(*k))) {
                let null = Json::String("(absent)".to_owned());
                walk(x.get(key).unwrap_or(&null), y.get(key).unwrap_or(&null), &format!("{path}.{key}"), out);
            }
        }
        (Json::Array(x), Json::Array(y)) if x.len() == y.len() => {
            for (i, (v, w)) in x.iter().zip(y).enumerate() {
                walk(v, w, &format!("{path}[{i}]"), out);
            }
        }
        _ if a == b => {}
        _ => out.extend([path, ": wanted ", &a.to_string(), " found ", &b.to_string(), "\n"]),
    }
}
