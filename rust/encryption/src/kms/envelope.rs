//! Values that are encrypted by a key which a plug-in has encrypted (apiserver `kmsv2/envelope.go`).

use std::collections::HashMap;
use std::sync::Arc;

use parking_lot::Mutex;
use prost::Message;

use super::message::{DecryptRequest, EncryptedObject, KEY, SEED};
use super::plugin::Plugin;
use super::probe::{Probe, uid};
use super::runtime::Runtime;
use super::state;
use crate::aes::Gcm;
use crate::derived::Derived;
use crate::failure::{Failure, Result};
use crate::metrics::{FROM, Family, Metrics, PLAIN, TO};
use crate::provider::form;
use crate::settings::KmsSettings;

/// The seeds that are kept at most: a value that needs another one asks its plug-in again.
const SEEDS: usize = 10_000;

/// A seed or key that the plug-in has decrypted.
#[derive(Clone, Debug)]
enum Source {
    Seed(Arc<Derived>),
    Key(Arc<Gcm>),
}

impl Source {
    fn open(&self, data: &[u8], aad: &[u8]) -> Result<Vec<u8>> {
        match self {
            Self::Seed(seed) => seed.open(data, aad),
            Self::Key(key) => key.open(data, aad),
        }
    }
}

/// A provider whose keys a plug-in encrypts.
#[derive(Debug)]
pub(crate) struct Kms {
    pub(crate) prefix: String,
    probe: Arc<Probe>,
    runtime: Arc<Runtime>,
    /// The decrypted seeds, by all that is stored with them: whole, as any writer of the storage chooses it.
    /// Not held while a plug-in is asked: other values are read meanwhile, and two that need one seed both ask.
    seeds: Mutex<HashMap<Vec<u8>, Source>>,
}

impl Kms {
    /// Return a provider whose plug-in was looked at once.
    pub(crate) fn new(settings: &KmsSettings, server: &str, metrics: &Arc<Metrics>, runtime: &Arc<Runtime>) -> Self {
        let plugin = runtime.within(|| Plugin::new(settings, Arc::clone(metrics)));
        let probe = Arc::new(Probe::new(plugin, server.to_owned(), Arc::clone(metrics)));
        let first = Arc::clone(&probe);
        // A plug-in that is not there yet is looked at again soon.
        drop(runtime.wait(async move { first.look().await }));
        runtime.begin(Probe::follow(Arc::downgrade(&probe)));
        let prefix = format!("k8s:enc:kms:v2:{}:", settings.name);
        Self { prefix, probe, runtime: Arc::clone(runtime), seeds: Mutex::default() }
    }

    /// Return the name of the provider, and why its plug-in is not healthy as far as is known; have it looked at again.
    pub(crate) fn problem(&self) -> (String, Option<String>) {
        let (problem, old) = self.probe.problem();
        if old {
            let probe = Arc::clone(&self.probe);
            self.runtime.begin(async move { drop(probe.look().await) });
        }
        (self.probe.plugin.name.clone(), problem)
    }

    fn metrics(&self) -> &Metrics {
        &self.probe.metrics
    }

    fn count_use(&self, kind: &str, key_id: &str) {
        let labels = self.probe.with_labels(&[kind, &self.probe.plugin.name], key_id);
        self.metrics().count(Family::KeysUsed, &labels);
        self.metrics().stamp(Family::KeysUsedAt, &labels);
    }

    /// Keep a seed, and return the number of all.
    fn keep(&self, key: Vec<u8>, source: Source) {
        let mut seeds = self.seeds.lock();
        if seeds.len() < SEEDS {
            seeds.insert(key, source);
        }
        self.metrics().set(Family::Seeds, &[&self.probe.plugin.name], seeds.len() as f64);
    }

    /// Return the number of the form that values have now.
    pub(crate) fn form(&self) -> u64 {
        let key_id = self.probe.state().map(|state| state.key_id.clone()).unwrap_or_default();
        form(&[self.prefix.as_bytes(), key_id.as_bytes()])
    }

    /// Encrypt a value; return the number of its form as well.
    pub(crate) fn seal(&self, key: &str, data: &[u8]) -> Result<(Vec<u8>, u64)> {
        let state = self.probe.state()?;
        state.check_age(self.metrics().moment())?;
        let mut object = EncryptedObject {
            data: Vec::new(),
            key_id: state.key_id.clone(),
            source: state.source.clone(),
            annotations: state.annotations.clone(),
            kind: SEED,
        };
        let name = name_of(&object);
        if !self.seeds.lock().contains_key(&name) {
            self.keep(name, Source::Seed(Arc::clone(&state.seed)));
        }
        object.data = state.seed.seal(data, key.as_bytes())?;
        self.count_use(TO, &state.key_id);
        Ok((object.encode_to_vec(), form(&[self.prefix.as_bytes(), state.key_id.as_bytes()])))
    }

    /// Decrypt a value; it is stale if its key is not the one that its plug-in has now.
    pub(crate) fn open(&self, key: &str, stored: &[u8]) -> Result<(Vec<u8>, bool)> {
        let mut object = EncryptedObject::decode(stored)
            .map_err(|_| Failure::new("proto: cannot parse invalid wire-format data"))?;
        state::check(&object)?;
        let state = self.probe.state()?;
        let data = std::mem::take(&mut object.data);
        let name = name_of(&object);
        let known = self.seeds.lock().get(&name).cloned();
        let source = match known {
            Some(source) => source,
            None => self.decrypt_source(&object, name)?,
        };
        self.count_use(FROM, &object.key_id);
        let value = source.open(&data, key.as_bytes())?;
        Ok((value, object.key_id != state.key_id || object.kind != SEED))
    }

    /// Ask the plug-in for a seed or key.
    fn decrypt_source(&self, object: &EncryptedObject, name: Vec<u8>) -> Result<Source> {
        self.metrics().count(Family::Misses, PLAIN);
        let (source, key_id, annotations) = (object.source.clone(), object.key_id.clone(), object.annotations.clone());
        let (probe, uid) = (Arc::clone(&self.probe), uid()?);
        let request = DecryptRequest { ciphertext: source, uid, key_id, annotations };
        let answer = self.runtime.wait(async move { probe.plugin.decrypt(request).await });
        let ended = || Failure::new("the server is stopping");
        let answer = answer.ok_or_else(ended)?.map_err(|why| why.within("failed to decrypt DEK, error: "))?;
        let source = match object.kind {
            KEY => Source::Key(Arc::new(Gcm::new(&answer.plaintext)?)),
            _ => Source::Seed(Arc::new(Derived::new(&answer.plaintext)?)),
        };
        self.keep(name, source.clone());
        Ok(source)
    }
}

/// Return what a seed is known by: all that is stored with it, but the value.
fn name_of(object: &EncryptedObject) -> Vec<u8> {
    object.encode_to_vec()
}
