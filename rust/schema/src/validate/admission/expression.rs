//! Expressions of policies and webhooks (`validateCELCondition` of `pkg/apis/admissionregistration/validation`).

use hydrofoil_cel::{Environment, Named, Output, Refusal};
use hydrofoil_types::{CauseReason, Causes, Path, Value};

use crate::read::Read;

/// The expressions of one policy or webhook, which share their variables.
pub(super) struct Compiler {
    params: bool,
    /// `variables`, where there are any; those that do not compile are of any type.
    variables: Option<Named>,
}

/// What an expression is about besides the request.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum About {
    /// The request alone.
    Request,
    /// What the requester may do, too.
    Authorizer,
    /// And patches.
    Patches,
}

impl Compiler {
    /// For match conditions, which see no variables.
    pub fn plain(params: bool) -> Self {
        Self { params, variables: None }
    }

    /// For the expressions of a policy.
    pub fn of(spec: &Value, mutating: bool) -> Self {
        let composed = mutating || !spec.list("variables").is_empty();
        Self { params: spec.has("paramKind"), variables: composed.then(Named::default) }
    }

    /// Compiles a variable and keeps it for the expressions that follow.
    pub fn variable(&mut self, name: &str, text: &str, at: &Path<'_>, causes: &mut Causes) {
        let found = self.compile(text, About::Authorizer, at, text, causes);
        if let Some(variables) = &mut self.variables {
            variables.set(name, found);
        }
    }

    /// Adds what is wrong with an expression that has to give one of some types.
    pub fn check(&self, text: &str, about: About, types: &[&str], at: &Path<'_>, causes: &mut Causes) {
        self.check_shown(text, about, types, at, text, causes);
    }

    /// As `check`, where another text is shown as the value.
    pub fn check_shown(
        &self,
        text: &str,
        about: About,
        types: &[&str],
        at: &Path<'_>,
        shown: &str,
        causes: &mut Causes,
    ) {
        let Some(output) = self.compile(text, about, at, shown, causes) else { return };
        if types.iter().any(|name| output.is(name)) {
            return;
        }
        let why = match types {
            [one] => format!("must evaluate to {one} but got {output}"),
            several => format!("must evaluate to one of [{}] but got {output}", several.join(" ")),
        };
        causes.invalid_str(at, shown, &why);
    }

    fn compile(&self, text: &str, about: About, at: &Path<'_>, shown: &str, causes: &mut Causes) -> Option<Output> {
        let mut environment = Environment::admission(self.params, about != About::Request);
        if about == About::Patches {
            environment = environment.with_patches();
        }
        if let Some(variables) = &self.variables {
            environment = environment.with_variables(variables);
        }
        match environment.check(text) {
            Ok(output) => Some(output),
            Err(why) => {
                refuse(why, at, shown, causes);
                None
            }
        }
    }
}

/// Adds why an expression does not compile.
pub(crate) fn refuse(why: Refusal, at: &Path<'_>, shown: &str, causes: &mut Causes) {
    match why {
        Refusal::Issues(why) => causes.invalid_str(at, shown, &format!("compilation failed: {why}")),
        Refusal::Instance(why) => {
            causes.push(at, CauseReason::Internal, format!("Internal error: program instantiation failed: {why}"));
        }
        Refusal::Type => {}
    }
}
