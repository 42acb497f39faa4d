//! Options of the validation of a definition: `v1beta1` required less, and accepted fields stay accepted
//! (`validationOptions`; for `v1beta1` that of apiextensions-apiserver 0.21).

use hydrofoil_types::{Causes, Path, Value};

use super::nonstructural::is_structural;
use super::schema;
use hydrofoil_rules::check::Check;
use hydrofoil_types::read::Read;

/// The options of one validation.
#[derive(Clone, Copy)]
#[allow(clippy::struct_excessive_bools, reason = "upstream's options are independent switches")]
pub(super) struct Options {
    /// Whether schemas may have defaults (`allowDefaults`).
    pub defaults: bool,
    /// Whether all versions must have a schema (`requireOpenAPISchema`).
    pub schemas: bool,
    /// Whether types must be known ones (`requireValidPropertyType`).
    pub types: bool,
    /// Whether schemas must be structural (`requireStructuralSchema`).
    pub structural: bool,
}

impl Options {
    /// Return the options by the version of the request, a `spec` and the old one, in internal form.
    pub(super) fn of(beta: bool, spec: &Value, before: Option<&Value>) -> Self {
        let holds = |rule: fn(&Value) -> bool| before.is_none_or(|spec| roots(spec).all(rule));
        let defaults = !beta || before.is_some_and(has_defaults);
        // Pruning, defaults and extensions need structural schemas.
        let structural = !spec.flag("preserveUnknownFields")
            || (defaults && has_defaults(spec))
            || roots(spec).any(|root| any(root, &extends))
            || (!beta && holds(is_structural));
        Self {
            defaults,
            schemas: !beta && before.is_none_or(|spec| missing(spec, |_| true).next().is_none()),
            types: !beta && holds(|root| !any(root, &|s| !s.zero("type") && !schema::TYPES.contains(&s.text("type")))),
            structural,
        }
    }
}

/// Add the schemas that are missing.
pub(super) fn schemas(spec: &Value, options: Options, path: &Path<'_>, causes: &mut Causes) {
    let at = |i: usize, causes: &mut Causes, detail: Option<&str>| {
        let at = path.index(i);
        let at = at.child("schema");
        let at = at.child("openAPIV3Schema");
        match detail {
            Some(detail) => causes.required(&at, detail),
            None => causes.need(&at),
        }
    };
    if options.schemas {
        missing(spec, |_| true).for_each(|i| at(i, causes, None));
    } else if !spec.flag("preserveUnknownFields") {
        let why = "because otherwise all fields are pruned";
        missing(spec, |v| v.flag("served")).for_each(|i| at(i, causes, Some(why)));
    }
}

/// Report whether any schema has a default.
pub(super) fn has_defaults(spec: &Value) -> bool {
    roots(spec).any(|root| any(root, &|s| s.has("default")))
}

/// Return the schemas at the top and of the versions.
fn roots(spec: &Value) -> impl Iterator<Item = &Value> {
    let versions = spec.list("versions").iter().map(|v| v.field("schema"));
    std::iter::once(spec.field("validation")).chain(versions).filter_map(|holder| holder.opt("openAPIV3Schema"))
}

/// Return the places of the versions that have no schema, when there is none at the top.
fn missing(spec: &Value, counts: fn(&Value) -> bool) -> impl Iterator<Item = usize> {
    let shared = spec.field("validation").has("openAPIV3Schema");
    let versions = spec.list("versions").iter().enumerate();
    let bare = move |v: &Value| !shared && counts(v) && !v.field("schema").has("openAPIV3Schema");
    versions.filter(move |(_, v)| bare(v)).map(|(i, _)| i)
}

/// Report whether a schema or one below it is so (`SchemaHas`).
fn any(props: &Value, is: &dyn Fn(&Value) -> bool) -> bool {
    const ONE: [&str; 4] = ["items", "additionalProperties", "additionalItems", "not"];
    const LISTS: [&str; 4] = ["items", "allOf", "anyOf", "oneOf"];
    const MAPS: [&str; 4] = ["properties", "patternProperties", "dependencies", "definitions"];
    let one = ONE.iter().filter_map(|key| props.opt(key)).filter(|s| s.as_object().is_some());
    let lists = LISTS.iter().flat_map(|key| props.list(key));
    let maps = MAPS.iter().flat_map(|key| props.entries(key).map(|(_, s)| s));
    is(props) || one.chain(lists).chain(maps).any(|s| any(s, is))
}

/// `schemaHasKubernetesExtensions`, and rules, which only structural schemas can be typed by.
fn extends(props: &Value) -> bool {
    const FLAGS: [&str; 2] = ["x-kubernetes-embedded-resource", "x-kubernetes-int-or-string"];
    const SET: [&str; 2] = ["x-kubernetes-preserve-unknown-fields", "x-kubernetes-list-type"];
    const LISTS: [&str; 2] = ["x-kubernetes-list-map-keys", "x-kubernetes-validations"];
    FLAGS.iter().any(|key| props.flag(key))
        || SET.iter().any(|key| props.has(key))
        || LISTS.iter().any(|key| !props.zero(key))
}
