//! The strategy of custom resources (apiextensions `pkg/registry/customresource/strategy.go`).

use hydrofoil_cel::Patience;
use hydrofoil_custom as custom;
use hydrofoil_types::{Causes, Timestamp, Value};

use super::Custom;
use crate::kind::{Strategy, Traits};

impl Strategy for Custom {
    fn traits(&self) -> Traits {
        Traits::default()
    }

    fn reset_fields(&self, subresource: &str) -> &'static [&'static [&'static str]] {
        match subresource {
            "" if self.version().status => &[&["status"]],
            "status" => &[&["metadata"], &["spec"]],
            _ => &[],
        }
    }

    /// Do nothing: a custom resource must name its type itself.
    fn identify(&self, _object: &mut Value) {}

    /// Do nothing: the decoder of a custom resource has set its defaults.
    fn default(&self, _object: &mut Value, _now: Timestamp) {}

    fn prepare(&self, object: &mut Value, old: Option<&Value>, subresource: &str, _now: Timestamp) {
        match old {
            Some(old) => custom::begin_update(self.version(), subresource, object, old),
            None => custom::begin_create(self.version(), object),
        }
    }

    fn validate(
        &self,
        object: &Value,
        old: Option<&Value>,
        subresource: &str,
        _now: Timestamp,
        patience: Option<&Patience>,
    ) -> Causes {
        let mut causes = Causes::new();
        let (definition, version) = (&self.definition, self.version());
        match old {
            Some(old) => custom::update(definition, version, subresource, object, old, patience, &mut causes),
            None => custom::create(definition, version, object, patience, &mut causes),
        }
        causes
    }

    fn complete_unlabelled(&self, _object: &mut Value) {}

    fn warnings(&self, object: &Value, old: Option<&Value>, subresource: &str, passed: Vec<String>) -> Vec<String> {
        let mut out = passed;
        if subresource != "status" {
            out.extend(custom::warnings(object, old));
        }
        out
    }
}
