//! `x-kubernetes-validations` of a schema, compiled, and objects checked by them (apiextensions-apiserver
//! `pkg/apiserver/schema/cel/validation.go`).

use std::sync::Arc;

use hydrofoil_cel::{Decl, Failure, Patience, Variables};
use hydrofoil_types::{CauseReason, Causes, Path, Value};

use super::durations::{COMPILATIONS, EVALUATIONS};
use super::lists;
use super::rule::{Rule, Rules};
use super::structural::{Additional, Node};
use super::validate::correlates;
use hydrofoil_types::read::Read;

/// The cost limit for the rules of one object together (`RuntimeCELCostBudget`).
const BUDGET: u64 = 10_000_000;
/// The most bytes of the result of a message expression.
const LONGEST_MESSAGE: usize = 5 * 1024;

/// Compile the rules of a schema into its nodes. `root` marks the root of a resource.
pub fn attach(node: &mut Node, props: &Value, root: bool) {
    if !node.ruled {
        return;
    }
    COMPILATIONS.of(|| place(node, props, Decl::compile(props, root).as_ref()));
}

fn place(node: &mut Node, props: &Value, decl: Option<&Arc<Decl>>) {
    if !node.ruled {
        return;
    }
    let list = props.list("x-kubernetes-validations");
    if let (Some(decl), false) = (decl, list.is_empty()) {
        let rules = list.iter().map(|rule| Rule::compile(rule, props, decl)).collect();
        node.validations = Some(Box::new(Rules { decl: decl.clone(), kind: props.text("type").into(), list: rules }));
    }
    if let Some(items) = &mut node.items {
        place(items, props.field("items"), decl.and_then(|d| d.element()));
    }
    if let Additional::Of(values) = &mut node.additional {
        place(values, props.field("additionalProperties"), decl.and_then(|d| d.element()));
    }
    for (name, child) in &mut node.properties {
        let own = props.field("properties").field(name);
        let seen = hydrofoil_cel::escape(name).is_some();
        match decl.and_then(|d| d.member(name)).filter(|_| seen) {
            Some(decl) => place(child, own, Some(decl)),
            // Members that cannot be named in expressions have rules of their own all the same.
            None if !seen => attach(child, own, own.flag("x-kubernetes-embedded-resource")),
            None => {}
        }
    }
}

/// Add the causes that the rules find in an object at a path; `old` is the object before the update.
///
/// They are not all there if the time budget of the caller ran out.
pub(crate) fn check(
    node: &Node,
    value: &Value,
    old: Option<&Value>,
    path: &Path<'_>,
    patience: Option<&Patience>,
    causes: &mut Causes,
) {
    walk(node, value, old, Before { current: old, parent: None }, path, patience, causes);
}

/// Add the causes that the rules find in a default: it equals its old value, but is not ratcheted.
pub(crate) fn check_default(node: &Node, value: &Value, path: &Path<'_>, causes: &mut Causes) {
    walk(node, value, Some(value), Before { current: None, parent: None }, path, None, causes);
}

fn walk(
    node: &Node,
    value: &Value,
    old: Option<&Value>,
    before: Before<'_>,
    path: &Path<'_>,
    patience: Option<&Patience>,
    causes: &mut Causes,
) {
    if !node.ruled {
        return;
    }
    let mut walk = Walk { budget: BUDGET, patience, causes };
    // The walk ends early when the budget is spent, which is then among the causes, or a caller waits no longer.
    let _ = EVALUATIONS.of(|| walk.value(node, value, old, before, path));
}

struct Walk<'c> {
    budget: u64,
    patience: Option<&'c Patience>,
    causes: &'c mut Causes,
}

/// The old value of the current part, if it can be correlated, and the nearest enclosing part with an old value.
#[derive(Clone, Copy)]
struct Before<'a> {
    current: Option<&'a Value>,
    parent: Option<(&'a Value, &'a Value, &'a Node)>,
}

impl<'a> Before<'a> {
    fn unchanged(self, value: &Value, node: &Node) -> bool {
        match (self.current, self.parent) {
            (Some(old), _) => correlates(value, old, node),
            (None, Some((new, old, node))) => correlates(new, old, node),
            (None, None) => false,
        }
    }

    /// Return the old value of a part of a value.
    fn below(self, value: &'a Value, node: &'a Node, part: Option<&'a Value>) -> Self {
        match self.current {
            None => self,
            Some(old) => Self { current: part, parent: Some((value, old, node)) },
        }
    }
}

/// The error for a budget or a patience that is used up.
struct Spent;

impl Walk<'_> {
    fn value<'a>(
        &mut self,
        node: &'a Node,
        value: &'a Value,
        old: Option<&'a Value>,
        before: Before<'a>,
        path: &Path<'_>,
    ) -> Result<(), Spent> {
        if !node.ruled || matches!(value, Value::Null) {
            return Ok(());
        }
        let old = old.filter(|o| !matches!(o, Value::Null));
        if let Some(rules) = &node.validations {
            self.rules(rules, node, value, old, before, path)?;
        }
        match value {
            Value::Array(items) => {
                let Some(inner) = node.items.as_deref().filter(|n| n.ruled) else { return Ok(()) };
                let olds = old.and_then(Value::as_array).unwrap_or(&[]);
                let parts = lists::counterparts(items, olds, node);
                for (i, (item, part)) in items.iter().zip(parts).enumerate() {
                    self.value(inner, item, part, before.below(value, node, part), &path.index(i))?;
                }
            }
            Value::Object(map) => {
                let olds = old.and_then(Value::as_object);
                if let Additional::Of(inner) = &node.additional
                    && inner.ruled
                {
                    for (key, item) in map {
                        let part = olds.and_then(|o| o.get(key));
                        self.value(inner, item, part, before.below(value, node, part), &path.key(key))?;
                    }
                }
                for (key, inner) in node.properties.iter().filter(|(_, n)| n.ruled) {
                    let Some(item) = map.get(key) else { continue };
                    let part = olds.and_then(|o| o.get(key));
                    // Type and version are those of the request, whatever they were.
                    let own = if before.parent.is_none() && matches!(key.as_str(), "apiVersion" | "kind") {
                        Before { current: None, parent: None }
                    } else {
                        before.below(value, node, part)
                    };
                    self.value(inner, item, part, own, &path.child(key))?;
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn rules(
        &mut self,
        rules: &Rules,
        node: &Node,
        value: &Value,
        old: Option<&Value>,
        before: Before<'_>,
        path: &Path<'_>,
    ) -> Result<(), Spent> {
        const OUT: &str =
            "validation failed due to running out of cost budget, no further validation rules will be run";
        let kind = rules.kind.as_str();
        if self.budget == 0 {
            self.invalid_kind(path, kind, OUT);
            return Err(Spent);
        }
        for rule in &rules.list {
            let program = match &rule.program {
                Some(Ok(program)) => program,
                Some(Err(why)) => {
                    self.invalid_kind(path, kind, &format!("rule compile error: {why}"));
                    continue;
                }
                None => continue,
            };
            if program.uses_old && old.is_none() && !rule.optional_old {
                continue;
            }
            let on = Variables { this: value, old, decl: &rules.decl };
            let (found, spent) = program.truth(on, self.patience);
            self.wait()?;
            let Some(left) = self.budget.checked_sub(spent) else {
                self.invalid_kind(path, kind, OUT);
                return Err(Spent);
            };
            self.budget = left;
            let shown = &rule.shown;
            match found {
                Ok(true) => continue,
                Ok(false) => {}
                Err(Failure::Limit) => {
                    let why = format!(
                        "'operation cancelled: actual cost limit exceeded': no further validation rules will be run due to call cost exceeds limit for rule: {shown}"
                    );
                    self.invalid_kind(path, kind, &why);
                    return Err(Spent);
                }
                Err(Failure::Error(why)) if why.starts_with("no such overload") => {
                    let why = format!(
                        "'{why}': call arguments did not match a supported operator, function or macro signature for rule: {shown}"
                    );
                    self.invalid_kind(path, kind, &why);
                    continue;
                }
                Err(Failure::Error(why)) => {
                    self.invalid_kind(path, kind, &format!("{why} evaluating rule: {shown}"));
                    continue;
                }
            }
            let detail = self.detail(rule, on, kind, path)?;
            if !program.uses_old && before.unchanged(value, node) {
                // The unchanged value failed before: only warn.
                let mut found = Causes::new();
                let mut aside = Walk { budget: 0, patience: None, causes: &mut found };
                aside.refuse(rule, value, &detail, kind, path);
                self.causes.warn(&found);
                continue;
            }
            self.refuse(rule, value, &detail, kind, path);
        }
        Ok(())
    }

    /// End the walk if the caller waits no longer: a result may be missing.
    fn wait(&self) -> Result<(), Spent> {
        if self.patience.is_some_and(Patience::is_over) { Err(Spent) } else { Ok(()) }
    }

    /// Return the message for a rule that does not hold (`evalMessageExpression`).
    fn detail(&mut self, rule: &Rule, on: Variables<'_>, kind: &str, path: &Path<'_>) -> Result<String, Spent> {
        let Some(message) = &rule.message else { return Ok(rule.detail.clone()) };
        let (found, spent) = message.text(on, self.patience);
        self.wait()?;
        let Some(left) = self.budget.checked_sub(spent) else {
            let why = "messageExpression evaluation failed due to running out of cost budget, no further validation rules will be run";
            self.invalid_kind(path, kind, why);
            return Err(Spent);
        };
        self.budget = left;
        let text = match found {
            Ok(text) => text.trim().to_owned(),
            Err(Failure::Error(_)) => String::new(),
            Err(Failure::Limit) => {
                let why =
                    "no further validation rules will be run due to call cost exceeds limit for messageExpression";
                self.invalid_kind(path, kind, why);
                return Err(Spent);
            }
        };
        let usable = !text.is_empty() && text.len() <= LONGEST_MESSAGE && !text.contains('\n');
        Ok(if usable { text } else { rule.detail.clone() })
    }

    /// Add a cause at a path, which may be empty.
    fn at(&mut self, path: &Path<'_>, field: &str, add: impl FnOnce(&mut Causes, &Path<'_>)) {
        let mut text = path.to_string();
        if !field.is_empty() {
            if !text.is_empty() {
                text.push('.');
            }
            text.push_str(field);
        } else if text.is_empty() {
            // Upstream prints an empty path so.
            text.push_str("<nil>");
        }
        add(self.causes, &Path::new(&text));
    }

    /// Add that a rule failed, with the type in place of the value.
    fn invalid_kind(&mut self, path: &Path<'_>, kind: &str, why: &str) {
        self.at(path, "", |causes, at| causes.invalid_str(at, kind, why));
    }

    fn refuse(&mut self, rule: &Rule, value: &Value, detail: &str, kind: &str, path: &Path<'_>) {
        let whole = matches!(kind, "object" | "array");
        self.at(path, &rule.field, |causes, at| match rule.reason {
            CauseReason::Forbidden => causes.forbidden(at, detail),
            CauseReason::Required => causes.required(at, detail),
            CauseReason::Duplicate if whole => causes.push(at, CauseReason::Duplicate, "Duplicate value"),
            CauseReason::Duplicate => causes.duplicate(at, value),
            _ if whole => causes.push(at, CauseReason::Invalid, format!("Invalid value: {detail}")),
            _ => causes.invalid(at, value, detail),
        });
    }
}
