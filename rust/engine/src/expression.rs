//! Expressions on claims, users and requests, from JSON to JSON.

use hydrofoil_cel::{Expression as Compiled, Failure, Refusal, Subject};
use hydrofoil_codec::json;

use crate::error::{Error, Result};

/// A compiled expression.
#[derive(Debug)]
pub struct Expression(Compiled);

impl Expression {
    /// Compile an expression on a variable: `claims`, `user` or `request`.
    pub fn compile(text: &str, variable: &str) -> Result<Self> {
        let subject = Subject::named(variable).ok_or_else(|| Error::Unknown(variable.to_owned()))?;
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

    /// Return the result on a value of the variable.
    pub fn evaluate(&self, on: &[u8]) -> Result<Vec<u8>> {
        let on = json::parse(on)?.value;
        let found = self.0.evaluate(&on).map_err(|why| {
            Error::Evaluation(match why {
                Failure::Error(why) => why,
                Failure::Limit => "operation cancelled: actual cost limit exceeded".to_owned(),
            })
        })?;
        Ok(json::encode_any(&found))
    }
}
