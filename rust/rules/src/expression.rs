//! Expressions in CEL.

use hydrofoil_cel::Refusal;
use hydrofoil_types::{CauseReason, Causes, Path};

/// Add why an expression does not compile.
pub fn refuse(why: Refusal, at: &Path<'_>, shown: &str, causes: &mut Causes) {
    match why {
        Refusal::Issues(why) => causes.invalid_str(at, shown, &format!("compilation failed: {why}")),
        Refusal::Instance(why) => {
            causes.push(at, CauseReason::Internal, format!("Internal error: program instantiation failed: {why}"));
        }
        Refusal::Type => {}
    }
}
