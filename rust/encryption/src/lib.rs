//! Encryption of objects at rest, in the formats of kube-apiserver (apiserver `pkg/storage/value`).
//!
//! [`Transformers`] is the table of a configuration: it converts the bytes of an object to those that a storage has, and
//! back. Stored bytes begin with the prefix of their provider and the name of its key, so that several keys can be in use
//! at once: the first provider of a resource writes, all of them read. The key of the object in the storage is
//! authenticated with its bytes where the provider can do that, so that values cannot be exchanged.

// Stored bytes may have any content.
#![warn(clippy::string_slice, clippy::indexing_slicing, clippy::arithmetic_side_effects)]

mod aes;
mod derived;
mod failure;
mod forms;
mod key;
mod kms;
mod metrics;
mod provider;
mod secretbox;
mod settings;
mod table;
mod transformers;

pub use failure::{Failure, Result};
pub use forms::Forms;
pub use key::{resource, storage_key};
pub use metrics::{Durations, Family, Labels, Metrics};
pub use settings::{KmsSettings, NamedKey, ProviderSettings, ResourceSettings, Settings};
pub use transformers::Transformers;
