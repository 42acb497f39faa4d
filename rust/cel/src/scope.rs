//! The variables of an expression about an admission request, and those of a policy, evaluated on first use (apiserver
//! `pkg/admission/plugin/cel/composition.go`).

use std::cell::{Cell, RefCell};
use std::collections::HashMap;

use smol_str::SmolStr;

use crate::environment::NAMES;
use crate::eval::Run;
use crate::plan::Node;
use crate::program::LIMIT;
use crate::value::{Fail, Out, Val, Verdict};

/// The question whether a right is granted, in parts.
pub type Question = Vec<SmolStr>;

/// The variables that the expressions of one evaluation share.
#[derive(Debug)]
pub(crate) struct Scope<'a> {
    /// By the place of their names.
    pub values: [Option<Val<'a>>; NAMES.len()],
    /// The variables of the policy; those that do not compile with the reason.
    pub variables: &'a HashMap<SmolStr, Result<Node, String>>,
    /// The decisions that are known.
    pub decisions: &'a HashMap<Question, Verdict>,
    /// The results so far; none while one is being evaluated.
    pub found: RefCell<HashMap<SmolStr, Option<Out<'a>>>>,
    /// The cost of variables since it was last taken.
    pub spent: Cell<u64>,
    /// A question without a decision: the evaluation is repeated once it has one.
    pub question: RefCell<Option<Question>>,
}

impl<'a> Scope<'a> {
    /// Return the variable at a place.
    pub fn value(&self, place: usize) -> Option<Out<'a>> {
        self.values.get(place)?.clone().map(Ok)
    }

    /// Return a variable of the policy.
    pub fn lazy(&'a self, name: &SmolStr) -> Out<'a> {
        if let Some(found) = self.found.borrow().get(name) {
            return found.clone().unwrap_or_else(|| Err(Fail::new(format!("variable \"{name}\" depends on itself"))));
        }
        let node = match self.variables.get(name) {
            None => return Err(Fail::new(format!("no such key: {name}"))),
            Some(Err(why)) => {
                return Err(Fail::new(format!("composited variable \"{name}\" fails to compile: {why}")));
            }
            Some(Ok(node)) => node,
        };
        self.found.borrow_mut().insert(name.clone(), None);
        let mut run = Run::of(self);
        let made = run.eval(node);
        self.spent.set(self.spent.get().saturating_add(run.spent));
        let made = made.map_err(|why| match why {
            Fail::Error(why) => Fail::new(format!("composited variable \"{name}\" fails to evaluate: {why}")),
            Fail::Budget => Fail::new(format!("composited variable \"{name}\" fails to evaluate: {EXCEEDED}")),
            Fail::Asked => Fail::Asked,
        });
        self.found.borrow_mut().insert(name.clone(), Some(made.clone()));
        made
    }

    /// Return the decision on a question.
    pub fn decision(&self, question: &Question) -> Out<'a> {
        if let Some(verdict) = self.decisions.get(question) {
            return Ok(Val::Verdict(verdict));
        }
        self.question.borrow_mut().get_or_insert_with(|| question.clone());
        Err(Fail::Asked)
    }
}

/// The error of an expression that costs more than one may.
pub(crate) const EXCEEDED: &str = "operation cancelled: actual cost limit exceeded";

impl<'a> Run<'a> {
    /// Return a run of an expression in a scope.
    pub(crate) fn of(scope: &'a Scope<'a>) -> Self {
        Self { this: Val::Null, old: None, locals: Vec::new(), spent: 0, limit: LIMIT, scope: Some(scope) }
    }
}
