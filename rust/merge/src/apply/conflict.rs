//! The errors of server-side apply.

#![allow(clippy::indexing_slicing, reason = "places come from the list that they lead into")]

use std::fmt;

use crate::fieldset::{FieldSet, PathElement};
use crate::managed::{Entry, Managed};
use crate::versions::{Changes, Pending, Unconverted};

/// A configuration that cannot be applied, by the status of the answer.
#[derive(Clone, Debug, PartialEq)]
pub enum ApplyError {
    /// The request is invalid: 400.
    BadRequest(String),
    /// It changes fields that others own: 409.
    Conflict(Conflicts),
    /// It does not match the schema, which upstream answers with 500.
    Internal(String),
    /// Another server must convert an object first.
    Pending(Box<Pending>),
}

impl From<Unconverted> for ApplyError {
    fn from(why: Unconverted) -> Self {
        match why {
            Unconverted::Failed(text) => Self::Internal(text),
            Unconverted::Pending(conversion) => Self::Pending(conversion),
        }
    }
}

impl fmt::Display for ApplyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::BadRequest(text) | Self::Internal(text) => f.write_str(text),
            Self::Conflict(conflicts) => conflicts.fmt(f),
            Self::Pending(conversion) => write!(f, "the object is not known in {}", conversion.api_version),
        }
    }
}

impl std::error::Error for ApplyError {}

/// A path that another manager owns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Conflict {
    /// The manager as messages describe it: `"m" with subresource "status" using v1`.
    pub manager: String,
    /// The path, `.spec.replicas`: the `field` of the cause.
    pub path: String,
    steps: Vec<PathElement>,
}

impl Conflict {
    /// Return the message of the cause.
    pub fn message(&self) -> String {
        format!("conflict with {}", self.manager)
    }
}

/// All conflicts, grouped by manager (apimachinery `pkg/util/managedfields/internal/conflict.go`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Conflicts(Vec<Conflict>);

impl Conflicts {
    /// Fail if written fields belong to another manager.
    pub(super) fn between(managed: &Managed, changes: &Changes) -> Result<(), ApplyError> {
        let mut entries: Vec<&Entry> = managed.0.iter().collect();
        entries.sort_by_key(|e| identity(e));
        let mut out = Vec::new();
        for entry in entries {
            let manager = name(entry);
            for path in entry.set.intersection(changes.written_paths(&entry.api_version)).paths() {
                let text = path.iter().map(ToString::to_string).collect();
                out.push(Conflict { manager: manager.clone(), path: text, steps: path });
            }
        }
        if out.is_empty() { Ok(()) } else { Err(ApplyError::Conflict(Self(out))) }
    }

    /// Return the conflicts about paths outside of a set, if any.
    ///
    /// The manager `kubectl` may force the fields that its last-applied annotation sets (`internal/lastapplied.go`).
    #[must_use]
    pub fn outside(mut self, set: &FieldSet) -> Option<Self> {
        self.0.retain(|conflict| !set.has(&conflict.steps));
        (!self.0.is_empty()).then_some(self)
    }

    /// Return the causes, sorted by path.
    pub fn causes(&self) -> Vec<&Conflict> {
        let mut out: Vec<_> = self.0.iter().collect();
        out.sort_by(|a, b| a.path.cmp(&b.path));
        out
    }
}

impl fmt::Display for Conflicts {
    /// Write the message of the answer.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let [one] = self.0.as_slice() {
            return write!(f, "Apply failed with 1 conflict: {}: {}", one.message(), one.path);
        }
        write!(f, "Apply failed with {} conflicts: ", self.0.len())?;
        for (i, group) in self.0.chunk_by(|a, b| a.manager == b.manager).enumerate() {
            let line = if i > 0 { "\n" } else { "" };
            write!(f, "{line}conflicts with {}:", group[0].manager)?;
            for conflict in group {
                write!(f, "\n- {}", conflict.path)?;
            }
        }
        Ok(())
    }
}

/// Return the order of an entry: upstream sorts by the JSON of its identity, in which a subresource is the last member and
/// an applier has neither version nor time (`managedfields.go`, `BuildManagerIdentifier`).
fn identity(entry: &Entry) -> (&str, bool, [&str; 2], bool, &str) {
    let when = if entry.applied { ["", ""] } else { [entry.api_version.as_str(), entry.time.as_str()] };
    (&entry.manager, !entry.applied, when, entry.subresource.is_empty(), &entry.subresource)
}

fn name(entry: &Entry) -> String {
    let through = match entry.subresource.as_str() {
        "" => String::new(),
        subresource => format!(" with subresource {subresource:?}"),
    };
    let version = if entry.applied { String::new() } else { format!(" using {}", entry.api_version) };
    format!("{:?}{through}{version}", entry.manager)
}
