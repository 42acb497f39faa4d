//! Mutating admission policies (`pkg/registry/admissionregistration/mutatingadmissionpolicy/strategy.go`).

use hydrofoil_types::{Causes, Path, Value};

use super::expression::{About, Compiler};
use super::policy;
use crate::kind::{GenerationRule, MetadataCheck, Strategy};
use hydrofoil_rules::check::Check;
use hydrofoil_types::read::Read;

pub(crate) static STRATEGY: Strategy = Strategy {
    allow_unconditional_update: false,
    generation: GenerationRule::of_spec("admissionregistration.MutatingAdmissionPolicySpec"),
    default: |_, object, _| policy::default(object),
    metadata_on_update: &[MetadataCheck::Object],
    metadata_on_status: &[],
    kube_finalizers: false,
    validate: |req, object, causes| validate(object, req.old, causes),
    row: Some(|of| policy::row(of, "mutations")),
    ..Strategy::DEFAULT
};

const SPEC: Path<'static> = Path::new("spec");

/// `ValidateMutatingAdmissionPolicy`, with the old object on updates.
fn validate(object: &Value, old: Option<&Value>, causes: &mut Causes) {
    let compiler = policy::validate(object, old, true, causes);
    let spec = object.field("spec");
    mutations(spec, &compiler, causes);
    let at = SPEC.child("reinvocationPolicy");
    causes.one_of_required(&at, spec.text("reinvocationPolicy"), &["IfNeeded", "Never"]);
}

/// Validate the mutations.
fn mutations(spec: &Value, compiler: &Compiler, causes: &mut Causes) {
    let path = SPEC.child("mutations");
    let list = spec.list("mutations");
    if list.is_empty() {
        causes.required(&path, "mutations must contain at least one item");
    }
    for (i, one) in list.iter().enumerate() {
        mutation(one, compiler, &path.index(i), causes);
    }
}

/// `validateMutation`.
fn mutation(mutation: &Value, compiler: &Compiler, path: &Path<'_>, causes: &mut Causes) {
    let (key, other, gives) = match mutation.text("patchType") {
        "JSONPatch" => ("jsonPatch", "applyConfiguration", "list(JSONPatch)"),
        "ApplyConfiguration" => ("applyConfiguration", "jsonPatch", "Object"),
        kind => {
            return causes.one_of_required(&path.child("patchType"), kind, &["ApplyConfiguration", "JSONPatch"]);
        }
    };
    let kind = mutation.text("patchType");
    let at = path.child(key);
    match mutation.opt(key).map(|patch| patch.text("expression").trim()) {
        None => causes.required(&at, &format!("must be specified when patchType is {kind}")),
        Some("") => causes.need(&at.child("expression")),
        Some(text) => compiler.check(text, About::Patches, &[gives], &at.child("expression"), causes),
    }
    if mutation.has(other) {
        // The name in braces replaces the value.
        let detail = format!("must not be specified when patchType is {kind}");
        causes.invalid_str(&path.child(other), &format!("{{{other}}}"), &detail);
    }
}
