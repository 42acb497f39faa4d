//! Plug-ins that encrypt keys: version 2 of the interface of kube-apiserver (apiserver
//! `pkg/storage/value/encrypt/envelope/kmsv2`).
//!
//! A value is encrypted by a key of its own that is derived from a seed; the plug-in encrypts the seed, and the encrypted
//! seed is stored beside each value. So a plug-in is called once for each seed and server, and no write waits for it. Its
//! status is read every minute: the state that is written with is renewed, or replaced when the plug-in has another key.

mod envelope;
mod message;
mod plugin;
mod probe;
mod runtime;
mod state;

pub(crate) use envelope::Kms;
pub(crate) use runtime::Runtime;
