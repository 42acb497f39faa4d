//! The expressions of policies and webhooks, from JSON to JSON.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use hydrofoil_cel::{Decl, Environment, Inputs, Patience, Scripts, Stop};
pub use hydrofoil_cel::{Question, Verdict};
use hydrofoil_codec::json;
use hydrofoil_types::Value;

use crate::error::Result;

/// A value that expressions read.
#[derive(Debug)]
pub struct Document(Value);

impl Document {
    /// Parse JSON.
    pub fn parse(data: &[u8]) -> Result<Self> {
        Ok(Self(json::parse(data)?.value))
    }
}

/// The variables of an evaluation; each is null if the request has none.
#[derive(Clone, Copy, Debug)]
pub struct Subject<'a> {
    /// `object`.
    pub object: Option<&'a Document>,
    /// `oldObject`.
    pub old: Option<&'a Document>,
    /// `namespaceObject`.
    pub namespace: Option<&'a Document>,
    /// `request`.
    pub request: &'a Document,
    /// `params`.
    pub params: Option<&'a Document>,
}

/// The result of an expression as JSON and its error; neither for an empty text.
pub type Outcome = (Option<Vec<u8>>, Option<String>);

/// The end of an evaluation.
#[derive(Debug, PartialEq, Eq)]
pub enum Evaluated {
    /// The results, and the rest of the budget.
    Done(Vec<Outcome>, u64),
    /// The expressions cost more than the budget.
    Spent,
    /// The authorizer has to be asked first.
    Asks(Question),
    /// The expressions take longer than the caller waits.
    Long,
}

/// Compiled expressions that are run one after the other.
#[derive(Debug)]
pub struct Expressions(Scripts);

impl Expressions {
    /// Compile expressions about an admission request; `variables` are those of a policy, by name.
    pub fn compile(
        texts: &[String],
        variables: Option<&[(String, String)]>,
        params: bool,
        authorizer: bool,
        patches: bool,
    ) -> Self {
        let mut environment = Environment::admission(params, authorizer);
        if patches {
            environment = environment.with_patches();
        }
        Self(Scripts::compile(&environment, variables.unwrap_or(&[]), variables.is_some(), texts))
    }

    /// Return the errors of those that do not compile.
    pub fn errors(&self) -> Vec<String> {
        self.0.errors().map(str::to_owned).collect()
    }

    /// Evaluate all; give up if they take longer than a caller waits.
    pub fn run(
        &self,
        on: Subject<'_>,
        decisions: &HashMap<Question, Verdict>,
        budget: u64,
        patience: Option<Duration>,
    ) -> Evaluated {
        let inputs = Inputs {
            object: value(on.object),
            old: value(on.old),
            namespace: value(on.namespace),
            request: &on.request.0,
            params: value(on.params),
            decisions,
        };
        match self.0.run(&inputs, budget, patience.map(Patience::of).as_ref()) {
            Ok((found, left)) => Evaluated::Done(found.into_iter().map(outcome).collect(), left),
            Err(Stop::Spent) => Evaluated::Spent,
            Err(Stop::Asks(question)) => Evaluated::Asks(question),
            Err(Stop::Long) => Evaluated::Long,
        }
    }
}

/// The type of the objects of one kind, in expressions.
#[derive(Debug)]
pub struct Declaration(Arc<Decl>);

impl Declaration {
    /// Return the type of a kind of an `OpenAPI` v3 document, by group, version and kind; `name` is the name of the type.
    pub fn published(document: &Document, kind: [&str; 3], name: &str) -> Option<Self> {
        Decl::of_openapi(&document.0, kind, name).map(Self)
    }

    /// Return the type of a version of a definition; `shared` is an `OpenAPI` v3 document with the type of metadata.
    pub fn defined(definition: &Document, version: &str, shared: &Document, name: &str) -> Option<Self> {
        Decl::of_definition(&definition.0, version, &shared.0, name).map(Self)
    }

    /// Return the issues of each expression of a policy on such objects; none if they have more than `most` bytes.
    pub fn issues(
        &self,
        params: Option<&Self>,
        variables: &[(String, String)],
        texts: &[String],
        most: usize,
    ) -> Option<Vec<Option<String>>> {
        hydrofoil_cel::issues(&self.0, params.map(|params| &params.0), variables, texts, most)
    }
}

fn value(document: Option<&Document>) -> &Value {
    document.map_or(&Value::Null, |document| &document.0)
}

fn outcome(found: hydrofoil_cel::Outcome) -> Outcome {
    match found {
        None => (None, None),
        Some(Ok(value)) => (Some(json::encode_any(&value)), None),
        Some(Err(why)) => (None, Some(why)),
    }
}
