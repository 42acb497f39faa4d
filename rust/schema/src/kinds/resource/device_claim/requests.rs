//! Names of requests, as constraints and results write them.

use hydrofoil_types::{Causes, KeySet, Path, Value};

use hydrofoil_rules::check::Check;
use hydrofoil_rules::format::name;
use hydrofoil_types::read::Read;

/// Return the names of the requests and of their choices.
pub(crate) fn names(devices: &Value) -> KeySet<String> {
    let mut out = KeySet::default();
    for request in devices.list("requests") {
        let own = request.text("name");
        out.insert(own.to_owned());
        for sub in request.list("firstAvailable") {
            out.insert(format!("{own}/{}", sub.text("name")));
        }
    }
    out
}

/// `validateRequestNameRef`.
pub(crate) fn validate(text: &str, names: &KeySet<String>, at: &Path<'_>, causes: &mut Causes) {
    let parts: Vec<&str> = text.split('/').collect();
    if parts.len() > 2 {
        let detail =
            "must be the name of a request in the claim or the name of a request and a subrequest separated by '/'";
        return causes.invalid_str(at, text, detail);
    }
    for part in parts {
        causes.format(at, part, name::label);
    }
    if !names.contains(&text.to_owned()) {
        let detail =
            "must be the name of a request in the claim or the name of a request and a subrequest separated by '/'";
        causes.invalid_str(at, text, detail);
    }
}
