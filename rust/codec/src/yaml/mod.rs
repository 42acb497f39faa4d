//! YAML as upstream reads and writes it: YAML 1.1 scalars, output with sorted keys.

mod fault;
mod order;
mod plain;
mod read;
mod scalar;
mod write;

pub use read::{fault_line, parse};
pub use write::write;
