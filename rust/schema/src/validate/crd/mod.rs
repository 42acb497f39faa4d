//! Custom resource definitions (apiextensions `pkg/apis/apiextensions/validation/validation.go`).
//!
//! Rules in CEL (`x-kubernetes-validations`) are typed and priced in `rules`.

mod defaults;
mod fields;
mod internal;
mod names;
mod nonstructural;
mod options;
mod rules;
mod schema;
mod shared;
mod structural;

use hydrofoil_types::{Again, Causes, Path, Seen, Value, Whole};

use super::admission;
use super::check::{Check, IMMUTABLE};
use super::format::name;
use super::meta;
use crate::Request;
use crate::convert::definition::{lifted, reworded};
use crate::read::Read;
pub use nonstructural::nonstructural;
use options::Options;

const SPEC: Path<'static> = Path::new("spec");
const APPROVED: &str = "api-approved.kubernetes.io";

pub(crate) fn create(req: &Request<'_>, object: &Value, causes: &mut Causes) {
    let metadata = Path::new("metadata");
    let spec = object.sub("spec");
    let required = format!("{}.{}", spec.sub("names").s("plural"), spec.s("group"));
    let own = object.sub("metadata").s("name");
    let generate = object.sub("metadata").s("generateName");
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
    meta::common(req.kind.namespaced, object.sub("metadata"), &metadata, causes);
    rules(req, object, None, causes);
}

pub(crate) fn update(req: &Request<'_>, object: &Value, old: &Value, causes: &mut Causes) {
    meta::update(req.kind, object, old, causes);
    if req.subresource == "status" {
        return names::check(
            object.sub("status").sub("acceptedNames"),
            &Path::new("status").child("acceptedNames"),
            causes,
        );
    }
    rules(req, object, Some(old), causes);
}

fn rules(req: &Request<'_>, object: &Value, old: Option<&Value>, causes: &mut Causes) {
    let beta = req.kind.version == "v1beta1";
    let internal = if beta { reworded } else { lifted };
    let spec = internal(object.sub("spec"));
    let before = old.map(|o| internal(o.sub("spec")));
    check(&spec, Options::of(beta, &spec, before.as_ref()), causes);
    if let Some(old) = old {
        let before = old.sub("spec");
        let established = old
            .sub("status")
            .list("conditions")
            .iter()
            .any(|c| c.s("type") == "Established" && c.s("status") == "True");
        let names_at = SPEC.child("names");
        if established {
            if spec.s("scope") != before.s("scope") {
                causes.invalid_str(&SPEC.child("scope"), spec.s("scope"), IMMUTABLE);
            }
            let (a, b) = (spec.sub("names").s("kind"), before.sub("names").s("kind"));
            if a != b {
                causes.invalid_str(&names_at.child("kind"), a, IMMUTABLE);
            }
        }
        if spec.s("group") != before.s("group") {
            causes.invalid_str(&SPEC.child("group"), spec.s("group"), IMMUTABLE);
        }
        let (a, b) = (spec.sub("names").s("plural"), before.sub("names").s("plural"));
        if a != b {
            causes.invalid_str(&names_at.child("plural"), a, IMMUTABLE);
        }
    }
    let status = Path::new("status");
    let accepted = status.child("acceptedNames");
    names::check(object.sub("status").sub("acceptedNames"), &accepted, causes);
    stored(object, &status.child("storedVersions"), causes);
    if beta {
        // Neither approval nor pruning was asked for then.
        return;
    }
    approval(object, old, causes);
    let unknown = spec.b("preserveUnknownFields");
    if unknown && !old.is_some_and(|o| o.sub("spec").b("preserveUnknownFields")) {
        let detail =
            "cannot set to true, set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead";
        causes.invalid(&SPEC.child("preserveUnknownFields"), &Value::Bool(true), detail);
    }
}

fn check(spec: &Value, options: Options, causes: &mut Causes) {
    let group = spec.s("group");
    let at = SPEC.child("group");
    if group.is_empty() {
        causes.need(&at);
    } else if !name::is_subdomain(group) {
        joined(group, name::subdomain, "", &at, causes);
    } else if !group.contains('.') {
        causes.invalid_str(&at, group, "should be a domain with at least one dot");
    }
    causes.one_of_required(&SPEC.child("scope"), spec.s("scope"), &["Cluster", "Namespaced"]);
    let versions = spec.list("versions");
    let versions_at = SPEC.child("versions");
    options::schemas(spec, options, &versions_at, causes);
    if options.defaults && spec.b("preserveUnknownFields") && options::has_defaults(spec) {
        let detail = "must be false in order to use defaults in the schema";
        causes.invalid(&SPEC.child("preserveUnknownFields"), &Value::Bool(true), detail);
    }
    version_list(spec, options, &versions_at, causes);
    let names_at = SPEC.child("names");
    for key in ["plural", "singular", "kind", "listKind"] {
        if spec.sub("names").zero(key) {
            causes.need(&names_at.child(key));
        }
    }
    names::check(spec.sub("names"), &names_at, causes);
    let status = [spec].into_iter().chain(versions).any(|h| h.sub("subresources").has("status"));
    validation(spec.opt("validation"), status, options, &SPEC.child("validation"), causes);
    fields::subresources(spec.sub("subresources"), &SPEC.child("subresources"), causes);
    fields::columns(spec.list("additionalPrinterColumns"), &SPEC.child("additionalPrinterColumns"), causes);
    fields::selectable(spec, "validation", &SPEC, causes);
    let strategy = spec.sub("conversion").s("strategy");
    if spec.has("conversion") && strategy != "None" && spec.b("preserveUnknownFields") {
        let at = SPEC.child("conversion");
        causes.invalid_str(&at.child("strategy"), strategy, "must be None if spec.preserveUnknownFields is true");
    }
    conversion(spec, causes);
}

fn version_list(spec: &Value, options: Options, path: &Path<'_>, causes: &mut Causes) {
    let versions = spec.list("versions");
    let mut unique = true;
    let own_subresources = versions.iter().any(|v| v.has("subresources"));
    let again = Again::of(versions, |v| v.s("name"));
    for (i, version) in versions.iter().enumerate() {
        let at = path.index(i);
        let own = version.s("name");
        unique &= !again.at(i);
        joined(own, name::label_1035, "", &at.child("name"), causes);
        deprecation(version, &at.child("deprecationWarning"), causes);
        let subresources = if own_subresources { version } else { spec }.sub("subresources");
        validation(version.opt("schema"), subresources.has("status"), options, &at.child("schema"), causes);
        fields::subresources(version.sub("subresources"), &at.child("subresources"), causes);
        fields::columns(version.list("additionalPrinterColumns"), &at.child("additionalPrinterColumns"), causes);
        fields::selectable(version, "schema", &at, causes);
    }
    let shown = || internal::versions(spec);
    shared::check(spec, versions, path, causes);
    if !unique {
        causes.invalid(path, &shown(), "must contain unique version names");
    }
    if versions.iter().filter(|v| v.b("storage")).count() != 1 {
        causes.invalid(path, &shown(), "must have exactly one version marked as storage version");
    }
    let first = spec.s("version");
    if !first.is_empty() {
        let at = SPEC.child("version");
        joined(first, name::label_1035, "", &at, causes);
        if versions.first().is_some_and(|v| v.s("name") != first) {
            causes.invalid_str(&at, first, "must match the first version in spec.versions");
        }
    }
}

fn deprecation(version: &Value, at: &Path<'_>, causes: &mut Causes) {
    let Some(text) = version.opt("deprecationWarning").map(|t| t.as_str().unwrap_or("")) else { return };
    if !version.b("deprecated") {
        return causes.invalid_str(at, text, "can only be set for deprecated versions");
    }
    if text.len() > 256 {
        causes.invalid_str(at, text, "must be <= 256 characters long");
    }
    if text.is_empty() {
        causes.invalid_str(at, text, "must not be an empty string");
    }
    if let Some((i, _)) = text.char_indices().find(|(_, c)| c.is_control()) {
        let detail =
            format!("must only contain printable UTF-8 characters; non-printable character found at index {i}");
        causes.invalid_str(at, text, &detail);
    }
}

/// `Invalid` with all that is wrong in one text.
fn joined(text: &str, format: super::format::Format, before: &str, at: &Path<'_>, causes: &mut Causes) {
    let mut wrong: Vec<String> = Vec::new();
    format(text, &mut |detail| wrong.push(detail.to_owned()));
    if !wrong.is_empty() {
        causes.invalid_str(at, text, &format!("{before}{}", wrong.join(",")));
    }
}

fn validation(holder: Option<&Value>, status: bool, options: Options, path: &Path<'_>, causes: &mut Causes) {
    let Some(props) = holder.and_then(|h| h.opt("openAPIV3Schema")) else { return };
    let at = path.child("openAPIV3Schema");
    let first = causes.len();
    if status {
        schema::root_with_status(props, path, causes);
    }
    if props.b("nullable") {
        causes.forbidden(&path.child("openAPIV3Schema.nullable"), "nullable cannot be true at the root");
    }
    let mut structural = false;
    let unnamed = !structural::names_schema(props);
    if options.structural && unnamed && structural::is_supported(props) {
        let before = causes.len();
        structural::check(props, &at, causes);
        if causes.len() == before {
            defaults::check(props, &at, causes);
        }
        structural = causes.len() == before;
    }
    let before = causes.len();
    schema::check(props, &at, schema::Place::root(options), causes);
    if options.structural && !unnamed && causes.len() == first {
        causes.invalid_str(&at, "", "OpenAPIV3Schema 'schema' is not supported");
    }
    if structural {
        let clean = causes.len() == before;
        rules::check(props, &at, clean, causes);
    }
}

fn conversion(spec: &Value, causes: &mut Causes) {
    const NOT: &str = "should not be set when strategy is not set to Webhook";
    let Some(conversion) = spec.opt("conversion") else { return };
    let path = SPEC.child("conversion");
    causes.one_of_required(&path.child("strategy"), conversion.s("strategy"), &["None", "Webhook"]);
    let webhook = conversion.opt("webhook");
    let client = webhook.and_then(|w| w.opt("clientConfig"));
    let versions = webhook.map_or(&[][..], |w| w.list("conversionReviewVersions"));
    let (client_at, versions_at) = (path.child("webhookClientConfig"), path.child("conversionReviewVersions"));
    if conversion.s("strategy") != "Webhook" {
        if client.is_some() {
            causes.forbidden(&client_at, NOT);
        }
        if !versions.is_empty() {
            causes.forbidden(&versions_at, NOT);
        }
        return;
    }
    match client {
        None => causes.required(&client_at, "required when strategy is set to Webhook"),
        Some(client) => admission::client(client, &client_at, causes),
    }
    if versions.is_empty() {
        return causes.need(&versions_at);
    }
    let mut accepted = false;
    let again = Again::of(versions, Whole);
    for (i, version) in versions.iter().enumerate() {
        let text = version.as_str().unwrap_or("");
        if again.at(i) {
            causes.invalid_str(&versions_at.index(i), text, "duplicate version");
            continue;
        }
        causes.format(&versions_at.index(i), text, name::label_1035);
        accepted |= matches!(text, "v1" | "v1beta1");
    }
    if !accepted {
        let shown = webhook.map_or(&Value::Null, |w| w.sub("conversionReviewVersions"));
        causes.invalid(&versions_at, shown, "must include at least one of v1, v1beta1");
    }
}

fn stored(object: &Value, path: &Path<'_>, causes: &mut Causes) {
    let list = object.sub("status").list("storedVersions");
    let shown = object.sub("status").sub("storedVersions");
    if list.is_empty() {
        return causes.invalid(path, shown, "must have at least one stored version");
    }
    let versions = object.sub("spec").list("versions");
    let named: Seen<_> = list.iter().map(Value::as_str).collect();
    let known: Seen<_> = versions.iter().map(|v| v.s("name")).collect();
    let again = Again::of(versions, |v| v.s("name"));
    for (i, version) in versions.iter().enumerate().filter(|(_, v)| v.b("storage")) {
        // A name counts for the first version that has it.
        if again.at(i) || !named.contains(&Some(version.s("name"))) {
            causes.invalid(path, shown, &format!("must have the storage version {}", version.s("name")));
        }
    }
    for (i, stored) in list.iter().enumerate() {
        let text = stored.as_str().unwrap_or("");
        if !known.contains(&text) {
            let detail = format!(
                "missing from spec.versions; {text} was previously a storage version, and must remain in spec.versions until a storage migration ensures no data remains persisted in {text} and removes {text} from status.storedVersions"
            );
            causes.invalid_str(&path.index(i), text, &detail);
        }
    }
}

/// `validateAPIApproval`: groups of the community need a word of approval.
fn approval(object: &Value, old: Option<&Value>, causes: &mut Causes) {
    const MUST: &str = "protected groups must have approval annotation \"api-approved.kubernetes.io\"";
    const SEE: &str = "see https://github.com/kubernetes/enhancements/pull/1111";
    let group = object.sub("spec").s("group");
    let protected =
        [".k8s.io", ".kubernetes.io"].iter().any(|s| group.ends_with(s)) || matches!(group, "k8s.io" | "kubernetes.io");
    if !protected {
        return;
    }
    let state = |v: &Value| v.sub("metadata").sub("annotations").s(APPROVED).to_owned();
    let text = state(object);
    let kind = |t: &str| -> u8 {
        if t.is_empty() {
            0
        } else if t.starts_with("unapproved") {
            1
        } else {
            let good = super::format::url::parse(t).is_ok_and(|u| !u.scheme.is_empty() && !u.host.is_empty());
            if good { 2 } else { 3 }
        }
    };
    if old.is_some_and(|o| kind(&state(o)) == kind(&text)) {
        return;
    }
    let metadata = Path::new("metadata");
    let at = metadata.child("annotations");
    match kind(&text) {
        0 => causes.required(&at.key(APPROVED), &format!("{MUST}, {SEE}")),
        3 => {
            let detail = format!("{MUST} with either a URL or a reason starting with \"unapproved\", {SEE}");
            causes.invalid_str(&at.key(APPROVED), &text, &detail);
        }
        _ => {}
    }
}
