//! `ObjectMeta` (apimachinery `pkg/api/validation/objectmeta.go`).
//!
//! On updates the metadata is validated up to four times, and each time adds its causes: the message names them once.

#![allow(clippy::arithmetic_side_effects, reason = "it counts what an object of a few megabytes has")]

use hydrofoil_types::{Causes, KeySet, Map, MetaView, Path, SmolStr, Timestamp, Value, Whole};

use super::check::{Check, IMMUTABLE};
use super::format::{Format, label, name};
use crate::{Gate, Release};
use hydrofoil_types::read::{Read, Write};

/// How the name of an object may look.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NameRule {
    /// An RFC 1123 subdomain, up to 253 bytes.
    Subdomain,
    /// An RFC 1123 label, up to 63 bytes.
    Label,
    /// An RFC 1035 label, up to 63 bytes; any label where `RelaxedServiceNameValidation` is on.
    Service,
    /// An RFC 1035 label, up to 63 bytes.
    Label1035,
    /// A subdomain by the validation tags of its type, which leave generateName alone.
    Declared,
    /// Any text that fits into one segment of a URL path.
    PathSegment,
    /// Restricted only by the kind's own rules.
    Other,
}

/// What the rules of metadata ask of a kind.
pub trait NamedKind {
    /// Report whether its objects are namespaced.
    fn is_namespaced(&self) -> bool;
    /// Return the rule for names.
    fn name_rule(&self) -> NameRule;
    /// Report whether finalizers without a domain have to be standard ones (`validateKubeFinalizerName`).
    fn has_kube_finalizers(&self) -> bool;
    /// Return the release whose rules it follows.
    fn release(&self) -> Release;
}

const METADATA: Path<'static> = Path::new("metadata");
/// The most bytes of all annotations of an object.
pub const ANNOTATIONS: usize = 256 * 1024;

/// Validate the metadata of a new object, names by the kind's rule.
pub fn create(kind: &dyn NamedKind, object: &Value, causes: &mut Causes) {
    let format: Format = match kind.name_rule() {
        NameRule::Subdomain => name::subdomain,
        NameRule::Declared => {
            // Validation tags of the type cover the name alone.
            let mut own = object.clone();
            own.within("metadata", |meta| meta.drop("generateName"));
            return create_named(kind, &own, &METADATA, name::long, causes);
        }
        NameRule::Label => name::label,
        NameRule::Service => service_name(kind.release()),
        NameRule::Label1035 => name::label_1035,
        NameRule::PathSegment | NameRule::Other => name::path_segment,
    };
    create_named(kind, object, &METADATA, format, causes);
}

/// Return the format of the name of a service.
pub fn service_name(release: Release) -> Format {
    if release.enabled(Gate::RelaxedServiceNameValidation) { name::label } else { name::label_1035 }
}

/// Validate the metadata of a new object, names by the given format.
pub fn create_named(
    kind: &dyn NamedKind,
    object: &Value,
    path: &Path<'_>,
    format: impl Fn(&str, &mut dyn FnMut(&str)),
    causes: &mut Causes,
) {
    base(kind.is_namespaced(), object, path, format, causes);
    kube_finalizers(kind, object, causes);
}

/// Validate the metadata as `rest.BeforeCreate` does for every kind once its own rules hold.
pub fn common_create(kind: &dyn NamedKind, object: &Value, causes: &mut Causes) {
    base(kind.is_namespaced(), object, &METADATA, name::path_segment, causes);
}

/// `ValidateObjectMetaAccessor` of apimachinery: the rules for resources of any kind.
pub fn base(
    namespaced: bool,
    object: &Value,
    path: &Path<'_>,
    format: impl Fn(&str, &mut dyn FnMut(&str)),
    causes: &mut Causes,
) {
    let meta = MetaView::of(object);
    let generate = meta.generate_name();
    if !generate.is_empty() {
        // A path segment rule does not check the last character, so masking it is harmless.
        let masked = name::mask_trailing_dash(generate);
        let at = path.child("generateName");
        format(&masked, &mut |detail| {
            if !name::is_of_whole(detail) {
                causes.invalid_str(&at, generate, detail);
            }
        });
    }
    if meta.name().is_empty() {
        causes.required(&path.child("name"), "name or generateName is required");
    } else {
        causes.format(&path.child("name"), meta.name(), format);
    }
    common(namespaced, object.field("metadata"), path, causes);
}

/// `validateKubeFinalizerName` of core's `ValidateObjectMeta`; other groups have no such check.
pub fn kube_finalizers(kind: &dyn NamedKind, object: &Value, causes: &mut Causes) {
    if !kind.has_kube_finalizers() {
        return;
    }
    let at = METADATA.child("finalizers");
    for (i, finalizer) in object.field("metadata").list("finalizers").iter().enumerate() {
        let name = finalizer.as_str().unwrap_or("");
        if !name.contains('/') && !matches!(name, "kubernetes" | "orphan" | "foregroundDeletion") {
            let detail = "name is neither a standard finalizer name nor is it fully qualified";
            causes.invalid_str(&at.index(i), name, detail);
        }
    }
}

/// Validate the metadata other than the name.
pub fn common(namespaced: bool, meta: &Value, path: &Path<'_>, causes: &mut Causes) {
    let at = path.child("namespace");
    let namespace = meta.text("namespace");
    match (namespaced, namespace.is_empty()) {
        (true, true) => causes.need(&at),
        (true, false) => causes.format(&at, namespace, name::label),
        (false, false) => causes.forbidden(&at, "not allowed on this type"),
        (false, true) => {}
    }
    causes.not_negative(&path.child("generation"), meta.int("generation"));
    labels(meta.get("labels"), &path.child("labels"), causes);
    annotations(meta, &path.child("annotations"), causes);
    owners(meta.list("ownerReferences"), &path.child("ownerReferences"), causes);
    finalizers(meta.list("finalizers"), &path.child("finalizers"), causes);
    managed_fields(meta.list("managedFields"), &path.child("managedFields"), causes);
}

/// `ValidateTemplateObjectMeta`: of a template's metadata, annotations and labels count.
pub fn template(meta: &Value, path: &Path<'_>, causes: &mut Causes) {
    annotations(meta, &path.child("annotations"), causes);
    labels(meta.get("labels"), &path.child("labels"), causes);
    for key in [
        "name",
        "generateName",
        "namespace",
        "selfLink",
        "uid",
        "resourceVersion",
        "generation",
        "creationTimestamp",
        "deletionTimestamp",
        "deletionGracePeriodSeconds",
        "ownerReferences",
        "finalizers",
        "managedFields",
    ] {
        // An empty list is not nil, nor is a pointer to zero.
        let pointer = matches!(key, "deletionTimestamp" | "deletionGracePeriodSeconds");
        let set = meta.opt(key).is_some_and(|v| pointer || v.as_array().is_some() || !v.is_zero());
        if set {
            causes.forbidden(&path.child(if key == "uid" { "uID" } else { key }), "cannot be set");
        }
    }
}

/// `ValidateLabels`.
pub fn labels(labels: Option<&Value>, path: &Path<'_>, causes: &mut Causes) {
    for (key, value) in labels.and_then(Value::as_object).into_iter().flatten() {
        causes.format(path, key, label::key);
        // Since 1.36 the value is reported at its key.
        causes.format(path, value.as_str().unwrap_or(""), label::value);
    }
}

/// `ValidateAnnotations`.
pub fn annotations(meta: &Value, path: &Path<'_>, causes: &mut Causes) {
    let mut size = 0;
    for (key, value) in meta.entries("annotations") {
        if key.bytes().any(|b| b.is_ascii_uppercase()) {
            let lower = key.to_lowercase();
            label::key(&lower, &mut |detail| causes.invalid_str(path, key, detail));
        } else {
            causes.format(path, key, label::key);
        }
        size += key.len() + value.as_str().map_or(0, str::len);
    }
    if size > ANNOTATIONS {
        causes.too_long(path, ANNOTATIONS);
    }
}

/// Return a reference with the members that it always shows.
fn owner_shown(owner: &Value) -> Value {
    let always = ["apiVersion", "kind", "name", "uid"].map(|key| (SmolStr::new(key), Value::from(owner.text(key))));
    let flags = ["controller", "blockOwnerDeletion"].into_iter();
    let flags = flags.filter_map(|key| Some((SmolStr::new(key), owner.opt(key)?.clone())));
    Map::from_unique(always.into_iter().chain(flags).collect()).into()
}

fn owners(owners: &[Value], path: &Path<'_>, causes: &mut Causes) {
    let mut controller: Option<String> = None;
    for owner in owners {
        let version = owner.text("apiVersion");
        // schema.ParseGroupVersion: two slashes leave everything empty.
        let slashes = version.bytes().filter(|b| *b == b'/').count();
        let version_part = if slashes > 1 { "" } else { version.rsplit('/').next().unwrap_or("") };
        if version_part.is_empty() {
            causes.invalid_str(&path.child("apiVersion"), version, "version must not be empty");
        }
        for key in ["kind", "name", "uid"] {
            if owner.text(key).is_empty() {
                causes.invalid_str(&path.child(key), "", "must not be empty");
            }
        }
        if version == "v1" && owner.text("kind") == "Event" {
            causes.invalid(path, &owner_shown(owner), "/v1, Kind=Event is disallowed from being an owner");
        }
        if owner.flag("controller") {
            let here = format!("{}/{}", owner.text("kind"), owner.text("name"));
            if let Some(first) = &controller {
                let all = Value::from(owners.iter().map(owner_shown).collect::<Vec<_>>());
                causes.invalid(path, &all, &format!("Only one reference can have Controller set to true. Found \"true\" in references for {first} and {here}"));
            } else {
                controller = Some(here);
            }
        }
    }
}

fn finalizers(finalizers: &[Value], path: &Path<'_>, causes: &mut Causes) {
    let (mut orphan, mut foreground) = (false, false);
    for finalizer in finalizers.iter().filter_map(Value::as_str) {
        causes.format(path, finalizer, label::key);
        orphan |= finalizer == "orphan";
        foreground |= finalizer == "foregroundDeletion";
    }
    if orphan && foreground {
        let all = Value::from(finalizers.to_vec());
        causes.invalid(path, &all, "finalizer orphan and foregroundDeletion cannot be both set");
    }
}

/// `ValidateManagedFields` (apimachinery `pkg/apis/meta/v1/validation`).
fn managed_fields(entries: &[Value], path: &Path<'_>, causes: &mut Causes) {
    for (i, entry) in entries.iter().enumerate() {
        let path = path.index(i);
        if !matches!(entry.text("operation"), "Apply" | "Update") {
            causes.invalid_str(&path.child("operation"), entry.text("operation"), "must be `Apply` or `Update`");
        }
        let kind = entry.text("fieldsType");
        if !kind.is_empty() && kind != "FieldsV1" {
            causes.invalid_str(&path.child("fieldsType"), kind, "must be `FieldsV1`");
        }
        field_manager(entry.text("manager"), &path.child("manager"), causes);
        let sub = entry.text("subresource");
        if sub.len() > 256 {
            causes.too_long(&path.child("subresource"), 256);
        }
    }
}

fn field_manager(manager: &str, path: &Path<'_>, causes: &mut Causes) {
    if manager.len() > 128 {
        causes.too_long(path, 128);
    }
    for (i, c) in manager.chars().enumerate() {
        if c.is_control() {
            causes.invalid_str(path, manager, &format!("invalid character U+{:04X} (at position {i})", c as u32));
        }
    }
}

/// `validateCommonFields` of `rest.BeforeUpdate`: the checks of every kind before its own rules.
pub fn common_update(kind: &dyn NamedKind, new: &Value, old: &Value, causes: &mut Causes) {
    base(kind.is_namespaced(), new, &METADATA, name::path_segment, causes);
    base_update(new, old, causes);
}

/// `ValidateObjectMetaUpdate`.
pub fn update(kind: &dyn NamedKind, new: &Value, old: &Value, causes: &mut Causes) {
    base_update(new, old, causes);
    kube_finalizers(kind, new, causes);
}

/// `ValidateObjectMetaAccessorUpdate` of apimachinery.
pub fn base_update(new: &Value, old: &Value, causes: &mut Causes) {
    let (new, old) = (new.field("metadata"), old.field("metadata"));
    let path = &METADATA;
    if old.has("deletionTimestamp") {
        let had: KeySet<_> = old.list("finalizers").iter().map(Whole).collect();
        let mut extra: Vec<&str> =
            new.list("finalizers").iter().filter(|f| !had.contains(&Whole(f))).filter_map(Value::as_str).collect();
        if !extra.is_empty() {
            extra.sort_unstable();
            extra.dedup();
            let list: Vec<_> = extra.iter().map(|f| format!("{f:?}")).collect();
            causes.forbidden(&path.child("finalizers"), &format!("no new finalizers can be added if the object is being deleted, found new finalizers []string{{{}}}", list.join(", ")));
        }
    }
    if new.zero("resourceVersion") {
        causes.invalid_str(&path.child("resourceVersion"), "", "must be specified for an update");
    }
    if new.int("generation") < old.int("generation") {
        causes.invalid_int(&path.child("generation"), new.int("generation"), "must not be decremented");
    }
    for key in ["name", "namespace", "uid"] {
        if new.text(key) != old.text(key) {
            causes.invalid_str(&path.child(key), new.text(key), IMMUTABLE);
        }
    }
    for key in ["creationTimestamp", "deletionTimestamp"] {
        if Timestamp::parse(new.text(key)) != Timestamp::parse(old.text(key)) {
            causes.invalid(&path.child(key), new.field(key), IMMUTABLE);
        }
    }
    let key = "deletionGracePeriodSeconds";
    // Zero is not the same as no value.
    if let Some(seconds) = new.opt(key).filter(|seconds| old.opt(key) != Some(*seconds)) {
        causes.invalid(&path.child(key), seconds, IMMUTABLE);
    }
    labels(new.get("labels"), &path.child("labels"), causes);
    annotations(new, &path.child("annotations"), causes);
    owners(new.list("ownerReferences"), &path.child("ownerReferences"), causes);
    managed_fields(new.list("managedFields"), &path.child("managedFields"), causes);
}
