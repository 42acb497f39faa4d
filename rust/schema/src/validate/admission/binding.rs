//! Bindings of admission policies.

use hydrofoil_types::{Again, Causes, Path, Value, Whole};

use super::{policy, rules};
use crate::read::Read;
use crate::validate::check::Check;
use crate::validate::format::name;
use crate::validate::selector;

const SPEC: Path<'static> = Path::new("spec");

pub(crate) fn binding(object: &Value, mutating: bool, causes: &mut Causes) {
    let spec = object.sub("spec");
    let at = SPEC.child("policyName");
    if spec.zero("policyName") {
        causes.need(&at);
    } else {
        causes.format(&at, spec.s("policyName"), name::subdomain);
    }
    if let Some(reference) = spec.opt("paramRef") {
        param_ref(reference, &SPEC.child("paramRef"), causes);
    }
    if let Some(resources) = spec.opt("matchResources") {
        let at = SPEC.child("matchResources");
        rules::match_resources(resources, &at, causes);
        if mutating {
            policy::mutable_operations(resources, &at, causes);
        }
    }
    if !mutating {
        actions(spec, causes);
    }
}

fn param_ref(reference: &Value, path: &Path<'_>, causes: &mut Causes) {
    const BOTH: &str = "name and selector are mutually exclusive";
    let own = reference.s("name");
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
    match reference.s("parameterNotFoundAction") {
        "" => causes.need(&at),
        action => causes.one_of(&at, action, &["Deny", "Allow"]),
    }
}

fn actions(spec: &Value, causes: &mut Causes) {
    let at = SPEC.child("validationActions");
    let list = spec.list("validationActions");
    if list.is_empty() {
        causes.required(&at, "at least one validation action is required");
    }
    let again = Again::of(list, Whole);
    for (i, action) in list.iter().enumerate() {
        let text = action.as_str().unwrap_or("");
        causes.one_of(&at.index(i), text, &["Audit", "Deny", "Warn"]);
        if again.at(i) {
            causes.duplicate_str(&at.index(i), text);
        }
    }
    if ["Deny", "Warn"].iter().all(|a| list.iter().any(|v| v.as_str() == Some(a))) {
        let detail = "must not contain both Deny and Warn (repeating the same validation failure information in the API response and headers serves no purpose)";
        causes.invalid(&at, spec.sub("validationActions"), detail);
    }
}
