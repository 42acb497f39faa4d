//! Every accepted object of the recorded corpora: JSON, protobuf and back is the identity.

mod common;

use common::{kind_of, recordings, root, served};
use hydrofoil_codec::{json, proto};

/// Kind and version inside an object, which protobuf cannot hold: upstream sets them in `StatefulSet`s on conversion.
const EMBEDDED: &str = "\"kind\":\"PersistentVolumeClaim\",\"apiVersion\":\"v1\",";

/// The replacement for the recordings' placeholder of a time.
const TIME: &str = "\"2026-01-02T03:04:05Z\"";

#[test]
fn accepted_objects_survive_protobuf() {
    let catalog = served();
    let entries = std::fs::read_dir(root().join("tests/conformance/answers/corpus")).expect("the recorded corpora");
    let mut seen = 0;
    let mut wrong = Vec::new();
    for entry in entries {
        for case in recordings(&entry.expect("a readable folder").path()) {
            let accepted = case["answer"]["code"].as_u64().is_some_and(|code| code < 300);
            for body in [&case["body"], &case["answer"]["body"]].into_iter().filter(|_| accepted) {
                let (Some(version), Some(kind)) = (body["apiVersion"].as_str(), body["kind"].as_str()) else {
                    continue;
                };
                // Custom resources and tables have no protobuf form.
                let Some(schema) = kind_of(&catalog, version, kind).filter(|s| !s.root().proto.is_empty()) else {
                    continue;
                };
                let text = body.to_string().replace("\"<time>\"", TIME).replace("\"<port>\"", "30000");
                let decoded = json::decode(&schema, text.as_bytes())
                    .unwrap_or_else(|e| panic!("{}: what was accepted is refused: {e}", case["id"]));
                seen += 1;
                let inner = |text: &[u8]| {
                    let text = String::from_utf8_lossy(text);
                    if kind == "StatefulSet" { text.replace(EMBEDDED, "") } else { text.into_owned() }
                };
                let sent = inner(&json::encode(&schema, &decoded.value));
                let message = proto::envelope(version, kind, &proto::encode(&schema, &decoded.value));
                let back = proto::decode(&schema, &message).map(|value| inner(&json::encode(&schema, &value)));
                if back.as_ref() != Ok(&sent) {
                    wrong.push(format!("{}: {sent} became {back:?}", case["id"]));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{} of {seen}\n{}", wrong.len(), wrong[..wrong.len().min(20)].join("\n"));
    assert!(seen > 5000, "only {seen} objects");
}
