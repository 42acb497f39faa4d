//! Stored values: arbitrary bytes are read or refused, and no byte that is authenticated can be changed.
#![no_main]

use hydrofoil_encryption::{Settings, Transformers};
use libfuzzer_sys::fuzz_target;

const KEY: &str = "/registry/secrets/a/b";
/// A key of 32 bytes in base64.
const SECRET: &str = "YWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWE=";

fn providers(kinds: &[&str]) -> Transformers {
    let provider = |kind: &&str| format!(r#"{{"{kind}":[{{"name":"k","secret":"{SECRET}"}}]}}"#);
    let listed = kinds.iter().map(provider).collect::<Vec<_>>().join(",");
    let text = format!(r#"{{"resources":[{{"resources":["*.*"],"providers":[{listed},"identity"]}}]}}"#);
    Transformers::new(&Settings::parse(&text).expect("it is valid")).expect("it is valid")
}

fuzz_target!(|data: &[u8]| {
    let Some((&kind, rest)) = data.split_first() else { return };
    let kind = ["aescbc", "aesgcm", "secretbox"][usize::from(kind) % 3];
    let own = providers(&[kind]);
    let _ = own.from_storage("secrets", KEY, rest);
    let prefixed = [format!("k8s:enc:{kind}:v1:k:").as_bytes(), rest].concat();
    let found = own.from_storage("secrets", KEY, &prefixed);
    assert!(found.is_err() || kind == "aescbc", "it was never written");
    let stored = own.to_storage("secrets", KEY, rest).expect("it is written");
    assert_eq!(own.from_storage("secrets", KEY, &stored).expect("it is read"), (rest.to_vec(), false));
    let all = providers(&["secretbox", "aesgcm", "aescbc"]);
    assert_eq!(all.from_storage("secrets", KEY, &stored).expect("it is read"), (rest.to_vec(), kind != "secretbox"));
});
