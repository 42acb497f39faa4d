//! The scale subresource: the paths of replicas and of the selector (apiextensions-apiserver
//! `pkg/registry/customresource/validator.go`).

use hydrofoil_types::{Causes, Path, SmolStr, Value, go};

use hydrofoil_types::read::Read;

/// The paths, such as `.spec.replicas`.
#[derive(Clone, Debug)]
pub struct Scale {
    /// The desired replicas.
    pub spec_replicas: SmolStr,
    /// The present replicas.
    pub status_replicas: SmolStr,
    /// The selector as text; empty when there is none.
    pub label_selector: SmolStr,
}

impl Scale {
    /// Return the paths of `subresources.scale`.
    pub(super) fn parse(scale: &Value) -> Self {
        let text = |key: &str| SmolStr::new(scale.text(key));
        Self {
            spec_replicas: text("specReplicasPath"),
            status_replicas: text("statusReplicasPath"),
            label_selector: text("labelSelectorPath"),
        }
    }

    /// `ValidateScaleSpec`.
    pub(super) fn check_spec(&self, object: &Value, causes: &mut Causes) {
        replicas(object, &self.spec_replicas, causes);
    }

    /// `ValidateScaleStatus`.
    pub(super) fn check_status(&self, object: &Value, causes: &mut Causes) {
        replicas(object, &self.status_replicas, causes);
        if !self.label_selector.is_empty()
            && let Err(why) = nested_field(object, &self.label_selector, "string")
        {
            causes.invalid_str(&Path::new(&self.label_selector), "", &why);
        }
    }
}

fn replicas(object: &Value, path: &str, causes: &mut Causes) {
    let at = Path::new(path);
    match nested_field(object, path, "int64") {
        Err(why) => causes.invalid(&at, &Value::Int(0), &why),
        Ok(found) => {
            let count = found.and_then(Value::as_int).unwrap_or(0);
            if count < 0 {
                causes.invalid(&at, &Value::Int(count), "should be a non-negative integer");
            } else if count > i64::from(i32::MAX) {
                causes.invalid(&at, &Value::Int(count), "should be less than or equal to 2147483647");
            }
        }
    }
}

/// `unstructured.NestedInt64` and `NestedString`: the value at a path, or why there cannot be one.
pub fn nested_field<'a>(object: &'a Value, path: &str, kind: &str) -> Result<Option<&'a Value>, String> {
    let mut here = object;
    let mut walked = String::new();
    for key in path.trim_start_matches('.').split('.') {
        if *here == Value::Null {
            return Ok(None);
        }
        if !matches!(here, Value::Object(_)) {
            return Err(format!(
                "{walked}.{key} accessor error: {} is of the type {}, expected map[string]interface{{}}",
                go::plain(here),
                go::kind(here)
            ));
        }
        walked.push('.');
        walked.push_str(key);
        match here.get(key) {
            None => return Ok(None),
            Some(next) => here = next,
        }
    }
    if go::kind(here) == kind {
        return Ok(Some(here));
    }
    Err(format!("{walked} accessor error: {} is of the type {}, expected {kind}", go::plain(here), go::kind(here)))
}
