//! The assignment of a pod to a node (registry `core/pod/storage`, `BindingREST`).

use hydrofoil_types::{Map, MetaView, Value};

use super::draft::Draft;

/// Why a pod cannot be assigned.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Hindrance {
    /// It is being deleted.
    Deletion,
    /// It is on this node.
    Node(String),
    /// Something holds its scheduling back.
    Gates,
}

impl Draft {
    /// Assign a pod to a node at a moment, in RFC 3339.
    pub fn assign_node(&mut self, node: &str, moment: &str) -> Result<(), Hindrance> {
        if !MetaView::of(&self.value).deletion_timestamp().is_empty() {
            return Err(Hindrance::Deletion);
        }
        let present = self.value.str_at(&["spec", "nodeName"]);
        if !present.is_empty() {
            return Err(Hindrance::Node(present.to_owned()));
        }
        if !self.value.list_at(&["spec", "schedulingGates"]).is_empty() {
            return Err(Hindrance::Gates);
        }
        self.value.object_at_mut(&["spec"]).set("nodeName", node);
        let mut condition = Map::new();
        condition.push("type", "PodScheduled");
        condition.push("status", "True");
        condition.push("lastProbeTime", Value::Null);
        condition.push("lastTransitionTime", moment);
        let status = self.value.object_at_mut(&["status"]);
        let mut conditions = match status.remove("conditions") {
            Some(Value::Array(conditions)) => conditions,
            _ => Vec::new(),
        };
        conditions.retain(|condition| condition.str_at(&["type"]) != "PodScheduled");
        conditions.push(Value::Object(condition));
        status.set("conditions", conditions);
        Ok(())
    }
}
