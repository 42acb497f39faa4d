//! Encryption of objects at rest, in the formats of kube-apiserver (apiserver `pkg/storage/value`).
//!
//! [`Transformers`] is the table of a configuration: it converts the bytes of an object to those that a storage has, and
//! back. Stored bytes begin with the prefix of their provider and the name of its key, so that several keys can be in use
//! at once: the first provider of a resource writes, all of them read. The key of the object in the storage is
//! authenticated with its bytes where the provider can do that, so that values cannot be exchanged.
//!
//! Values as kube-apiserver encrypts them. `transformers.rs` is what a log calls, `table.rs` finds the providers of a
//! resource, `provider.rs` tries them in their order, `key.rs` has the keys that are authenticated; `kms/` calls
//! plug-ins.
//!
//! - **A record, a state and a backup have the form of an object**, clear or encrypted, and in clear only its resource,
//!   key and revision. The writer's thread encrypts a group before revisions are assigned, so that a write which cannot
//!   be encrypted is refused alone. The view has objects in clear.
//! - **A value that cannot be decrypted is kept as it is** (`rust/log/src/unread.rs`): the start continues without it,
//!   and states and backups have its bytes again. Reads of it, lists and watches of its resource are 500; a creation
//!   finds it present. Watches of the server itself see the others. Within the history it is no event: that begins
//!   behind it. So checks, backups and restores need no keys.
//! - **Whether a form is stale costs no field of an object** (`forms.rs`): each resource has the kind of form of its
//!   last write and the revision of the first one in it, and the keys of objects that were stale at the start.
//! - **A changed file replaces the table between two groups.** Objects that were not readable are decrypted again, as
//!   when a plug-in answers late, and become events at the revisions that they had, so that readers inside the server
//!   see them; the history of their resource begins anew.
//! - **Plug-ins have a thread of their own**, on tokio, only where one is configured. A value is encrypted by a seed
//!   that the plug-in has encrypted once, so no write waits for a plug-in; a start waits for one answer for each seed
//!   of stored values. Health checks show the last look and ask for another one: the loop does not wait.

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
