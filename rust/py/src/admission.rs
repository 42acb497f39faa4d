//! The expressions of policies and webhooks.

use std::collections::HashMap;

use hydrofoil_engine::admission::{self, Evaluated, Outcome, Question, Subject, Verdict};
use pyo3::prelude::*;

use crate::error::Fallible;
use crate::frame::{apart, seconds};
use crate::handles::{Declaration, Document, Expressions};

/// A decision: whether a right is granted, the reason, and an error.
type Decision = (bool, String, Option<String>);

/// The results, the rest of the budget (-1 if they cost more, -2 if they take long), and a question to be answered
/// first.
type Answer = (Vec<Outcome>, i64, Option<Vec<String>>);

#[pymethods]
impl Document {
    #[new]
    fn new(data: &[u8]) -> Fallible<Self> {
        Ok(Self(apart(data.len(), || admission::Document::parse(data))?, data.len()))
    }
}

#[pymethods]
impl Expressions {
    #[new]
    #[pyo3(signature = (texts, variables=None, *, params=false, authorizer=false, patches=false))]
    fn new(
        texts: Vec<String>,
        variables: Option<Vec<(String, String)>>,
        params: bool,
        authorizer: bool,
        patches: bool,
    ) -> Self {
        Self(admission::Expressions::compile(&texts, variables.as_deref(), params, authorizer, patches))
    }

    #[getter]
    fn errors(&self) -> Vec<String> {
        self.0.errors()
    }

    #[pyo3(signature = (request, object, old, namespace, params, decisions, budget, patience))]
    #[allow(clippy::too_many_arguments, reason = "they are the variables of an expression")]
    fn evaluate(
        &self,
        request: &Document,
        object: Option<&Document>,
        old: Option<&Document>,
        namespace: Option<&Document>,
        params: Option<&Document>,
        decisions: Vec<(Vec<String>, Decision)>,
        budget: u64,
        patience: Option<f64>,
    ) -> Answer {
        let known: HashMap<Question, Verdict> = decisions
            .into_iter()
            .map(|(question, (allowed, reason, error))| {
                (question.into_iter().map(Into::into).collect(), Verdict { allowed, reason, error })
            })
            .collect();
        let size = [object, old, params].into_iter().flatten().map(|document| document.1).sum();
        let on = Subject {
            object: object.map(|d| &d.0),
            old: old.map(|d| &d.0),
            namespace: namespace.map(|d| &d.0),
            request: &request.0,
            params: params.map(|d| &d.0),
        };
        let size = if patience.is_none() { usize::MAX } else { size };
        let patience = patience.map(seconds);
        match apart(size, || self.0.run(on, &known, budget, patience)) {
            Evaluated::Done(found, left) => (found, left.cast_signed(), None),
            Evaluated::Spent => (Vec::new(), -1, None),
            Evaluated::Long => (Vec::new(), -2, None),
            Evaluated::Asks(question) => {
                (Vec::new(), budget.cast_signed(), Some(question.iter().map(ToString::to_string).collect()))
            }
        }
    }
}

#[pymethods]
impl Declaration {
    #[staticmethod]
    fn published(document: &Document, group: &str, version: &str, kind: &str, name: &str) -> Option<Self> {
        let make = || admission::Declaration::published(&document.0, [group, version, kind], name);
        apart(document.1, make).map(Self)
    }

    #[staticmethod]
    fn defined(definition: &Document, version: &str, shared: &Document, name: &str) -> Option<Self> {
        let make = || admission::Declaration::defined(&definition.0, version, &shared.0, name);
        apart(shared.1, make).map(Self)
    }

    fn issues(
        &self,
        params: Option<&Self>,
        variables: Vec<(String, String)>,
        texts: Vec<String>,
        most: usize,
    ) -> Option<Vec<Option<String>>> {
        // How long it takes does not depend on the size of the texts alone.
        apart(usize::MAX, || self.0.issues(params.map(|params| &params.0), &variables, &texts, most))
    }
}
