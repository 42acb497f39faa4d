//! The objects of a run, as JSON, with their marks.

use std::fmt::Write;

use crate::marks::{CHURN, CHURN_DATA, Mark, SEED, SEED_DATA};
use crate::plan::{Plan, Resource};

const FILLER: &str = "The quick brown fox jumps over the lazy dog 0123456789. ";
/// The label of all that a run makes; its value is the name of the run.
const LABEL: &str = "hydrofoil.dev/bench";
/// The label of the group of a seeded object.
const GROUP: &str = "hydrofoil.dev/bench-group";
/// A scheduler that no cluster has, so that no node runs the pods.
const SCHEDULER: &str = "hydrofoil.dev-bench-none";

/// Text of a size.
pub(crate) fn filler(size: u32) -> String {
    FILLER.chars().cycle().take(size as usize).collect()
}

/// The name of a seeded object.
pub(crate) fn seed_name(number: u32) -> String {
    format!("bench-{number:08}")
}

/// The name of an object that writers change.
pub(crate) fn churn_name(number: u32) -> String {
    format!("churn-{number:08}")
}

/// An object: a seeded one, or a state of one that writers change.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Body<'a> {
    pub(crate) plan: &'a Plan,
    pub(crate) number: u32,
    /// The number of the write, for objects that writers change.
    pub(crate) write: Option<u32>,
    /// The version to replace.
    pub(crate) version: Option<u64>,
    pub(crate) text: &'a str,
}

impl Body<'_> {
    fn marks(&self) -> (Mark, Mark) {
        let write = self.write.unwrap_or(0);
        let (place, data) = if self.write.is_some() { (CHURN, CHURN_DATA) } else { (SEED, SEED_DATA) };
        (Mark { place, number: self.number, write }, Mark { place: data, number: self.number, write })
    }

    /// The whole object.
    pub(crate) fn object(&self) -> String {
        let (own, data) = self.marks();
        let Plan { namespace, run, .. } = self.plan;
        let (version, kind) = self.plan.resource.kind();
        // A selector finds every tenth seeded object by its group.
        let (name, namespace, group) = match self.write {
            None => (
                seed_name(self.number),
                self.plan.namespace_of(self.number),
                format!(r#","{GROUP}":"{}""#, self.number % 10),
            ),
            Some(_) => (churn_name(self.number), namespace.clone(), String::new()),
        };
        let mut made = format!(
            r#"{{"apiVersion":"{version}","kind":"{kind}","metadata":{{"name":"{name}","namespace":"{namespace}","#
        );
        if let Some(version) = self.version {
            let _ = write!(made, r#""resourceVersion":"{version}","#);
        }
        let _ =
            write!(made, r#""labels":{{"{LABEL}":"{run}"{group}}},"annotations":{{"hydrofoil.dev/mark":"{own}"}}}},"#);
        let text = self.text;
        let _ = match self.plan.resource {
            Resource::ConfigMaps | Resource::Custom => write!(made, r#""data":{{"mark":"{data}","text":"{text}"}}}}"#),
            Resource::Pods => write!(made, r#""spec":{}}}"#, spec(data, text)),
        };
        made
    }

    /// A merge patch to this state.
    pub(crate) fn merge(&self) -> String {
        let (own, data) = self.marks();
        let meta = format!(r#""metadata":{{"annotations":{{"hydrofoil.dev/mark":"{own}"}}}}"#);
        match self.plan.resource {
            Resource::ConfigMaps | Resource::Custom => format!(r#"{{{meta},"data":{{"mark":"{data}"}}}}"#),
            // The containers of a merge patch are the whole list.
            Resource::Pods => {
                let spec = spec(data, self.text);
                let at = spec.find(r#""containers""#).unwrap_or(0);
                format!(r#"{{{meta},"spec":{{{}}}"#, &spec[at..])
            }
        }
    }

    /// A patch of the status of a pod.
    pub(crate) fn status(&self) -> String {
        let (own, data) = self.marks();
        status(own, data, None)
    }
}

fn spec(mark: Mark, text: &str) -> String {
    format!(
        r#"{{"schedulerName":"{SCHEDULER}","serviceAccountName":"default","automountServiceAccountToken":false,"containers":[{{"name":"bench","image":"registry.invalid/bench:{mark}","env":[{{"name":"TEXT","value":"{text}"}}],"resources":{{"requests":{{"cpu":"1m"}}}}}}]}}"#
    )
}

/// A patch of the status of a pod that shows these marks; with a version it is for that version only.
pub(crate) fn status(mark: Mark, data: Mark, version: Option<u64>) -> String {
    let version = version.map(|version| format!(r#""resourceVersion":"{version}","#)).unwrap_or_default();
    format!(
        r#"{{"metadata":{{{version}"annotations":{{"hydrofoil.dev/mark":"{mark}"}}}},"status":{{"conditions":[{{"type":"hydrofoil.dev/bench","status":"True","message":"{data}"}}]}}}}"#
    )
}

/// The body of a deletion of one object, and of no other that has its name.
pub(crate) fn deletion(uid: Option<&str>, pods: bool) -> String {
    let grace = if pods { r#","gracePeriodSeconds":0"# } else { "" };
    let uid = uid.map(|uid| format!(r#","preconditions":{{"uid":"{uid}"}}"#)).unwrap_or_default();
    format!(r#"{{"kind":"DeleteOptions","apiVersion":"v1"{grace}{uid}}}"#)
}
