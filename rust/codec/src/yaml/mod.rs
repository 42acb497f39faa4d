//! YAML as upstream reads and writes it (sigs.k8s.io/yaml on go.yaml.in/yaml/v2).
//!
//! Upstream's reader is a translation of libyaml with changes of its own; this one is a translation of it, so that it
//! takes and refuses the same texts with the same words: `source` has the characters, `scan` the tokens, `grammar` the
//! events, `node` the document, `decode` and `resolve` its values.

mod decode;
mod fault;
mod grammar;
mod key;
mod node;
mod order;
mod plain;
mod read;
mod resolve;
mod scalar;
mod scan;
mod source;
mod write;

pub use read::{fault_line, parse, to_json};
pub use write::write;
