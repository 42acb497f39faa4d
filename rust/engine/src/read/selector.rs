//! The label and field selectors of a request.

use std::sync::Arc;

use hydrofoil_store::{FieldSelector, Filter, LabelSelector, Selector};

use crate::error::{Error, Result};
use crate::kind::ObjectKind;

/// Parse the selectors of a request for a kind; the error has upstream's message. `namespace` is empty for all of them.
pub fn filter(kind: &dyn ObjectKind, namespace: &str, labels: &str, fields: &str) -> Result<Filter> {
    let parsed_labels = LabelSelector::parse(labels).map_err(Error::Invalid)?;
    let parsed_fields = FieldSelector::parse(fields, |label| kind.field_target(label)).map_err(Error::Invalid)?;
    let selector = Selector {
        namespace: (!namespace.is_empty()).then(|| Arc::from(namespace)),
        labels: parsed_labels,
        fields: parsed_fields.seen_in(kind.view()),
    };
    // Lists and watches with equal texts share bytes. The lengths in front keep the parts apart, whatever they contain.
    let identity = format!("{}:{}:{namespace}{labels}{fields}", namespace.len(), labels.len());
    Ok(Filter { selector, identity: Arc::from(identity) })
}
