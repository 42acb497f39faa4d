//! Expressions on claims, users and requests, from JSON to JSON.

use std::time::Duration;

use hydrofoil_cel::{Expression as Compiled, Failure, Patience, Refusal, Subject};
use hydrofoil_codec::json;

use crate::error::{Error, Result};

/// A compiled expression.
#[derive(Debug)]
pub struct Expression(Compiled);

impl Expression {
    /// Compile an expression on a variable: `claims`, `user` or `request`.
    pub fn compile(text: &str, variable: &str) -> Result<Self> {
        let subject = Subject::by_name(variable).ok_or_else(|| Error::Unknown(variable.to_owned()))?;
        Compiled::compile(text, subject).map(Self).map_err(|why| {
            Error::Invalid(match why {
                Refusal::Issues(why) => format!("compilation failed: {why}"),
                Refusal::Instance(why) => format!("program instantiation failed: {why}"),
                Refusal::Type => "must evaluate to another type".to_owned(),
            })
        })
    }

    /// Return the type of the result.
    pub fn result(&self) -> &str {
        &self.0.result
    }

    /// Return the fields of the variable that it names.
    pub fn fields(&self) -> impl Iterator<Item = &str> {
        self.0.fields.iter().map(AsRef::as_ref)
    }

    /// Return the result on a value of the variable; `None` if it takes longer than a caller waits.
    pub fn evaluate(&self, on: &[u8], patience: Option<Duration>) -> Result<Option<Vec<u8>>> {
        let (on, patience) = (json::parse(on)?.value, patience.map(Patience::of));
        let found = self.0.evaluate(&on, patience.as_ref());
        if patience.is_some_and(|patience| patience.is_over()) {
            return Ok(None);
        }
        let found = found.map_err(|why| {
            Error::Evaluation(match why {
                Failure::Error(why) => why,
                Failure::Limit => "operation cancelled: actual cost limit exceeded".to_owned(),
            })
        })?;
        Ok(Some(json::encode_any(&found)))
    }
}
