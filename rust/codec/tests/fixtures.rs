//! Upstream's fixtures, where they are present: JSON and protobuf of one object, byte for byte.

use std::path::Path;

use hydrofoil_codec::{json, proto};
use hydrofoil_types::Catalog;

#[test]
fn fixtures_round_trip() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let data = std::fs::read(root.join("python/hydrofoil/apis/data/catalog.json")).expect("package data");
    let catalog = Catalog::parse(&data).expect("a catalog");
    let folder = root.join("../shared/catalog/fixtures/1.36");
    let Ok(entries) = std::fs::read_dir(&folder) else {
        eprintln!("skipped: the fixtures are absent");
        return;
    };
    let mut seen = 0;
    let mut wrong = Vec::new();
    for path in
        entries.map(|e| e.expect("a readable folder").path()).filter(|p| p.extension().is_some_and(|e| e == "pb"))
    {
        let stem = path.file_stem().expect("a file has a name").to_string_lossy().into_owned();
        let bytes = std::fs::read(&path).expect("a readable fixture");
        let text = std::fs::read(path.with_extension("json")).expect("its twin");
        let (version, kind, _) = proto::unwrap(&bytes).expect("an envelope");
        let found = catalog.arena().types().iter().find(|t| {
            t.gvk.as_ref().is_some_and(|(g, v, k)| {
                *k == kind && if g.is_empty() { *v == version } else { format!("{g}/{v}") == version.as_str() }
            })
        });
        let Some(def) = found else { continue };
        let schema = catalog.schema(&def.name).expect("the type was just found");
        seen += 1;
        let from_json = json::decode(&schema, &text).expect("a good fixture").value;
        let from_proto = match proto::decode(&schema, &bytes) {
            Ok(v) => v,
            Err(e) => {
                wrong.push(format!("{stem}: {e}"));
                continue;
            }
        };
        if json::encode(&schema, &from_json) != json::encode(&schema, &from_proto) {
            wrong.push(format!("{stem}: protobuf reads otherwise than JSON"));
        }
        let written = proto::envelope(&version, &kind, &proto::encode(&schema, &from_json));
        if written != bytes {
            wrong.push(format!("{stem}: written otherwise"));
        }
    }
    eprintln!("{seen} fixtures, {} wrong", wrong.len());
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Go reads a list of small numbers as bytes, and what is null in a map of bytes is stored as none.
#[test]
fn bytes_are_text_or_numbers() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let data = std::fs::read(root.join("python/hydrofoil/apis/data/catalog.json")).expect("package data");
    let catalog = Catalog::parse(&data).expect("a catalog");
    let resource = catalog.resource("", "v1", "configmaps").expect("config maps");
    let schema = catalog.schema(&resource.type_name).expect("their type");
    let read = |bytes: &str| json::decode(&schema, format!(r#"{{"binaryData":{{"k":{bytes}}}}}"#).as_bytes());
    for (bytes, text) in [("\"AQI=\"", "AQI="), ("[1,2]", "AQI="), ("[]", ""), ("[null]", "AA=="), ("null", "")] {
        let read = read(bytes).unwrap_or_else(|e| panic!("{bytes}: {e}")).value;
        assert_eq!(read.str_at(&["binaryData", "k"]), text, "{bytes}");
        assert!(read.at(&["binaryData", "k"]).is_some_and(|v| v.as_str().is_some()), "{bytes}");
    }
    for (bytes, found) in [("[256]", "number 256"), ("[\"a\"]", "string"), ("{}", "object")] {
        let error = read(bytes).expect_err(bytes).to_string();
        assert!(error.contains(&format!("cannot unmarshal {found} into Go")), "{error}");
    }
}
