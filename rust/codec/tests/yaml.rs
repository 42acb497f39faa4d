//! YAML is read, refused and reported as by sigs.k8s.io/yaml v1.6.0 on go.yaml.in/yaml/v2 v2.4.3, whose answers to
//! these texts are recorded: `json`, or `err`; `strict` is the error of its strict mode.

use hydrofoil_codec::yaml;
use serde_json::Value;

const RECORDED: &str = include_str!("data/yaml.jsonl");

#[test]
fn texts_are_read_as_upstream_reads_them() {
    let mut wrong = Vec::new();
    let mut seen = 0;
    for line in RECORDED.lines() {
        let case: Value = serde_json::from_str(line).expect("one case a line");
        let text = |name: &str| case[name].as_str().unwrap_or("");
        seen += 1;
        let found = match yaml::to_json(text("yaml").as_bytes()) {
            Ok((json, strict)) => {
                let strict = strict.join("\n  ");
                let lead = if strict.is_empty() { "" } else { "yaml: unmarshal errors:\n  " };
                (String::from_utf8(json).expect("text"), String::new(), format!("{lead}{strict}"))
            }
            Err(why) => {
                let why = why.to_string();
                let why = why.strip_prefix("error converting YAML to JSON: ").unwrap_or(&why);
                (String::new(), why.to_owned(), String::new())
            }
        };
        let wanted = (text("json").to_owned(), text("err").to_owned(), text("strict").to_owned());
        if found != wanted {
            wrong.push(format!("{:?}: {found:?}, not {wanted:?}", text("yaml")));
        }
    }
    assert!(wrong.is_empty(), "{} of {seen}\n{}", wrong.len(), wrong.join("\n"));
    assert!(seen > 200, "only {seen} texts");
}
