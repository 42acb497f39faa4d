//! Rules shared by the bindings of admission policies.

use hydrofoil_types::{Causes, Path, Value};

use super::match_resources;
use hydrofoil_rules::check::Check;
use hydrofoil_rules::format::name;
use hydrofoil_rules::selector;
use hydrofoil_rules::table::{self, Subject, cells};
use hydrofoil_types::read::{Read, Write};

const SPEC: Path<'static> = Path::new("spec");

/// Fill optional fields.
pub(super) fn default(object: &mut Value) {
    object.within("spec", |spec| spec.within("matchResources", match_resources::default));
}

/// Validate the fields that both kinds of bindings have.
pub(super) fn validate(object: &Value, mutating: bool, causes: &mut Causes) {
    let spec = object.field("spec");
    let at = SPEC.child("policyName");
    if spec.zero("policyName") {
        causes.need(&at);
    } else {
        causes.format(&at, spec.text("policyName"), name::subdomain);
    }
    if let Some(reference) = spec.opt("paramRef") {
        param_ref(reference, &SPEC.child("paramRef"), causes);
    }
    if let Some(resources) = spec.opt("matchResources") {
        let at = SPEC.child("matchResources");
        match_resources::validate(resources, &at, causes);
        if mutating {
            match_resources::validate_mutable(resources, &at, causes);
        }
    }
}

fn param_ref(reference: &Value, path: &Path<'_>, causes: &mut Causes) {
    const BOTH: &str = "name and selector are mutually exclusive";
    let own = reference.text("name");
    if !own.is_empty() {
        causes.format(&path.child("name"), own, name::path_segment);
        if reference.has("selector") {
            causes.forbidden(&path.child("name"), BOTH);
        }
    }
    if let Some(value) = reference.opt("selector") {
        selector::label_selector(value, &path.child("selector"), causes);
        if !own.is_empty() {
            causes.forbidden(&path.child("selector"), BOTH);
        }
    } else if own.is_empty() {
        causes.required(path, "one of name or selector must be specified");
    }
    let at = path.child("parameterNotFoundAction");
    match reference.text("parameterNotFoundAction") {
        "" => causes.need(&at),
        action => causes.one_of(&at, action, &["Deny", "Allow"]),
    }
}

/// `printMutatingAdmissionPolicyBinding` and `printValidatingAdmissionPolicyBinding`.
pub(super) fn row(subject: &Subject<'_>) -> Vec<Value> {
    let reference = subject.spec().field("paramRef");
    let params = match (reference.text("name"), reference.text("namespace"), reference.opt("selector")) {
        ("", _, Some(selector)) => table::selector::go_text(selector),
        ("", _, None) => "<unset>".to_owned(),
        // Whether the parameters are namespaced is unknown here.
        (name, "", _) => format!("*/{name}"),
        (name, namespace, _) => format!("{namespace}/{name}"),
    };
    cells![subject.name(), subject.spec().text("policyName"), params, subject.age()]
}
