//! Rules shared by pods and pod templates.

pub mod default;
pub mod gates;
pub mod validate;
pub mod warn;

use hydrofoil_types::{Path, Value};

use hydrofoil_types::read::Read;

/// Call `f` for each container of any kind, in upstream's order of `VisitContainersWithPath`.
pub fn each_container<'a>(pod: &'a Value, path: &Path<'_>, f: &mut dyn FnMut(&'a Value, &Path<'_>)) {
    for list in ["initContainers", "containers", "ephemeralContainers"] {
        let at = path.child(list);
        for (i, container) in pod.list(list).iter().enumerate() {
            f(container, &at.index(i));
        }
    }
}
