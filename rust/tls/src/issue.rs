//! Certificates that a server makes for itself: an authority, its own, and the admin's.

use std::fmt::Write as _;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use rcgen::{
    BasicConstraints, CertificateParams, DistinguishedName, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair,
    KeyUsagePurpose, PKCS_ECDSA_P256_SHA256, PublicKeyData as _, SerialNumber,
};
use rustls::crypto::ring::default_provider;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime};
use std::time::Duration;
use time::OffsetDateTime;
use webpki::{EndEntityCert, KeyUsage, anchor_from_trusted_cert};

use crate::certificate::Certificate;

const HOUR: i64 = 3600;
const YEAR: i64 = 365 * 24 * HOUR;
/// The name of the authority; its key distinguishes it from others of the name.
const AUTHORITY: &str = "hydrofoil-ca";
/// A certificate is renewed this long before its end.
const AHEAD: i64 = 30 * 24 * HOUR;

/// A certificate and its key, in PEM.
#[derive(Debug, Clone)]
pub struct Identity {
    /// One certificate.
    pub certificate: String,
    /// PKCS #8.
    pub key: String,
}

/// The purpose of a certificate.
#[derive(Debug, Clone, Copy)]
pub enum Purpose<'a> {
    /// A server with these names and addresses.
    Server(&'a [String]),
    /// A client: common name and organization.
    Client(&'a str, &'a str),
}

fn pem(label: &str, der: &[u8]) -> String {
    let mut text = format!("-----BEGIN {label}-----\n");
    for line in STANDARD.encode(der).as_bytes().chunks(64) {
        let _ = writeln!(text, "{}", String::from_utf8_lossy(line));
    }
    let _ = writeln!(text, "-----END {label}-----");
    text
}

fn params(names: &[String], now: i64, life: i64) -> Result<CertificateParams, String> {
    let mut made = CertificateParams::new(names.to_vec()).map_err(|e| e.to_string())?;
    made.distinguished_name = DistinguishedName::new();
    // Clocks of clients may be behind.
    made.not_before = moment(now - HOUR)?;
    made.not_after = moment(now + life)?;
    Ok(made)
}

fn moment(second: i64) -> Result<OffsetDateTime, String> {
    OffsetDateTime::from_unix_timestamp(second).map_err(|e| e.to_string())
}

fn serial(key: &KeyPair) -> SerialNumber {
    // Unique by the key; positive, 20 bytes at most.
    let digest = ring::digest::digest(&ring::digest::SHA256, key.public_key_raw());
    let mut number = digest.as_ref()[..16].to_vec();
    number[0] = number[0] & 0x7F | 0x40;
    SerialNumber::from(number)
}

fn new_key() -> Result<KeyPair, String> {
    KeyPair::generate_for(&PKCS_ECDSA_P256_SHA256).map_err(|e| e.to_string())
}

fn authority_params(now: i64) -> Result<CertificateParams, String> {
    let mut made = params(&[], now, 10 * YEAR)?;
    made.distinguished_name.push(DnType::CommonName, AUTHORITY);
    made.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    made.key_usages =
        vec![KeyUsagePurpose::DigitalSignature, KeyUsagePurpose::KeyEncipherment, KeyUsagePurpose::KeyCertSign];
    Ok(made)
}

/// Make an authority, valid for ten years from a second since 1970.
pub fn authority(now: i64) -> Result<Identity, String> {
    let key = new_key()?;
    let mut made = authority_params(now)?;
    made.serial_number = Some(serial(&key));
    let certificate = made.self_signed(&key).map_err(|e| e.to_string())?;
    Ok(Identity { certificate: pem("CERTIFICATE", certificate.der()), key: pem("PRIVATE KEY", &key.serialize_der()) })
}

/// Make a certificate of an authority that `authority` made, valid for a year.
pub fn identity(authority_key: &[u8], purpose: Purpose<'_>, now: i64) -> Result<Identity, String> {
    let der = PrivateKeyDer::from_pem_slice(authority_key).map_err(|e| e.to_string())?;
    let authority = KeyPair::try_from(&der).map_err(|e| e.to_string())?;
    let issuer = Issuer::new(authority_params(now)?, authority);
    let key = new_key()?;
    let mut made = match purpose {
        Purpose::Server(names) => {
            let mut made = params(names, now, YEAR)?;
            made.distinguished_name.push(DnType::CommonName, "kube-apiserver");
            made.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
            made
        }
        Purpose::Client(name, organization) => {
            let mut made = params(&[], now, YEAR)?;
            made.distinguished_name.push(DnType::OrganizationName, organization);
            made.distinguished_name.push(DnType::CommonName, name);
            made.extended_key_usages = vec![ExtendedKeyUsagePurpose::ClientAuth];
            made
        }
    };
    made.key_usages = vec![KeyUsagePurpose::DigitalSignature, KeyUsagePurpose::KeyEncipherment];
    made.is_ca = IsCa::ExplicitNoCa;
    made.use_authority_key_identifier_extension = true;
    made.serial_number = Some(serial(&key));
    let certificate = made.signed_by(&key, &issuer).map_err(|e| e.to_string())?;
    Ok(Identity { certificate: pem("CERTIFICATE", certificate.der()), key: pem("PRIVATE KEY", &key.serialize_der()) })
}

/// Whether a certificate with its key serves a purpose for a while: it is of the authority, for these names, and has its
/// key. Without a purpose, whether it is an authority that this crate made.
pub fn usable(found: &Identity, authority: &[u8], purpose: Option<Purpose<'_>>, now: i64) -> bool {
    let Ok(der) = CertificateDer::from_pem_slice(found.certificate.as_bytes()) else { return false };
    let Ok(read) = Certificate::read(&der) else { return false };
    let Ok(key) = PrivateKeyDer::from_pem_slice(found.key.as_bytes()) else { return false };
    let Ok(key) = KeyPair::try_from(&key) else { return false };
    if key.subject_public_key_info() != read.key_info || now < read.validity.0 || now + AHEAD > read.validity.1 {
        return false;
    }
    let Some(purpose) = purpose else { return read.subject == read.issuer };
    let Ok(root) = CertificateDer::from_pem_slice(authority) else { return false };
    let Ok(anchor) = anchor_from_trusted_cert(&root) else { return false };
    let Ok(leaf) = EndEntityCert::try_from(&der) else { return false };
    let usage = match purpose {
        Purpose::Server(names) => {
            let valid = |name: &String| {
                ServerName::try_from(name.as_str())
                    .is_ok_and(|name| leaf.verify_is_valid_for_subject_name(&name).is_ok())
            };
            if !names.iter().all(valid) {
                return false;
            }
            KeyUsage::server_auth()
        }
        Purpose::Client(..) => KeyUsage::client_auth(),
    };
    let seconds = u64::try_from(now).unwrap_or_default();
    let time = UnixTime::since_unix_epoch(Duration::from_secs(seconds));
    let algorithms = default_provider().signature_verification_algorithms.all;
    leaf.verify_for_usage(algorithms, &[anchor], &[], time, usage, None, None).is_ok()
}
