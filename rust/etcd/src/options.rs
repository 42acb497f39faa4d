//! The settings of a log in etcd.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use hydrofoil_encryption::Transformers;

/// Where etcd is, and how it is used.
#[derive(Clone, Debug)]
pub struct Options {
    /// The URLs of its members.
    pub servers: Vec<String>,
    /// The prefix of all keys, which ends with a slash.
    pub prefix: String,
    /// The authorities of the members' certificates; `None` for those of the members' URLs without TLS.
    pub authority: Option<PathBuf>,
    /// The certificate of this client, and its key.
    pub identity: Option<(PathBuf, PathBuf)>,
    /// How long events are kept after their last write.
    pub event_ttl: Duration,
    /// The time between two compactions; zero: none.
    pub compaction: Duration,
    /// The encryption of values, if any.
    pub transformers: Option<Arc<Transformers>>,
}

/// Return the end of the range of all keys with a prefix.
pub(crate) fn end_of(prefix: &str) -> Vec<u8> {
    let mut end = prefix.as_bytes().to_vec();
    while let Some(last) = end.pop() {
        if last < u8::MAX {
            end.push(last.wrapping_add(1));
            return end;
        }
    }
    vec![0]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_ends_after_all_keys_with_its_prefix() {
        assert_eq!(end_of("/registry/pods/"), b"/registry/pods0");
        assert_eq!(end_of(""), b"\0", "it is the end of all keys");
    }
}
