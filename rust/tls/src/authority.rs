//! Authorities of client certificates.

use std::fmt;
use std::time::Duration;

use hydrofoil_types::Timestamp;
use rustls::crypto::ring::default_provider;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, SignatureVerificationAlgorithm, TrustAnchor, UnixTime};
use webpki::{EndEntityCert, Error, ExtendedKeyUsageValidator, KeyPurposeIdIter, anchor_from_trusted_cert};

use crate::certificate::{Certificate, key};
use crate::subject::Subject;

/// The longest chain that a client may present.
const LONGEST: usize = 16;
const CLIENT_AUTH: [usize; 9] = [1, 3, 6, 1, 5, 5, 7, 3, 2];
const ANY_USAGE: [usize; 5] = [2, 5, 29, 37, 0];
const UNKNOWN: &str = "x509: certificate signed by unknown authority";

/// Why a certificate is refused, in Go's words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal(pub String);

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[derive(Debug)]
struct Authority {
    anchor: TrustAnchor<'static>,
    validity: (i64, i64),
}

/// The authorities of one bundle.
#[derive(Debug)]
pub struct ClientCa {
    authorities: Vec<Authority>,
    algorithms: &'static [&'static dyn SignatureVerificationAlgorithm],
}

/// Go's `ExtKeyUsageClientAuth`: a certificate without the extension is good for everything.
struct ForClients;

impl ExtendedKeyUsageValidator for ForClients {
    fn validate(&self, usages: KeyPurposeIdIter<'_, '_>) -> Result<(), Error> {
        let mut any = false;
        for usage in usages {
            let oid = usage?.to_decoded_oid();
            if oid == CLIENT_AUTH || oid == ANY_USAGE {
                return Ok(());
            }
            any = true;
        }
        // The error that names the one that is needed cannot be made outside of the crate.
        if any { Err(Error::CertDistrusted) } else { Ok(()) }
    }
}

impl ClientCa {
    /// Read the certificates of a bundle.
    pub fn read(pem: &[u8]) -> Result<Self, String> {
        let mut authorities = Vec::new();
        for found in CertificateDer::pem_slice_iter(pem) {
            let der = found.map_err(|e| e.to_string())?;
            let malformed = || "x509: malformed certificate".to_owned();
            let validity = Certificate::read(&der).map_err(|_| malformed())?.validity;
            let anchor = anchor_from_trusted_cert(&der).map_err(|_| malformed())?.to_owned();
            authorities.push(Authority { anchor, validity });
        }
        if authorities.is_empty() {
            return Err("data does not contain any valid RSA or ECDSA certificates".to_owned());
        }
        Ok(Self { authorities, algorithms: default_provider().signature_verification_algorithms.all })
    }

    /// The names of the authorities, in DER, as a server may suggest them to clients.
    pub fn names(&self) -> impl Iterator<Item = &[u8]> {
        self.authorities.iter().map(|a| a.anchor.subject.as_ref())
    }

    /// The subject of a client whose chain, its own certificate first, ends at an authority at a time since 1970.
    pub fn verify(&self, chain: &[&[u8]], now: Duration) -> Result<Subject, Refusal> {
        let Some((leaf, rest)) = chain.split_first() else { return Err(Refusal("no certificate".to_owned())) };
        if rest.len() >= LONGEST {
            return Err(Refusal("x509: too many certificates".to_owned()));
        }
        let malformed = || Refusal("x509: malformed certificate".to_owned());
        let certificate = Certificate::read(leaf).map_err(|_| malformed())?;
        let subject = Subject::read(certificate.subject).map_err(Refusal)?;
        valid_at(certificate.validity, now)?;
        let anchors: Vec<_> = self
            .authorities
            .iter()
            .filter(|authority| valid_at(authority.validity, now).is_ok())
            .map(|authority| authority.anchor.clone())
            .collect();
        if certificate.version == 3 {
            let rest: Vec<_> = rest.iter().map(|der| CertificateDer::from(*der)).collect();
            let der = CertificateDer::from(*leaf);
            let time = UnixTime::since_unix_epoch(now);
            EndEntityCert::try_from(&der)
                .and_then(|leaf| {
                    leaf.verify_for_usage(self.algorithms, &anchors, &rest, time, ForClients, None, None).map(drop)
                })
                .map_err(|e| refusal(&e, now))?;
        } else {
            self.verify_plain(&certificate, &anchors)?;
        }
        Ok(subject)
    }

    /// Verify a certificate without extensions, which webpki does not take and `openssl x509 -req` used to make: an
    /// authority must have signed it directly.
    fn verify_plain(&self, certificate: &Certificate<'_>, anchors: &[TrustAnchor<'_>]) -> Result<(), Refusal> {
        for anchor in anchors.iter().filter(|a| a.subject.as_ref() == certificate.issuer) {
            let Ok((algorithm, key)) = key(&anchor.subject_public_key_info) else { continue };
            let fitting = self.algorithms.iter().filter(|a| {
                a.public_key_alg_id().as_ref() == algorithm && a.signature_alg_id().as_ref() == certificate.algorithm
            });
            for verifier in fitting {
                if verifier.verify_signature(key, certificate.signed, certificate.signature).is_ok() {
                    return Ok(());
                }
            }
        }
        Err(Refusal(UNKNOWN.to_owned()))
    }
}

fn valid_at((start, end): (i64, i64), now: Duration) -> Result<(), Refusal> {
    let second = i64::try_from(now.as_secs()).unwrap_or(i64::MAX);
    let wrong = if second < start {
        Some(("before", start))
    } else if second > end {
        Some(("after", end))
    } else {
        None
    };
    match wrong {
        None => Ok(()),
        Some((word, limit)) => Err(Refusal(format!(
            "x509: certificate has expired or is not yet valid: current time {} is {word} {}",
            moment(second),
            moment(limit)
        ))),
    }
}

fn moment(second: i64) -> String {
    Timestamp { seconds: second, nanos: 0 }.rfc3339()
}

fn refusal(error: &Error, now: Duration) -> Refusal {
    let text = match error {
        Error::CertDistrusted => "x509: certificate specifies an incompatible key usage",
        Error::CertExpired { not_after, .. } => {
            let end = i64::try_from(not_after.as_secs()).unwrap_or(i64::MAX);
            return valid_at((i64::MIN, end), now).err().unwrap_or(Refusal(UNKNOWN.to_owned()));
        }
        Error::CertNotValidYet { not_before, .. } => {
            let start = i64::try_from(not_before.as_secs()).unwrap_or(i64::MAX);
            return valid_at((start, i64::MAX), now).err().unwrap_or(Refusal(UNKNOWN.to_owned()));
        }
        Error::UnknownIssuer => UNKNOWN,
        Error::InvalidSignatureForPublicKey => "x509: certificate signed by unknown authority (invalid signature)",
        Error::PathLenConstraintViolated => "x509: too many intermediates for path length constraint",
        Error::NameConstraintViolation => {
            "x509: a root or intermediate certificate is not authorized to sign for this name"
        }
        Error::EndEntityUsedAsCa => "x509: certificate is not authorized to sign other certificates",
        Error::UnsupportedCriticalExtension => "x509: unhandled critical extension",
        _ => return Refusal(format!("x509: {error}")),
    };
    Refusal(text.to_owned())
}
