//! Names that pods use as host names.

use hydrofoil_types::Value;

use crate::format::name;
use hydrofoil_types::read::Read;

/// Warn of a name that makes a poor host name.
pub fn warn(object: &Value, used: &str, out: &mut Vec<String>) {
    let mut reported = String::new();
    name::label(object.field("metadata").text("name"), &mut |message| {
        if !reported.is_empty() {
            reported.push(' ');
        }
        reported.push_str(message);
    });
    if !reported.is_empty() {
        out.push(format!(
            "metadata.name: this is used in {used}, which can result in surprising behavior; a DNS label is recommended: [{reported}]"
        ));
    }
}
