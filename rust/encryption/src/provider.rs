//! The providers of one resource, in their order (apiserver `pkg/storage/value/transformer.go`).

use std::sync::Arc;
use std::time::Duration;

use sha2::{Digest, Sha256};

use crate::aes::{Cbc, Gcm};
use crate::failure::{Failure, Result};
use crate::kms::{Kms, Runtime};
use crate::metrics::{FROM, Metrics, TO};
use crate::secretbox::Secretbox;
use crate::settings::{NamedKey, ProviderSettings};

/// The beginning of all encrypted values.
pub(crate) const ENCRYPTED: &[u8] = b"k8s:enc:";
const CBC: &str = "k8s:enc:aescbc:v1:";
const GCM: &str = "k8s:enc:aesgcm:v1:";
const SECRETBOX: &str = "k8s:enc:secretbox:v1:";

/// A value that is converted: its resource, and its key in the storage.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place<'a> {
    pub(crate) resource: &'a str,
    pub(crate) key: &'a str,
    pub(crate) metrics: &'a Metrics,
}

/// A key of a provider.
#[derive(Debug)]
enum Cipher {
    Cbc(Cbc),
    Gcm(Gcm),
    Secretbox(Secretbox),
}

impl Cipher {
    fn seal(&self, key: &str, data: &[u8]) -> Result<Vec<u8>> {
        match self {
            Self::Cbc(cipher) => cipher.seal(data),
            Self::Gcm(cipher) => cipher.seal(data, key.as_bytes()),
            Self::Secretbox(cipher) => cipher.seal(data),
        }
    }

    fn open(&self, key: &str, data: &[u8]) -> Result<Vec<u8>> {
        match self {
            Self::Cbc(cipher) => cipher.open(data),
            Self::Gcm(cipher) => cipher.open(data, key.as_bytes()),
            Self::Secretbox(cipher) => cipher.open(data),
        }
    }
}

/// The keys of one provider: the first one encrypts.
#[derive(Debug)]
pub(crate) struct Keys {
    prefix: &'static str,
    /// The message for a value whose key is not among them.
    absent: &'static str,
    /// Each with its name and a colon, which are in front of values.
    ciphers: Vec<(String, Cipher)>,
    form: u64,
}

impl Keys {
    fn new(
        prefix: &'static str,
        absent: &'static str,
        given: &[NamedKey],
        made: impl Fn(&[u8]) -> Result<Cipher>,
    ) -> Result<Self> {
        let ciphers: Result<Vec<_>> =
            given.iter().map(|key| Ok((format!("{}:", key.name), made(&key.secret)?))).collect();
        let first = given.first().ok_or_else(|| Failure::new("aes provider has no valid keys"))?;
        Ok(Self {
            prefix,
            absent,
            ciphers: ciphers?,
            form: form(&[prefix.as_bytes(), first.name.as_bytes(), &first.secret]),
        })
    }

    fn seal(&self, place: Place<'_>, data: &[u8]) -> Result<Vec<u8>> {
        let Some((name, cipher)) = self.ciphers.first() else { return Err(Failure::new(self.absent)) };
        let begun = place.metrics.now();
        let sealed = cipher.seal(place.key, data);
        place.metrics.record(place.resource, TO, name, begun, sealed.as_ref().err());
        Ok([name.as_bytes(), &sealed?].concat())
    }

    fn open(&self, place: Place<'_>, data: &[u8]) -> Result<(Vec<u8>, bool)> {
        let begun = place.metrics.now();
        let mut failures = Vec::new();
        for (at, (name, cipher)) in self.ciphers.iter().enumerate() {
            let Some(rest) = data.strip_prefix(name.as_bytes()) else { continue };
            let opened = cipher.open(place.key, rest);
            place.metrics.record(place.resource, FROM, name, begun, opened.as_ref().err());
            match opened {
                Ok(opened) => return Ok((opened, at > 0)),
                Err(failure) => failures.push(failure),
            }
        }
        Err(Failure::all(failures).unwrap_or_else(|| unknown(place, begun, self.absent)))
    }
}

/// Return the failure of a value that no key or provider is for.
fn unknown(place: Place<'_>, begun: Duration, text: &str) -> Failure {
    let failure = Failure::new(text);
    place.metrics.record(place.resource, FROM, "unknown", begun, Some(&failure));
    failure
}

/// Return a number for a form that values are stored in.
pub(crate) fn form(parts: &[&[u8]]) -> u64 {
    let mut hash = Sha256::new();
    for part in parts {
        hash.update((part.len() as u64).to_le_bytes());
        hash.update(part);
    }
    hash.finalize().first_chunk().map_or(0, |bytes| u64::from_le_bytes(*bytes))
}

/// One provider.
#[derive(Debug)]
pub(crate) enum Provider {
    Keys(Keys),
    Kms(Kms),
    Identity,
}

/// The surroundings of plug-ins.
#[derive(Debug)]
pub(crate) struct Around<'a> {
    pub(crate) server: &'a str,
    pub(crate) metrics: &'a Arc<Metrics>,
    /// Their thread, made for the first one.
    pub(crate) runtime: Option<Arc<Runtime>>,
}

impl Around<'_> {
    fn runtime(&mut self) -> Result<Arc<Runtime>> {
        if let Some(found) = &self.runtime {
            return Ok(Arc::clone(found));
        }
        let made = Arc::new(Runtime::new().map_err(|e| Failure::new(format!("no thread for plug-ins: {e}")))?);
        self.runtime = Some(Arc::clone(&made));
        Ok(made)
    }
}

impl Provider {
    pub(crate) fn new(settings: &ProviderSettings, around: &mut Around<'_>) -> Result<Self> {
        let aes = "no matching key was found for the provided AES transformer";
        let secretbox = "no matching key was found for the provided Secretbox transformer";
        Ok(Self::Keys(match settings {
            ProviderSettings::AesCbc(keys) => Keys::new(CBC, aes, keys, |key| Cbc::new(key).map(Cipher::Cbc))?,
            ProviderSettings::AesGcm(keys) => Keys::new(GCM, aes, keys, |key| Gcm::new(key).map(Cipher::Gcm))?,
            ProviderSettings::Secretbox(keys) => {
                Keys::new(SECRETBOX, secretbox, keys, |key| Secretbox::new(key).map(Cipher::Secretbox))?
            }
            ProviderSettings::Identity => return Ok(Self::Identity),
            ProviderSettings::Kms(settings) => {
                let runtime = around.runtime()?;
                return Ok(Self::Kms(Kms::new(settings, around.server, around.metrics, &runtime)));
            }
        }))
    }

    fn prefix(&self) -> &str {
        match self {
            Self::Keys(keys) => keys.prefix,
            Self::Kms(kms) => &kms.prefix,
            Self::Identity => "",
        }
    }

    fn seal(&self, place: Place<'_>, data: &[u8]) -> Result<(Vec<u8>, u64)> {
        match self {
            Self::Keys(keys) => Ok((keys.seal(place, data)?, keys.form)),
            Self::Kms(kms) => kms.seal(place.key, data),
            Self::Identity => Ok((data.to_vec(), 0)),
        }
    }

    fn open(&self, place: Place<'_>, data: &[u8]) -> Result<(Vec<u8>, bool)> {
        match self {
            Self::Keys(keys) => keys.open(place, data),
            Self::Kms(kms) => kms.open(place.key, data),
            Self::Identity => open_clear(data),
        }
    }

    /// Return the number of the form that values have now.
    fn form(&self) -> u64 {
        match self {
            Self::Keys(keys) => keys.form,
            Self::Kms(kms) => kms.form(),
            Self::Identity => 0,
        }
    }
}

/// Return a value that is not encrypted.
fn open_clear(data: &[u8]) -> Result<(Vec<u8>, bool)> {
    if data.starts_with(ENCRYPTED) {
        return Err(Failure::new("identity transformer tried to read encrypted data"));
    }
    Ok((data.to_vec(), false))
}

/// The providers of a resource.
#[derive(Debug, Default)]
pub(crate) struct Providers(pub(crate) Vec<Arc<Provider>>);

impl Providers {
    /// Return the stored form of a value, and the number of that form.
    pub(crate) fn seal(&self, place: Place<'_>, data: &[u8]) -> Result<(Vec<u8>, u64)> {
        let Some(provider) = self.0.first() else { return Ok((data.to_vec(), 0)) };
        let begun = place.metrics.now();
        let sealed = provider.seal(place, data);
        let prefix = provider.prefix();
        place.metrics.record(place.resource, TO, prefix, begun, sealed.as_ref().err());
        let (sealed, form) = sealed?;
        Ok((if prefix.is_empty() { sealed } else { [prefix.as_bytes(), &sealed].concat() }, form))
    }

    /// Return a value, and whether its stored form is not the one that it would be written in now.
    pub(crate) fn open(&self, place: Place<'_>, data: &[u8]) -> Result<(Vec<u8>, bool)> {
        if self.0.is_empty() {
            return open_clear(data);
        }
        let begun = place.metrics.now();
        let mut failures = Vec::new();
        for (at, provider) in self.0.iter().enumerate() {
            let prefix = provider.prefix();
            let Some(rest) = data.strip_prefix(prefix.as_bytes()) else { continue };
            let opened = provider.open(place, rest);
            if prefix.is_empty() && opened.is_err() {
                continue;
            }
            let shown = if prefix.is_empty() { "identity" } else { prefix };
            place.metrics.record(place.resource, FROM, shown, begun, opened.as_ref().err());
            match opened {
                Ok((opened, stale)) => return Ok((opened, stale || at > 0)),
                // Two providers may share a prefix: the value may be of a later one.
                Err(failure) => failures.push(failure),
            }
        }
        Err(Failure::all(failures).unwrap_or_else(|| unknown(place, begun, "no matching prefix found")))
    }

    pub(crate) fn form(&self) -> u64 {
        self.0.first().map_or(0, |provider| provider.form())
    }
}
