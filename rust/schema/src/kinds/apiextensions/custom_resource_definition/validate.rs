//! Validation (apiextensions-apiserver `pkg/apis/apiextensions/validation/validation.go`).

use hydrofoil_types::{Causes, Path, Value};

use super::convert::{lift, reword};
use super::names::{self, join_causes};
use super::options::{self, Options};
use super::{approval, conversion, printer_columns, selectable_fields, stored_versions, subresources, versions};
use crate::kind::Request;
use hydrofoil_rules::check::{Check, IMMUTABLE};
use hydrofoil_rules::format::name;
use hydrofoil_rules::meta;
use hydrofoil_types::read::Read;

const SPEC: Path<'static> = Path::new("spec");

/// `ValidateCustomResourceDefinition`.
pub(super) fn create(req: &Request<'_>, object: &Value, causes: &mut Causes) {
    let metadata = Path::new("metadata");
    let spec = object.field("spec");
    let required = format!("{}.{}", spec.field("names").text("plural"), spec.text("group"));
    let own = object.field("metadata").text("name");
    let generate = object.field("metadata").text("generateName");
    for (key, text) in [("generateName", generate), ("name", own)] {
        let at = metadata.child(key);
        if text.is_empty() {
            if key == "name" {
                causes.required(&at, "name or generateName is required");
            }
            continue;
        }
        causes.format(&at, text, name::subdomain);
        if text != required {
            causes.invalid_str(&at, text, "must be spec.names.plural+\".\"+spec.group");
        }
    }
    meta::common(req.kind.namespaced, object.field("metadata"), &metadata, causes);
    rules(req, object, None, causes);
}

/// `ValidateUpdateCustomResourceDefinition` and that of the status.
pub(super) fn update(req: &Request<'_>, object: &Value, old: &Value, causes: &mut Causes) {
    meta::update(req.kind, object, old, causes);
    if req.subresource == "status" {
        return names::check(
            object.field("status").field("acceptedNames"),
            &Path::new("status").child("acceptedNames"),
            causes,
        );
    }
    rules(req, object, Some(old), causes);
}

fn rules(req: &Request<'_>, object: &Value, old: Option<&Value>, causes: &mut Causes) {
    let beta = req.kind.version == "v1beta1";
    let internal = if beta { reword } else { lift };
    let spec = internal(object.field("spec"));
    let before = old.map(|o| internal(o.field("spec")));
    specification(&spec, Options::of(beta, &spec, before.as_ref()), causes);
    if let Some(old) = old {
        let before = old.field("spec");
        let established = old
            .field("status")
            .list("conditions")
            .iter()
            .any(|c| c.text("type") == "Established" && c.text("status") == "True");
        let names_at = SPEC.child("names");
        if established {
            if spec.text("scope") != before.text("scope") {
                causes.invalid_str(&SPEC.child("scope"), spec.text("scope"), IMMUTABLE);
            }
            let (a, b) = (spec.field("names").text("kind"), before.field("names").text("kind"));
            if a != b {
                causes.invalid_str(&names_at.child("kind"), a, IMMUTABLE);
            }
        }
        if spec.text("group") != before.text("group") {
            causes.invalid_str(&SPEC.child("group"), spec.text("group"), IMMUTABLE);
        }
        let (a, b) = (spec.field("names").text("plural"), before.field("names").text("plural"));
        if a != b {
            causes.invalid_str(&names_at.child("plural"), a, IMMUTABLE);
        }
    }
    let status = Path::new("status");
    let accepted = status.child("acceptedNames");
    names::check(object.field("status").field("acceptedNames"), &accepted, causes);
    stored_versions::validate(object, &status.child("storedVersions"), causes);
    if beta {
        // `v1beta1` required neither approval nor pruning.
        return;
    }
    approval::validate(object, old, causes);
    let unknown = spec.flag("preserveUnknownFields");
    if unknown && !old.is_some_and(|o| o.field("spec").flag("preserveUnknownFields")) {
        let detail =
            "cannot set to true, set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead";
        causes.invalid(&SPEC.child("preserveUnknownFields"), &Value::Bool(true), detail);
    }
}

/// `ValidateCustomResourceDefinitionSpec`.
fn specification(spec: &Value, options: Options, causes: &mut Causes) {
    let group = spec.text("group");
    let at = SPEC.child("group");
    if group.is_empty() {
        causes.need(&at);
    } else if !name::is_subdomain(group) {
        join_causes(group, name::subdomain, &at, causes);
    } else if !group.contains('.') {
        causes.invalid_str(&at, group, "should be a domain with at least one dot");
    }
    causes.one_of_required(&SPEC.child("scope"), spec.text("scope"), &["Cluster", "Namespaced"]);
    let list = spec.list("versions");
    let versions_at = SPEC.child("versions");
    options::schemas(spec, options, &versions_at, causes);
    if options.defaults && spec.flag("preserveUnknownFields") && options::has_defaults(spec) {
        let detail = "must be false in order to use defaults in the schema";
        causes.invalid(&SPEC.child("preserveUnknownFields"), &Value::Bool(true), detail);
    }
    versions::validate(spec, options, &versions_at, causes);
    let names_at = SPEC.child("names");
    for key in ["plural", "singular", "kind", "listKind"] {
        if spec.field("names").zero(key) {
            causes.need(&names_at.child(key));
        }
    }
    names::check(spec.field("names"), &names_at, causes);
    let status = [spec].into_iter().chain(list).any(|h| h.field("subresources").has("status"));
    versions::schema_of(spec.opt("validation"), status, options, &SPEC.child("validation"), causes);
    subresources::validate(spec.field("subresources"), &SPEC.child("subresources"), causes);
    printer_columns::validate(spec.list("additionalPrinterColumns"), &SPEC.child("additionalPrinterColumns"), causes);
    selectable_fields::validate(spec, "validation", &SPEC, causes);
    let strategy = spec.field("conversion").text("strategy");
    if spec.has("conversion") && strategy != "None" && spec.flag("preserveUnknownFields") {
        let at = SPEC.child("conversion");
        causes.invalid_str(&at.child("strategy"), strategy, "must be None if spec.preserveUnknownFields is true");
    }
    conversion::validate(spec, causes);
}
