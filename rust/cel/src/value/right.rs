//! Authorizers in expressions, what they are asked about, and their decisions (apiserver `pkg/cel/library/authz.go`).

use smol_str::SmolStr;

use super::Fail;

/// An authorizer, narrowed down to one question.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Right {
    pub stage: Stage,
    /// Namespace and name of the service account in question; the user of the request without one.
    pub account: Option<(SmolStr, SmolStr)>,
    pub path: SmolStr,
    pub group: SmolStr,
    pub resource: SmolStr,
    pub subresource: SmolStr,
    pub namespace: SmolStr,
    pub name: SmolStr,
    pub field_selector: SmolStr,
    pub label_selector: SmolStr,
}

/// The type of a [`Right`] in expressions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Stage {
    #[default]
    Authorizer,
    Path,
    Group,
    Resource,
}

/// The decision of an authorizer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Verdict {
    /// Whether the right is granted.
    pub allowed: bool,
    /// Why it is, or why not.
    pub reason: String,
    /// An error on the way to the decision.
    pub error: Option<String>,
}

impl Right {
    /// Return the name of the type.
    pub fn kind(&self) -> &'static str {
        match self.stage {
            Stage::Authorizer => "kubernetes.authorization.Authorizer",
            Stage::Path => "kubernetes.authorization.PathCheck",
            Stage::Group => "kubernetes.authorization.GroupCheck",
            Stage::Resource => "kubernetes.authorization.ResourceCheck",
        }
    }

    /// Return the question whether a verb is allowed: its parts, each on its own.
    pub fn question(&self, verb: &str) -> Result<Vec<SmolStr>, Fail> {
        if !matches!(self.stage, Stage::Path | Stage::Resource) {
            return Err(Fail::overload());
        }
        let (namespace, account) = self.account.clone().unwrap_or_default();
        Ok(vec![
            namespace,
            account,
            self.path.clone(),
            verb.into(),
            self.group.clone(),
            self.resource.clone(),
            self.subresource.clone(),
            self.namespace.clone(),
            self.name.clone(),
            self.field_selector.clone(),
            self.label_selector.clone(),
        ])
    }
}
