//! The versions of a definition.

use hydrofoil_types::{Causes, Duplicates, Path, Value};

use super::names::join_causes;
use super::options::Options;
use super::{
    internal, printer_columns, schema, schema_defaults, selectable_fields, shared, structural, subresources,
    validation_rules,
};
use hydrofoil_rules::format::name;
use hydrofoil_types::read::Read;

const SPEC: Path<'static> = Path::new("spec");

/// Validate the versions (`ValidateCustomResourceDefinitionVersion` of each, and all of them together).
pub(super) fn validate(spec: &Value, options: Options, path: &Path<'_>, causes: &mut Causes) {
    let versions = spec.list("versions");
    let mut unique = true;
    let own_subresources = versions.iter().any(|v| v.has("subresources"));
    let duplicates = Duplicates::of(versions, |v| v.text("name"));
    for (i, version) in versions.iter().enumerate() {
        let at = path.index(i);
        let own = version.text("name");
        unique &= !duplicates.is_repeat(i);
        join_causes(own, name::label_1035, &at.child("name"), causes);
        deprecation(version, &at.child("deprecationWarning"), causes);
        let effective = if own_subresources { version } else { spec }.field("subresources");
        schema_of(version.opt("schema"), effective.has("status"), options, &at.child("schema"), causes);
        subresources::validate(version.field("subresources"), &at.child("subresources"), causes);
        printer_columns::validate(
            version.list("additionalPrinterColumns"),
            &at.child("additionalPrinterColumns"),
            causes,
        );
        selectable_fields::validate(version, "schema", &at, causes);
    }
    let shown = || internal::versions(spec);
    shared::check(spec, versions, path, causes);
    if !unique {
        causes.invalid(path, &shown(), "must contain unique version names");
    }
    if versions.iter().filter(|v| v.flag("storage")).count() != 1 {
        causes.invalid(path, &shown(), "must have exactly one version marked as storage version");
    }
    let first = spec.text("version");
    if !first.is_empty() {
        let at = SPEC.child("version");
        join_causes(first, name::label_1035, &at, causes);
        if versions.first().is_some_and(|v| v.text("name") != first) {
            causes.invalid_str(&at, first, "must match the first version in spec.versions");
        }
    }
}

/// Validate the warning of a version that is deprecated.
fn deprecation(version: &Value, at: &Path<'_>, causes: &mut Causes) {
    let Some(text) = version.opt("deprecationWarning").map(|t| t.as_str().unwrap_or("")) else { return };
    if !version.flag("deprecated") {
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

/// `validateCustomResourceDefinitionValidation`: the schema of a version, or the one at the top.
pub(super) fn schema_of(holder: Option<&Value>, status: bool, options: Options, path: &Path<'_>, causes: &mut Causes) {
    let Some(props) = holder.and_then(|h| h.opt("openAPIV3Schema")) else { return };
    let at = path.child("openAPIV3Schema");
    let first = causes.len();
    if status {
        schema::root_with_status(props, path, causes);
    }
    if props.flag("nullable") {
        causes.forbidden(&path.child("openAPIV3Schema.nullable"), "nullable cannot be true at the root");
    }
    let mut structural = false;
    let unnamed = !structural::names_schema(props);
    if options.structural && unnamed && structural::is_supported(props) {
        let before = causes.len();
        structural::check(props, &at, causes);
        if causes.len() == before {
            schema_defaults::check(props, &at, causes);
        }
        structural = causes.len() == before;
    }
    let before = causes.len();
    schema::check(props, &at, schema::Place::root(options.defaults, options.types), causes);
    if options.structural && !unnamed && causes.len() == first {
        causes.invalid_str(&at, "", "OpenAPIV3Schema 'schema' is not supported");
    }
    if structural {
        let clean = causes.len() == before;
        validation_rules::check(props, &at, clean, causes);
    }
}
