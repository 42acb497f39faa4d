//! Expressions of policies and webhooks (`validateCELCondition` of `pkg/apis/admissionregistration/validation`).

use hydrofoil_cel::{Environment, Named, Output};
use hydrofoil_types::{Causes, Path, Value};

use hydrofoil_rules::expression::refuse;
use hydrofoil_types::read::Read;

/// The variables of an expression besides the request.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum About {
    /// The request alone.
    Request,
    /// The authorizer, too.
    Authorizer,
    /// The authorizer and patches.
    Patches,
}

/// The expressions of one policy or webhook, which share their variables.
pub(super) struct Compiler {
    params: bool,
    /// `variables`, where there are any; those that do not compile are of any type.
    variables: Option<Named>,
}

impl Compiler {
    /// Return the compiler of match conditions, which have no variables.
    pub(super) fn plain(params: bool) -> Self {
        Self { params, variables: None }
    }

    /// Return the compiler of the expressions of a policy.
    pub(super) fn of(spec: &Value, mutating: bool) -> Self {
        let composed = mutating || !spec.list("variables").is_empty();
        Self { params: spec.has("paramKind"), variables: composed.then(Named::default) }
    }

    /// Compile a variable and keep it for the expressions that follow.
    pub(super) fn variable(&mut self, name: &str, text: &str, at: &Path<'_>, causes: &mut Causes) {
        let found = self.compile(text, About::Authorizer, at, text, causes);
        if let Some(variables) = &mut self.variables {
            variables.set(name, found);
        }
    }

    /// Add the causes of an invalid expression, which has to return one of some types.
    pub(super) fn check(&self, text: &str, about: About, types: &[&str], at: &Path<'_>, causes: &mut Causes) {
        self.check_shown(text, about, types, at, text, causes);
    }

    /// Check an expression where another text is shown as the value.
    pub(super) fn check_shown(
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
