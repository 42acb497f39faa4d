//! A configuration that was checked.

use std::fmt;
use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Deserializer, de::Error};

/// The providers of resources, in the order of the file.
#[derive(Debug, Deserialize)]
pub struct Settings {
    /// The identity of the server, for metrics.
    #[serde(default)]
    pub server: String,
    /// The entries of the file.
    pub resources: Vec<ResourceSettings>,
}

/// The providers of some resources.
#[derive(Debug, Deserialize)]
pub struct ResourceSettings {
    /// The resources: `secrets`, `deployments.apps`, `*.apps`, `*.*`.
    pub resources: Vec<String>,
    /// Their providers: the first one writes.
    pub providers: Vec<ProviderSettings>,
}

/// One provider.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ProviderSettings {
    /// AES in CBC mode, without authentication.
    AesCbc(Vec<NamedKey>),
    /// AES in GCM mode.
    AesGcm(Vec<NamedKey>),
    /// `XSalsa20` and `Poly1305`.
    Secretbox(Vec<NamedKey>),
    /// No encryption.
    Identity,
    /// A plug-in that encrypts keys.
    Kms(KmsSettings),
}

/// A plug-in that encrypts keys, by version 2 of its interface.
#[derive(Clone, Debug, Deserialize)]
pub struct KmsSettings {
    /// Its name.
    pub name: String,
    /// The path of its socket.
    pub path: String,
    /// The time that it has for an answer, in seconds.
    #[serde(deserialize_with = "seconds")]
    pub timeout: Duration,
}

/// A key with its name; it is never shown.
#[derive(Clone, Deserialize)]
pub struct NamedKey {
    /// Its name.
    pub name: String,
    /// Its bytes.
    #[serde(deserialize_with = "decode_base64")]
    pub secret: Vec<u8>,
}

impl fmt::Debug for NamedKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("NamedKey").field("name", &self.name).finish_non_exhaustive()
    }
}

fn seconds<'de, D: Deserializer<'de>>(from: D) -> Result<Duration, D::Error> {
    Duration::try_from_secs_f64(f64::deserialize(from)?).map_err(D::Error::custom)
}

fn decode_base64<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<u8>, D::Error> {
    STANDARD.decode(String::deserialize(from)?).map_err(|_| D::Error::custom("secrets must be base64 encoded"))
}

impl Settings {
    /// Read settings as JSON.
    pub fn parse(text: &str) -> Result<Self, String> {
        // The text has secrets: its error has the place only.
        serde_json::from_str(text).map_err(|e| format!("the settings are invalid at column {}", e.column()))
    }
}
