//! The environments of the expressions of admission and of device selectors; the latter are checked, not run.

use std::collections::HashMap;
use std::fmt;
use std::rc::Rc;
use std::sync::Arc;

use smol_str::SmolStr;

use crate::ast::Expr;
use crate::checker::{self, Checked};
use crate::cost;
use crate::decl::{Decl, Field, Shape};
use crate::parser;
use crate::plan::{self, Node, VARIABLES};
use crate::program::{Refusal, constants};
use crate::scope::NAMES;
use crate::source;
use crate::types::{ATTRIBUTE, Fields, Record, Type};

/// The variables of an expression.
#[derive(Clone, Debug)]
pub struct Environment {
    variables: Vec<(&'static str, Type)>,
    /// Whether the types of patches are declared.
    patches: bool,
    /// The maximum sizes of the parts of a device.
    device: Option<Arc<Decl>>,
}

/// The variables of a policy that are declared so far (`pkg/admission/plugin/cel/composition.go`).
#[derive(Clone, Debug)]
pub struct Named(Rc<Record>);

impl Default for Named {
    fn default() -> Self {
        Self(Rc::new(Record { name: "kubernetes.variables".into(), fields: Fields::Given(HashMap::new()) }))
    }
}

impl Named {
    /// Add a variable, of type `dyn` if its type is unknown; the last one of a name is used.
    pub fn set(&mut self, name: &str, found: Option<Output>) {
        let of = found.map_or(Type::Dyn, |output| reduce_type(&output.of));
        if let Fields::Given(fields) = &mut Rc::make_mut(&mut self.0).fields {
            fields.insert(name.into(), of);
        }
    }
}

/// The output of an expression.
#[derive(Clone, Debug)]
pub struct Output {
    of: Type,
    /// The maximum cost, for an expression on a device.
    pub cost: u64,
}

impl Environment {
    /// Return the environment of admission: `object`, `oldObject`, `namespaceObject`, `request` and the requested
    /// others (apiserver `pkg/admission/plugin/cel/compile.go`).
    pub fn admission(params: bool, authorizer: bool) -> Self {
        let mut variables = vec![
            ("object", Type::Dyn),
            ("oldObject", Type::Dyn),
            ("namespaceObject", namespace()),
            ("request", request()),
        ];
        if params {
            variables.push(("params", Type::Dyn));
        }
        if authorizer {
            variables.push(("authorizer", Type::Library("kubernetes.authorization.Authorizer")));
            let check = Type::Library("kubernetes.authorization.ResourceCheck");
            variables.push(("authorizer.requestResource", check));
        }
        Self { variables, patches: false, device: None }
    }

    /// Return the environment in which a policy is checked by the types of an object and of its parameters
    /// (`validating/typechecking.go`): the authorizer has no request there.
    pub fn of_policy(object: &Arc<Decl>, params: Option<&Arc<Decl>>) -> Self {
        let mut variables = vec![
            ("object", Type::of(object)),
            ("oldObject", Type::of(object)),
            ("namespaceObject", namespace()),
            ("request", request()),
            ("authorizer", Type::Library("kubernetes.authorization.Authorizer")),
        ];
        if let Some(params) = params {
            variables.push(("params", Type::of(params)));
        }
        Self { variables, patches: false, device: None }
    }

    /// Return the environment of a device selector (dynamic-resource-allocation `cel/compile.go`).
    pub fn device() -> Self {
        let capacity = Type::Library("kubernetes.Quantity");
        let by_name = |of: Type| Type::map(Type::String, Type::map(Type::String, of));
        let device = record(
            "kubernetes.DRADevice",
            &[
                ("driver", Type::String),
                ("attributes", by_name(Type::Any)),
                ("capacity", by_name(capacity)),
                ("allowMultipleAllocations", Type::Bool),
            ],
        );
        Self { variables: vec![("device", device)], patches: false, device: Some(device_sizes()) }
    }

    /// Add the types of patches.
    #[must_use]
    pub fn with_patches(mut self) -> Self {
        self.patches = true;
        self
    }

    /// Add `variables`.
    #[must_use]
    pub fn with_variables(mut self, named: &Named) -> Self {
        self.variables.push((VARIABLES, Type::Record(Rc::clone(&named.0))));
        self
    }

    /// Parse an expression and find its types; the error has the issues.
    fn infer(&self, text: &str) -> Result<(Expr, Checked), String> {
        let reported = |issues: Vec<source::Issue>| source::render(text, &issues);
        // Only device selectors, which are never run here, may bind names.
        let (mut expr, nodes) = parser::parse(text, self.device.is_some()).map_err(reported)?;
        let checked = checker::check(&mut expr, nodes, &self.variables, self.patches).map_err(reported)?;
        Ok((expr, checked))
    }

    /// Compile an expression, to be run in a [`Scope`](crate::scope::Scope) of the same names.
    pub(crate) fn compile(&self, text: &str) -> Result<(Node, Output), Refusal> {
        let (expr, checked) = self.infer(text).map_err(Refusal::Issues)?;
        let node = plan::plan_of(&expr, &NAMES);
        constants(&node)?;
        Ok((node, Output { of: checked.of(&expr).clone(), cost: 0 }))
    }

    /// Parse and check an expression without the values of its constants; the error has the issues.
    pub(crate) fn output(&self, text: &str) -> Result<Output, String> {
        let (expr, checked) = self.infer(text)?;
        Ok(Output { of: checked.of(&expr).clone(), cost: 0 })
    }

    /// Parse and check an expression; the error is the reason of its rejection.
    pub fn check(&self, text: &str) -> Result<Output, Refusal> {
        let (expr, checked) = self.infer(text).map_err(Refusal::Issues)?;
        constants(&plan::plan(&expr, ""))?;
        let cost = self.device.as_ref().map_or(0, |device| cost::estimate(&expr, &checked, device));
        Ok(Output { of: checked.of(&expr).clone(), cost })
    }
}

impl Output {
    /// Report whether it is the type of the given name, as printed.
    pub fn is(&self, name: &str) -> bool {
        self.to_string() == name
    }
}

impl fmt::Display for Output {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&declared_name(&self.of))
    }
}

/// Return the declared name of a type, which differs from the checker's (cel-go `types.Type.String`).
pub(crate) fn declared_name(of: &Type) -> String {
    match of {
        Type::Any => "google.protobuf.Any".to_owned(),
        Type::Null => "null_type".to_owned(),
        Type::Duration => "google.protobuf.Duration".to_owned(),
        Type::Timestamp => "google.protobuf.Timestamp".to_owned(),
        Type::List(item) => format!("list({})", declared_name(item)),
        Type::Map(key, value) => format!("map({}, {})", declared_name(key), declared_name(value)),
        Type::Optional(value) => format!("optional_type({})", declared_name(value)),
        Type::Kind(Some(inner)) => format!("type({})", declared_name(inner)),
        other => other.to_string(),
    }
}

/// Return the type of a variable, reduced as upstream does (`convertCelTypeToDeclType`).
fn reduce_type(of: &Type) -> Type {
    match of {
        Type::List(item) => Type::list(reduce_type(item)),
        Type::Map(key, value) => Type::map(reduce_type(key), reduce_type(value)),
        Type::Bool
        | Type::Bytes
        | Type::Double
        | Type::Duration
        | Type::Int
        | Type::Null
        | Type::String
        | Type::Timestamp
        | Type::Uint => of.clone(),
        _ => Type::Dyn,
    }
}

fn record(name: &str, fields: &[(&str, Type)]) -> Type {
    let fields = fields.iter().map(|(name, of)| (SmolStr::new(name), of.clone())).collect();
    Type::Record(Rc::new(Record { name: name.into(), fields: Fields::Known(fields) }))
}

fn texts(names: &[&'static str]) -> Vec<(&'static str, Type)> {
    names.iter().map(|name| (*name, Type::String)).collect()
}

/// Return the type of a request (`BuildRequestType`).
fn request() -> Type {
    let kind = record("kubernetes.GroupVersionKind", &texts(&["group", "version", "kind"]));
    let resource = record("kubernetes.GroupVersionResource", &texts(&["group", "version", "resource"]));
    let list = Type::list(Type::String);
    let mut user = texts(&["username", "uid"]);
    user.extend([("groups", list.clone()), ("extra", Type::map(Type::String, list))]);
    let mut fields = texts(&["subResource", "requestSubResource", "name", "namespace", "operation"]);
    fields.extend([
        ("kind", kind.clone()),
        ("requestKind", kind),
        ("resource", resource.clone()),
        ("requestResource", resource),
        ("userInfo", record("kubernetes.UserInfo", &user)),
        ("dryRun", Type::Bool),
        ("options", Type::Dyn),
    ]);
    record("kubernetes.AdmissionRequest", &fields)
}

/// Return the type of a namespace (`BuildNamespaceType`).
fn namespace() -> Type {
    let list = Type::list(Type::String);
    let mut condition = texts(&["status", "type", "message", "reason"]);
    condition.push(("lastTransitionTime", Type::Timestamp));
    let conditions = Type::list(record("kubernetes.NamespaceCondition", &condition));
    let map = Type::map(Type::String, Type::String);
    let mut metadata = texts(&["name", "generateName", "namespace", "UID", "resourceVersion"]);
    metadata.extend([
        ("labels", map.clone()),
        ("annotations", map),
        ("creationTimestamp", Type::Timestamp),
        ("deletionGracePeriodSeconds", Type::Int),
        ("deletionTimestamp", Type::Timestamp),
        ("generation", Type::Int),
        ("finalizers", list.clone()),
    ]);
    let status = [("conditions", conditions), ("phase", Type::String)];
    let fields = [
        ("metadata", record("kubernetes.NamespaceMetadata", &metadata)),
        ("spec", record("kubernetes.NamespaceSpec", &[("finalizers", list)])),
        ("status", record("kubernetes.NamespaceStatus", &status)),
    ];
    record("kubernetes.Namespace", &fields)
}

/// Return the limits of a device: 32 attributes, names of 32 and domains of 63 characters, values of 64.
fn device_sizes() -> Arc<Decl> {
    let of =
        |name: &str, shape, max| Arc::new(Decl { name: SmolStr::new(name), shape, nullable: false, max, min_size: 0 });
    let maps = |value| {
        let inner = of("", Shape::Map(value), 32);
        of("", Shape::Map(inner), 32)
    };
    let field = |name: &str, decl| Field { name: name.into(), escaped: Some(name.into()), decl };
    let fields = [
        field("driver", of("", Shape::Str, 63)),
        field("allowMultipleAllocations", of("", Shape::Bool, 1)),
        field("attributes", maps(of(ATTRIBUTE, Shape::Dyn, 64))),
        field("capacity", maps(of("", Shape::Dyn, 0))),
    ];
    of("kubernetes.DRADevice", Shape::Object(Vec::from(fields).into()), 0)
}
