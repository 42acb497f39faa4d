//! The variables of an expression about an admission request, and those of a policy, evaluated on first use (apiserver
//! `pkg/admission/plugin/cel/composition.go`).

use std::cell::{Cell, RefCell};
use std::collections::HashMap;

use smol_str::SmolStr;

use crate::patience::Patience;
use crate::plan::{Node, VARIABLES};
use crate::value::{Fail, Out, Val, Verdict};

/// The names of the variables of admission, in the order of a scope's values.
pub(crate) const NAMES: [&str; 8] = [
    "object",
    "oldObject",
    "namespaceObject",
    "request",
    "params",
    "authorizer",
    "authorizer.requestResource",
    VARIABLES,
];

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
    /// The time of a caller that waits.
    pub patience: Option<&'a Patience>,
    /// A question without a decision: the evaluation is repeated once it has one.
    pub question: RefCell<Option<Question>>,
}

impl<'a> Scope<'a> {
    /// Return the variable at a place.
    pub fn value(&self, place: usize) -> Option<Out<'a>> {
        self.values.get(place)?.clone().map(Ok)
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
