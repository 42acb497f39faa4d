//! The result of a validation (kube-openapi `pkg/validation/validate/result.go`).

#![allow(clippy::arithmetic_side_effects, reason = "it counts what an object of a few megabytes has")]

use hydrofoil_types::{CauseReason, Causes, KeySet, Path, SmolStr, Value};

use super::{join_path, push};

/// One error, not yet placed in the object.
#[derive(Clone, Debug)]
pub(super) struct Problem {
    /// The path; absent for messages of junctors, which have none upstream.
    name: Option<SmolStr>,
    /// Upstream's text, which identifies a problem.
    text: SmolStr,
    form: Form,
}

#[derive(Clone, Debug)]
enum Form {
    Required,
    Invalid(Value),
    Kind(Value),
    TooLong(i64),
    TooMany(i64, i64),
    NotSupported(Value, Vec<SmolStr>),
    /// A message of a junctor: only its text is shown.
    Loose,
}

impl Problem {
    /// Return that a member is missing.
    pub fn missing_member(name: &str) -> Self {
        Self { name: Some(name.into()), text: format!("{name} in body is required").into(), form: Form::Required }
    }

    /// Return that a value is invalid.
    pub fn invalid(name: &str, value: Value, text: String) -> Self {
        Self { name: Some(name.into()), text: text.into(), form: Form::Invalid(value) }
    }

    /// Return that a value is of the wrong type.
    pub fn kind(name: &str, value: Value, text: String) -> Self {
        Self { name: Some(name.into()), text: text.into(), form: Form::Kind(value) }
    }

    /// Return that a text is too long.
    pub fn too_long(name: &str, max: i64) -> Self {
        let text = format!("{name} in body should be at most {max} chars long");
        Self { name: Some(name.into()), text: text.into(), form: Form::TooLong(max) }
    }

    /// Return that there are too many items or members.
    pub fn too_many(name: &str, size: i64, max: i64, what: &str) -> Self {
        let text = format!("{name} in body should have at most {max} {what}");
        Self { name: Some(name.into()), text: text.into(), form: Form::TooMany(size, max) }
    }

    /// Return that a value is not one of those allowed.
    pub fn not_supported(name: &str, value: &Value, allowed: &[Value]) -> Self {
        let allowed: Vec<SmolStr> =
            allowed.iter().map(|v| v.as_str().map_or_else(|| v.to_json().into(), SmolStr::new)).collect();
        let text = format!("{name} in body should be one of [{}]", allowed.join(" "));
        Self { name: Some(name.into()), text: text.into(), form: Form::NotSupported(value.clone(), allowed) }
    }

    /// Return a problem that is placed nowhere.
    pub fn loose(text: String) -> Self {
        Self { name: None, text: text.into(), form: Form::Loose }
    }

    fn report(self, under: Option<&str>, causes: &mut Causes) {
        let Some(name) = &self.name else {
            let at = under.unwrap_or("<nil>");
            return push(causes, at, |c, path| c.invalid_str(path, "", &self.text));
        };
        let at = join_path(under, name);
        push(causes, &at, |c, path| match self.form {
            Form::Required => c.required(path, ""),
            Form::TooLong(max) => c.too_long(path, max.max(0) as usize),
            Form::TooMany(size, max) => c.too_many(path, size.max(0) as usize, max.max(0) as usize),
            Form::NotSupported(value, allowed) => {
                let allowed: Vec<&str> = allowed.iter().map(SmolStr::as_str).collect();
                c.not_supported_in_order(path, &value, &allowed);
            }
            Form::Kind(value) => kind(c, path, &value, &self.text),
            Form::Invalid(value) => c.invalid(path, &value, &self.text),
            Form::Loose => c.invalid_str(path, "", &self.text),
        });
    }
}

fn kind(causes: &mut Causes, path: &Path<'_>, value: &Value, text: &str) {
    let mut shown = Causes::new();
    shown.invalid(path, value, text);
    if let Some(cause) = shown.as_slice().first() {
        causes.push(path, CauseReason::TypeInvalid, cause.message.clone());
    }
}

/// The problems found, and the number of checks that succeeded: it selects the closest of several alternatives.
#[derive(Debug, Default)]
pub(super) struct Result {
    pub problems: Vec<Problem>,
    pub matches: usize,
    pub reported: KeySet<SmolStr>,
}

impl Result {
    /// Report whether nothing was found.
    pub fn is_valid(&self) -> bool {
        self.problems.is_empty()
    }

    /// Add a problem whose text was not added yet.
    pub fn add(&mut self, problem: Problem) {
        if self.reported.insert(problem.text.clone()) {
            self.problems.push(problem);
        }
    }

    /// Add the findings of another validation.
    pub fn merge(&mut self, other: Self) {
        self.matches += other.matches;
        if self.problems.is_empty() {
            (self.problems, self.reported) = (other.problems, other.reported);
            return;
        }
        for problem in other.problems {
            self.add(problem);
        }
    }

    /// Append the problems to causes, with paths below that of the value.
    pub fn report(self, under: Option<&str>, causes: &mut Causes) {
        for problem in self.problems {
            problem.report(under, causes);
        }
    }
}
