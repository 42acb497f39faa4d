//! Defaults against their own schema (apiextensions-apiserver `pkg/apiserver/schema/defaulting/validation.go`).

use hydrofoil_types::{Causes, KeySet, Path, Value};

use hydrofoil_custom::{self as custom, Node};
use hydrofoil_types::read::{Read, Write};

/// Add the causes of invalid defaults in a structural schema. Below `additionalProperties` there are none.
pub(super) fn check(props: &Value, path: &Path<'_>, causes: &mut Causes) {
    walk(props, path, None, true, causes);
}

/// Return the compiled schema of a resource; the `root` of a schema is one without being marked (`ValidateDefaults`).
fn compile_schema(props: &Value, root: bool) -> Node {
    let mut node = Node::compile(props);
    node.embedded |= root;
    node.embeds |= root;
    node
}

/// The embedded resource whose type or metadata contains a schema, and the way to it; `None` is an item of a list.
struct Around<'a> {
    resource: &'a Value,
    root: bool,
    steps: Vec<Option<&'a str>>,
}

impl<'a> Around<'a> {
    fn then(&self, step: Option<&'a str>) -> Self {
        Self { resource: self.resource, root: self.root, steps: self.steps.iter().copied().chain([step]).collect() }
    }

    /// Return a resource that has nothing but a value at this place (`surroundingobject.go`).
    fn object(&self, value: &Value) -> Value {
        let mut out = value.clone();
        for step in self.steps.iter().rev() {
            out = if let Some(key) = step {
                let mut object = Value::object();
                object.put(key, out);
                object
            } else {
                Value::Array(vec![out])
            };
        }
        for (key, given) in [("kind", "Validation"), ("apiVersion", "validation/v1")] {
            if !out.has(key) {
                out.put(key, given);
            }
        }
        out
    }
}

/// Return several causes as one text (`ErrorList.ToAggregate`).
pub(super) fn aggregate(causes: &Causes) -> String {
    let mut seen = KeySet::default();
    let mut texts: Vec<String> = causes.as_slice().iter().map(|c| format!("{}: {}", c.field, c.message)).collect();
    texts.retain(|text| seen.insert(text.clone()));
    if texts.len() == 1 { texts.swap_remove(0) } else { format!("[{}]", texts.join(", ")) }
}

fn walk<'a>(props: &'a Value, path: &Path<'_>, around: Option<&Around<'a>>, root: bool, causes: &mut Causes) {
    let embedded = root || props.flag("x-kubernetes-embedded-resource");
    let around = around.filter(|_| !embedded);
    if let Some(default) = props.opt("default") {
        let at = path.child("default");
        let mut node = compile_schema(props, root);
        custom::attach_rules(&mut node, props, embedded);
        if let Some(around) = around {
            let mut found = Causes::new();
            custom::check_embedded(&around.object(default), &compile_schema(around.resource, around.root), &mut found);
            if found.is_empty() {
                custom::check_default(default, &node, &at, causes);
            } else {
                causes.invalid(&at, default, &format!("must result in valid metadata: {}", aggregate(&found)));
            }
        } else {
            if node.default.as_deref() != Some(default) {
                causes.invalid(&at, default, "must not have unknown fields");
            }
            custom::check_default(default, &node, &at, causes);
        }
    }
    if let Some(items) = props.opt("items").filter(|i| i.as_object().is_some()) {
        walk(items, &path.child("items"), around.map(|a| a.then(None)).as_ref(), false, causes);
    }
    let at = path.child("properties");
    for (key, value) in props.entries("properties") {
        let own = Around { resource: props, root, steps: vec![Some(key)] };
        let inner = if embedded && matches!(key.as_str(), "metadata" | "apiVersion" | "kind") {
            Some(own)
        } else {
            around.map(|a| a.then(Some(key)))
        };
        walk(value, &at.key(key), inner.as_ref(), false, causes);
    }
}
