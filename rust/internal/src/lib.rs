//! Objects as Go's internal types write them, for the causes that show a whole struct.
//!
//! `field.Error` shows a struct by `json.Marshal` of the internal type, which has no tags: members are named and
//! ordered as in Go and none is left out. `diff.Diff` compares two such texts line by line.

// Input must not make the server panic: each place that could has been looked at.
#![warn(clippy::string_slice, clippy::indexing_slicing, clippy::arithmetic_side_effects)]

mod diff;
mod same;
mod table;
mod write;

use hydrofoil_types::{CauseReason, Causes, Path, Value};

use self::write::Writer;

/// Return a value of the type (`core.PodSpec`, `[]core.PodIP`) as compact JSON.
pub fn json(shape: &str, value: &Value) -> String {
    let mut writer = Writer::compact();
    writer.value(shape, Some(value), None);
    writer.finish()
}

/// Return the changes between two values as upstream's `diff.Diff` shows them: a unified diff of indented JSON.
pub fn diff(shape: &str, old: &Value, new: &Value) -> String {
    let text = |value| {
        let mut writer = Writer::with_indent();
        writer.value(shape, Some(value), None);
        writer.finish()
    };
    diff::unified_diff(&text(old), &text(new))
}

/// Report whether two values of a type are `apiequality.Semantic.DeepEqual`.
pub fn same(shape: &str, a: &Value, b: &Value) -> bool {
    a == b || same::same(shape, a, b)
}

/// Causes that show a value as its internal type.
pub trait InternalCauses {
    /// Add `Invalid value: {...}: detail`; the shape is as for [`json`].
    fn invalid_internal(&mut self, path: &Path<'_>, shape: &str, value: &Value, detail: &str);
    /// Add `Duplicate value: {...}`.
    fn duplicate_internal(&mut self, path: &Path<'_>, shape: &str, value: &Value);
    /// `ValidateImmutableField`.
    fn immutable_internal(&mut self, path: &Path<'_>, shape: &str, new: &Value, old: &Value);
}

/// Return a value as a cause shows it, if one more is shown.
fn cause_text(causes: &Causes, shape: &str, value: &Value) -> String {
    if causes.is_full() { String::new() } else { json(shape, value) }
}

impl InternalCauses for Causes {
    fn invalid_internal(&mut self, path: &Path<'_>, shape: &str, value: &Value, detail: &str) {
        let shown = cause_text(self, shape, value);
        self.push(path, CauseReason::Invalid, format!("Invalid value: {shown}: {detail}"));
    }

    fn duplicate_internal(&mut self, path: &Path<'_>, shape: &str, value: &Value) {
        let shown = cause_text(self, shape, value);
        self.push(path, CauseReason::Duplicate, format!("Duplicate value: {shown}"));
    }

    fn immutable_internal(&mut self, path: &Path<'_>, shape: &str, new: &Value, old: &Value) {
        if !same(shape, new, old) {
            self.invalid_internal(path, shape, new, "field is immutable");
        }
    }
}

#[cfg(test)]
mod tests {
    use hydrofoil_types::{Map, Value};

    use super::{diff, json, same};

    fn object(members: Vec<(&str, Value)>) -> Value {
        let mut map = Map::new();
        for (key, value) in members {
            map.push(key, value);
        }
        Value::Object(map)
    }

    #[test]
    fn members_are_named_as_in_go_and_none_is_left_out() {
        let value = object(vec![("type", "ByUser".into())]);
        assert_eq!(json("flowcontrol.FlowDistinguisherMethod", &value), r#"{"Type":"ByUser"}"#);
        assert_eq!(json("batch.SuccessPolicy", &Value::object()), r#"{"Rules":null}"#);
        assert_eq!(json("*batch.SuccessPolicy", &Value::Null), "null");
    }

    #[test]
    fn types_of_apimachinery_keep_their_tags() {
        let requirement = object(vec![("operator", "Exists".into())]);
        let selector =
            object(vec![("matchLabels", Value::object()), ("matchExpressions", Value::from(vec![requirement]))]);
        assert_eq!(json("*meta.LabelSelector", &selector), r#"{"matchExpressions":[{"key":"","operator":"Exists"}]}"#);
        let template = object(vec![("metadata", object(vec![("name", "<x>".into())]))]);
        assert!(
            json("core.PodTemplateSpec", &template).starts_with(r#"{"name":"\u003cx\u003e","Spec":{"Volumes":null,"#)
        );
    }

    #[test]
    fn the_network_of_a_pod_shows_in_its_security_context() {
        let spec = object(vec![("hostNetwork", true.into()), ("securityContext", Value::object())]);
        assert!(json("core.PodSpec", &spec).contains(r#""SecurityContext":{"HostNetwork":true,"#));
    }

    #[test]
    fn a_pointer_to_zero_is_not_nil_but_an_empty_list_is() {
        let nothing = Value::object();
        let empty = object(vec![("rules", Value::from(Vec::new()))]);
        assert!(same("batch.SuccessPolicy", &nothing, &empty));
        let zero = object(vec![("succeededCount", 0.into())]);
        assert!(!same("batch.SuccessPolicyRule", &nothing, &zero));
        let sized = |text: &str| object(vec![("sizeLimit", text.into())]);
        assert!(same("core.EmptyDirVolumeSource", &sized("1Gi"), &sized("1024Mi")));
        assert!(same("t", &Value::Null, &"0001-01-01T00:00:00Z".into()));
    }

    #[test]
    fn a_difference_is_a_unified_diff_of_indented_json() {
        let old = object(vec![("path", "/a".into())]);
        let new = object(vec![("path", "/b".into())]);
        assert_eq!(
            diff("core.LocalVolumeSource", &old, &new),
            "@@ -1,4 +1,4 @@\n {\n- \"Path\": \"/a\",\n+ \"Path\": \"/b\",\n  \"FSType\": null\n }\n"
        );
    }
}
