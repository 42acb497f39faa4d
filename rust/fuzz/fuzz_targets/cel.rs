//! A rule of a custom resource: compiled against a schema, estimated, and run on an object of it.
#![no_main]

use std::sync::{Arc, LazyLock};

use hydrofoil_cel::{Decl, Kind, Program, Variables};
use hydrofoil_codec::json;
use hydrofoil_types::Value;
use libfuzzer_sys::fuzz_target;

const SCHEMA: &str = r#"{"type":"object","properties":{"s":{"type":"string","maxLength":20},"i":{"type":"integer"},
"n":{"type":"number"},"b":{"type":"boolean"},"l":{"type":"array","items":{"type":"string"}},
"m":{"type":"object","additionalProperties":{"type":"integer"}},"x":{"x-kubernetes-int-or-string":true},
"d":{"type":"string","format":"duration"},"t":{"type":"string","format":"date-time"}}}"#;
const OBJECT: &str =
    r#"{"s":"héllo","i":7,"n":2.5,"b":true,"l":["a","b"],"m":{"p":1},"x":5,"d":"1h","t":"2024-02-29T12:34:56Z"}"#;

static DECL: LazyLock<(Arc<Decl>, Value)> = LazyLock::new(|| {
    let parsed = |text: &str| json::parse(text.as_bytes()).expect("JSON").value;
    (Decl::compile(&parsed(SCHEMA), false).expect("an object is seen"), parsed(OBJECT))
});

fuzz_target!(|data: &[u8]| {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let (decl, this) = &*DECL;
    for kind in [Kind::Bool, Kind::Text] {
        if let Ok(program) = Program::compile(text, decl, false, kind) {
            let on = Variables { this, old: Some(this), decl };
            let _ = (program.truth(on, None), program.text(on, None));
        }
    }
});
