//! Writes of the server's own, for which nobody waits in between: several steps are one call.

use hydrofoil_codec::json;
use hydrofoil_types::{Map, Timestamp, Value};

use super::conversions::Conversions;
use super::draft::Draft;
use super::session::{Outcome, Prepare, Prepared, Read};
use crate::error::Result;
use crate::stored::Stored;

impl Draft {
    /// Do all steps of an update of a built-in kind but its admission and its commit.
    pub fn revise(
        &mut self,
        old: &Stored,
        manager: &str,
        subresource: &str,
        now: Timestamp,
        validates: bool,
    ) -> Result<(Outcome, Prepared)> {
        let read = Read::new(None, manager, subresource, now).run(self, Some(old), &Conversions::default())?;
        self.keep_metadata(old)?;
        let prepared = Prepare::new(subresource, now, validates).run(self, Some(old), None)?;
        Ok((read, prepared.unwrap_or_default()))
    }

    /// Return a copy of a new object, which has been admitted, under a name of its own and prepared.
    pub fn replicate(&self, name: &str, uid: &str, now: Timestamp) -> Result<(Self, Prepared)> {
        let mut copy = self.fork();
        copy.fill_metadata(name, uid, now);
        let prepared = Prepare::new("", now, true).run(&mut copy, None, None)?;
        Ok((copy, prepared.unwrap_or_default()))
    }

    /// Set the members of a report in the status, as JSON. Conditions are replaced by those of the same types; others
    /// stay, in their places.
    pub fn merge_status(&mut self, report: &[u8]) -> Result<()> {
        let Value::Object(report) = json::parse(report)?.value else { return Ok(()) };
        let status = self.value.object_at_mut(&["status"]);
        for (name, value) in report {
            match value {
                Value::Array(conditions) if name == "conditions" => merge_conditions(status, conditions),
                value => status.set(name, value),
            }
        }
        Ok(())
    }
}

fn merge_conditions(status: &mut Map, conditions: Vec<Value>) {
    let Some(present) = status.get_mut("conditions").and_then(Value::as_array_mut) else {
        return status.set("conditions", Value::Array(conditions));
    };
    for condition in conditions {
        let kind = condition.str_at(&["type"]);
        match present.iter_mut().find(|old| old.str_at(&["type"]) == kind) {
            Some(old) => *old = condition,
            None => present.push(condition),
        }
    }
}
