//! Compilation and runs of an expression.

use std::sync::Arc;

use hydrofoil_types::Value;

use crate::ast::Expr;
use crate::checker::{self, Checked};
use crate::cost;
use crate::decl::Decl;
use crate::eval::Run;
use crate::parser;
use crate::patience::Patience;
use crate::plan::{self, Node};
use crate::source;
use crate::types::Type;
use crate::value::{Fail, Val};

/// A compiled expression of `self` and `oldSelf`.
#[derive(Debug)]
pub struct Program {
    node: Node,
    /// Whether `oldSelf` is used.
    pub uses_old: bool,
    /// The maximum cost by the estimate.
    pub cost: u64,
    optional_old: bool,
}

/// The required type of the result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A boolean.
    Bool,
    /// A string.
    Text,
}

/// The reason why an expression is rejected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// It does not parse or check; the issues as cel-go prints them.
    Issues(String),
    /// Its type is not the required one.
    Type,
    /// A constant in it has an invalid value.
    Instance(String),
}

impl Refusal {
    /// Return the message for a rule (apiextensions-apiserver `pkg/apiserver/schema/cel/compilation.go`).
    pub fn of_rule(self) -> String {
        match self {
            Self::Type => "cel expression must evaluate to a bool".to_owned(),
            Self::Issues(why) => format!("compilation failed: {why}"),
            Self::Instance(why) => format!("program instantiation failed: {why}"),
        }
    }
}

/// The values of the variables.
#[derive(Clone, Copy, Debug)]
pub struct Variables<'a> {
    /// `self`.
    pub this: &'a Value,
    /// `oldSelf`.
    pub old: Option<&'a Value>,
    /// The declaration of both.
    pub decl: &'a Decl,
}

/// The reason why a run has no result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Failure {
    /// An error of the expression.
    Error(String),
    /// The run exceeded its cost limit.
    Limit,
}

impl Program {
    /// Compile an expression; with `optional_old`, `oldSelf` is an optional.
    ///
    /// The error reports the rejecting step and the reason.
    pub fn compile(text: &str, decl: &Arc<Decl>, optional_old: bool, kind: Kind) -> Result<Self, Refusal> {
        let reported = |issues: Vec<source::Issue>| Refusal::Issues(source::render(text, &issues));
        let (mut expr, nodes) = parser::parse(text, false).map_err(reported)?;
        let this = Type::of(decl);
        let old = if optional_old { Type::optional(this.clone()) } else { this.clone() };
        let variables = [("self", this), ("oldSelf", old)];
        let checked: Checked = match checker::check(&mut expr, nodes, &variables, false) {
            // Messages print the types as if of a root schema.
            Err(_) if !decl.is_root() => return Self::compile(text, &decl.as_root(), optional_old, kind),
            other => other.map_err(reported)?,
        };
        let fits = match kind {
            Kind::Bool => matches!(checked.of(&expr), Type::Bool),
            Kind::Text => matches!(checked.of(&expr), Type::String),
        };
        if !fits {
            return Err(Refusal::Type);
        }
        let node = plan::plan(&expr, "self");
        constants(&node)?;
        Ok(Self { node, uses_old: names(&expr, "oldSelf"), cost: cost::estimate(&expr, &checked, decl), optional_old })
    }

    /// Run it on values; also return the cost. There is no result if a caller's patience is over then.
    pub fn truth(&self, on: Variables<'_>, patience: Option<&Patience>) -> (Result<bool, Failure>, u64) {
        self.run(on, patience, |value| match value {
            Val::Bool(b) => Ok(b),
            _ => Err(Fail::overload()),
        })
    }

    /// Run it on values for a string, as `truth` does.
    pub fn text(&self, on: Variables<'_>, patience: Option<&Patience>) -> (Result<String, Failure>, u64) {
        self.run(on, patience, |value| match value {
            Val::Str(text) => Ok(text.to_string()),
            _ => Err(Fail::new("messageExpression failed to convert to string")),
        })
    }

    fn run<'a, T>(
        &'a self,
        on: Variables<'a>,
        patience: Option<&'a Patience>,
        take: impl FnOnce(Val<'a>) -> Result<T, Fail>,
    ) -> (Result<T, Failure>, u64) {
        let reported = |why: Fail| match why {
            Fail::Error(why) => Failure::Error(why),
            Fail::Budget | Fail::Asked => Failure::Limit,
        };
        let ready = Val::of(on.this, on.decl).and_then(|this| {
            let old = match on.old.filter(|_| self.uses_old) {
                None => self.optional_old.then_some(Val::Optional(None)),
                Some(old) if self.optional_old => Some(Val::some(Val::of(old, on.decl)?)),
                Some(old) => Some(Val::of(old, on.decl)?),
            };
            Ok(Run::new(this, old, patience))
        });
        match ready {
            Err(why) => (Err(reported(why)), 0),
            Ok(mut run) => {
                let found = run.result(&self.node).and_then(take).map_err(reported);
                (found, run.spent)
            }
        }
    }
}

/// Evaluate the operations that need no variables.
pub(crate) fn constants(node: &Node) -> Result<(), Refusal> {
    if let Node::Free(inner) = node {
        return match Run::new(Val::Null, None, None).eval(inner) {
            // A key that is a variable is known only at runtime.
            Err(Fail::Error(why)) if !matches!(**inner, Node::Local(_)) => Err(Refusal::Instance(why)),
            _ => Ok(()),
        };
    }
    node.each_child(&mut |child| constants(child))
}

/// Report whether an expression refers to a name.
fn names(expr: &Expr, name: &str) -> bool {
    if matches!(&expr.kind, crate::ast::Kind::Ident(found) if found == name) {
        return true;
    }
    let mut found = false;
    checker::each_child(expr, &mut |child| found |= names(child, name));
    found
}
