//! Selectors of devices (`pkg/apis/resource/validation/validation.go`).

use hydrofoil_cel::Environment;
use hydrofoil_types::{Causes, Path, Value};

use hydrofoil_rules::check::Check;
use hydrofoil_rules::expression::refuse;
use hydrofoil_types::read::Read;

/// `validateSelectorSlice`.
pub(super) fn validate(list: &[Value], path: &Path<'_>, causes: &mut Causes) {
    if list.len() > 32 {
        causes.too_many(path, list.len(), 32);
    }
    for (i, selector) in list.iter().enumerate() {
        let at = path.index(i);
        let at = at.child("cel");
        match selector.opt("cel") {
            None => causes.need(&at),
            Some(cel) => expression(cel.text("expression"), &at.child("expression"), causes),
        }
    }
}

/// `validateCELSelector`.
fn expression(text: &str, at: &Path<'_>, causes: &mut Causes) {
    const LONGEST: usize = 10 * 1024;
    const COST: u64 = 1_000_000;
    if text.len() > LONGEST {
        return causes.too_long(at, LONGEST);
    }
    match Environment::device().check(text) {
        Err(why) => refuse(why, at, text, causes),
        Ok(output) if !output.is("bool") && !output.is("any") => {
            causes.invalid_str(at, text, &format!("must evaluate to bool or the unknown type, not {output}"));
        }
        Ok(output) if output.cost > COST => causes.forbidden(at, "too complex, exceeds cost limit"),
        Ok(_) => {}
    }
}
