//! The settings of a server's side of TLS.

use std::collections::HashMap;
use std::sync::Arc;

use rustls::crypto::ring::{default_provider, sign::any_supported_type};
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::{ClientHello, NoServerSessionStorage, ResolvesServerCert};
use rustls::sign::CertifiedKey;
use rustls::{CipherSuite, DistinguishedName, ServerConfig};

use crate::certificate::Certificate;
use crate::verifier::AnyClient;

/// A certificate chain and its key, in PEM, and the names that they are for.
#[derive(Debug, Clone, Copy)]
pub struct Pair<'a> {
    /// The chain, the server's certificate first.
    pub chain: &'a [u8],
    /// The private key, not encrypted.
    pub key: &'a [u8],
    /// Names in a client's greeting; empty: those of the certificate.
    pub names: &'a [String],
}

/// The offer of a server.
#[derive(Debug, Clone, Copy)]
pub struct Offer<'a> {
    /// Refuse TLS 1.2.
    pub newest_only: bool,
    /// Go's names of cipher suites; empty: all. Those of TLS 1.3 are always on, as in Go.
    pub suites: &'a [String],
    /// Authorities of clients, in DER, as a suggestion; absent: clients are asked for no certificate.
    pub authorities: Option<&'a [Vec<u8>]>,
}

/// The settings of all connections of a server.
#[derive(Debug, Clone)]
pub struct Config(pub(crate) Arc<ServerConfig>);

impl Config {
    /// Read certificates and keys. The first pair is for clients that name none of the others.
    pub fn read(default: &Pair<'_>, named: &[Pair<'_>], offer: &Offer<'_>) -> Result<Self, String> {
        let mut provider = default_provider();
        if !offer.suites.is_empty() {
            provider.cipher_suites.retain(|suite| match suite.suite() {
                CipherSuite::TLS13_AES_256_GCM_SHA384
                | CipherSuite::TLS13_AES_128_GCM_SHA256
                | CipherSuite::TLS13_CHACHA20_POLY1305_SHA256 => true,
                other => offer.suites.iter().any(|name| named_suite(name) == Some(other)),
            });
        }
        let old = provider.cipher_suites.iter().any(|suite| suite.tls13().is_none());
        let versions: &[_] = if offer.newest_only || !old { &[&rustls::version::TLS13] } else { rustls::ALL_VERSIONS };
        let provider = Arc::new(provider);
        let resolver = Arc::new(Resolver::read(default, named)?);
        let builder = ServerConfig::builder_with_provider(Arc::clone(&provider))
            .with_protocol_versions(versions)
            .map_err(|e| e.to_string())?;
        let builder = match offer.authorities {
            None => builder.with_no_client_auth(),
            Some(names) => {
                let names = names.iter().map(|name| DistinguishedName::from(name.clone())).collect();
                builder.with_client_cert_verifier(Arc::new(AnyClient::new(names, &provider)))
            }
        };
        let mut config = builder.with_cert_resolver(resolver);
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        // A resumed session would save one signature, and keep a client's chain in memory.
        config.session_storage = Arc::new(NoServerSessionStorage {});
        config.send_tls13_tickets = 0;
        Ok(Self(Arc::new(config)))
    }
}

fn named_suite(name: &str) -> Option<CipherSuite> {
    Some(match name {
        "TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256" => CipherSuite::TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256,
        "TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384" => CipherSuite::TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384,
        "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256" => CipherSuite::TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256,
        "TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384" => CipherSuite::TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384,
        "TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305" | "TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256" => {
            CipherSuite::TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256
        }
        "TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305" | "TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256" => {
            CipherSuite::TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256
        }
        _ => return None,
    })
}

/// The certificate for the name in a client's greeting.
#[derive(Debug)]
struct Resolver {
    default: Arc<CertifiedKey>,
    named: HashMap<String, Arc<CertifiedKey>>,
}

impl Resolver {
    fn read(default: &Pair<'_>, pairs: &[Pair<'_>]) -> Result<Self, String> {
        let default = Arc::new(certified_key(default)?);
        let mut named = HashMap::new();
        for pair in pairs {
            let key = Arc::new(certified_key(pair)?);
            let names = if pair.names.is_empty() { own_names(&key) } else { pair.names.to_vec() };
            for name in names {
                // The first pair that has a name keeps it.
                named.entry(name.to_ascii_lowercase()).or_insert_with(|| Arc::clone(&key));
            }
        }
        Ok(Self { default, named })
    }
}

impl ResolvesServerCert for Resolver {
    fn resolve(&self, hello: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        let found = hello.server_name().filter(|_| !self.named.is_empty()).and_then(|name| {
            let name = name.to_ascii_lowercase();
            let star = || self.named.get(&format!("*.{}", name.split_once('.')?.1));
            self.named.get(&name).or_else(star)
        });
        Some(Arc::clone(found.unwrap_or(&self.default)))
    }
}

fn own_names(key: &CertifiedKey) -> Vec<String> {
    let Some(leaf) = key.cert.first() else { return Vec::new() };
    let Ok(parsed) = webpki::EndEntityCert::try_from(leaf) else { return Vec::new() };
    parsed.valid_dns_names().map(str::to_owned).collect()
}

fn certified_key(pair: &Pair<'_>) -> Result<CertifiedKey, String> {
    let chain: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(pair.chain).collect();
    let chain = chain.map_err(|e| e.to_string())?;
    let leaf = chain.first().ok_or("failed to find any PEM data in certificate input")?;
    let leaf = Certificate::read(leaf).map_err(|_| "x509: malformed certificate")?;
    let key = PrivateKeyDer::from_pem_slice(pair.key).map_err(|_| {
        let encrypted = pair.key.windows(9).any(|text| text == b"ENCRYPTED");
        let sealed = "the private key is encrypted, and only plain ones are taken";
        if encrypted { sealed } else { "failed to find any PEM data in key input" }
    })?;
    let signing = any_supported_type(&key)
        .map_err(|_| "the private key is none of ECDSA P-256 or P-384, Ed25519, and RSA from 2048 bits".to_owned())?;
    if signing.public_key().is_some_and(|public| public.as_ref() != leaf.key_info) {
        return Err("private key does not match public key".to_owned());
    }
    Ok(CertifiedKey::new(chain, signing))
}
