//! The expressions of policies and of match conditions, run on admission requests (apiserver
//! `pkg/admission/plugin/cel/condition.go`).

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;

use hydrofoil_types::Value;
use smol_str::SmolStr;

use crate::environment::{Environment, Named};
use crate::eval::{EXCEEDED, Run};
use crate::patience::Patience;
use crate::plan::Node;
use crate::program::Refusal;
use crate::scope::{Question, Scope};
use crate::value::{Fail, Right, Stage, Val, Verdict};

/// Expressions that are run one after the other and share variables.
#[derive(Debug)]
pub struct Scripts {
    /// In their order; none for an empty text.
    list: Vec<Option<Script>>,
    variables: HashMap<SmolStr, Result<Node, String>>,
}

#[derive(Debug)]
struct Script {
    text: String,
    node: Result<Node, String>,
}

/// The values of the variables; each is null if the request has none.
#[derive(Clone, Copy, Debug)]
pub struct Inputs<'a> {
    /// `object`.
    pub object: &'a Value,
    /// `oldObject`.
    pub old: &'a Value,
    /// `namespaceObject`.
    pub namespace: &'a Value,
    /// `request`.
    pub request: &'a Value,
    /// `params`.
    pub params: &'a Value,
    /// The decisions of the authorizer that are known.
    pub decisions: &'a HashMap<Question, Verdict>,
}

/// The result of one expression: none for an empty text, and the error of one without a result.
pub type Outcome = Option<Result<Value, String>>;

/// Why an evaluation ended early.
#[derive(Debug, PartialEq, Eq)]
pub enum Stop {
    /// The expressions together cost more than the budget.
    Spent,
    /// The authorizer has to be asked first.
    Asks(Question),
    /// The expressions take longer than the caller waits.
    Long,
}

impl Scripts {
    /// Compile expressions of an environment, with variables that each may name those before it.
    pub fn compile(
        environment: &Environment,
        variables: &[(String, String)],
        composed: bool,
        texts: &[String],
    ) -> Self {
        let mut named = Named::default();
        let mut made = HashMap::new();
        for (name, text) in variables {
            let within = environment.clone().with_variables(&named);
            let node = match within.compile(text) {
                Ok((node, output)) => {
                    named.set(name, Some(output));
                    Ok(node)
                }
                Err(why) => {
                    named.set(name, None);
                    Err(refusal_text(why))
                }
            };
            made.insert(SmolStr::new(name), node);
        }
        let within = if composed { environment.clone().with_variables(&named) } else { environment.clone() };
        let script = |text: &String| {
            let node = within.compile(text).map(|(node, _)| node).map_err(refusal_text);
            (!text.trim().is_empty()).then(|| Script { text: text.clone(), node })
        };
        Self { list: texts.iter().map(script).collect(), variables: made }
    }

    /// Return the error of each expression that does not compile.
    pub fn errors(&self) -> impl Iterator<Item = &str> {
        self.list.iter().flatten().filter_map(|script| script.node.as_ref().err().map(String::as_str))
    }

    /// Evaluate all expressions; return their results and the rest of the budget. Give up if they take longer
    /// than a caller waits.
    pub fn run(
        &self,
        inputs: &Inputs<'_>,
        budget: u64,
        patience: Option<&Patience>,
    ) -> Result<(Vec<Outcome>, u64), Stop> {
        let scope = self.scope(inputs, patience).map_err(|_| Stop::Spent)?;
        let mut left = budget;
        let mut out = Vec::with_capacity(self.list.len());
        for script in &self.list {
            let Some(script) = script else {
                out.push(None);
                continue;
            };
            let node = match &script.node {
                Ok(node) => node,
                Err(why) => {
                    out.push(Some(Err(format!("compilation error: {why}"))));
                    continue;
                }
            };
            let mut run = Run::of(&scope);
            let found = run.result(node);
            if patience.is_some_and(Patience::is_over) {
                return Err(Stop::Long);
            }
            if let Some(question) = scope.question.take() {
                return Err(Stop::Asks(question));
            }
            left = left.checked_sub(scope.spent.take().saturating_add(run.spent)).ok_or(Stop::Spent)?;
            out.push(Some(match found {
                Ok(value) => value.result().map_err(reason),
                Err(why) => Err(format!("expression '{}' resulted in error: {}", script.text, reason(why))),
            }));
        }
        Ok((out, left))
    }

    fn scope<'a>(&'a self, inputs: &Inputs<'a>, patience: Option<&'a Patience>) -> Result<Scope<'a>, Fail> {
        let of = |value: &'a Value| Val::of(value, crate::decl::any()).map(Some);
        let authorizer = Some(Val::Right(Rc::default()));
        let own = Some(Val::Right(Rc::new(right_of_request(inputs.request))));
        let values = [
            of(inputs.object)?,
            of(inputs.old)?,
            of(inputs.namespace)?,
            of(inputs.request)?,
            of(inputs.params)?,
            authorizer,
            own,
            None,
        ];
        Ok(Scope {
            values,
            variables: &self.variables,
            decisions: inputs.decisions,
            found: RefCell::default(),
            spent: Cell::new(0),
            patience,
            question: RefCell::default(),
        })
    }
}

/// Return the right of a request itself.
fn right_of_request(request: &Value) -> Right {
    Right {
        stage: Stage::Resource,
        group: request.str_at(&["requestResource", "group"]).into(),
        resource: request.str_at(&["requestResource", "resource"]).into(),
        subresource: request.str_at(&["requestSubResource"]).into(),
        namespace: request.str_at(&["namespace"]).into(),
        name: request.str_at(&["name"]).into(),
        ..Right::default()
    }
}

fn reason(why: Fail) -> String {
    match why {
        Fail::Error(why) => why,
        Fail::Budget | Fail::Asked => EXCEEDED.to_owned(),
    }
}

fn refusal_text(why: Refusal) -> String {
    match why {
        Refusal::Issues(why) => format!("compilation failed: {why}"),
        Refusal::Instance(why) => format!("program instantiation failed: {why}"),
        Refusal::Type => "must evaluate to another type".to_owned(),
    }
}
