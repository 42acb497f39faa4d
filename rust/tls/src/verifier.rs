//! Certificates of clients in the handshake.

use rustls::client::danger::HandshakeSignatureValid;
use rustls::crypto::{CryptoProvider, WebPkiSupportedAlgorithms, verify_tls13_signature_with_raw_key};
use rustls::pki_types::{CertificateDer, SubjectPublicKeyInfoDer, UnixTime};
use rustls::server::danger::{ClientCertVerified, ClientCertVerifier};
use rustls::{CertificateError, DigitallySignedStruct, DistinguishedName, Error, SignatureScheme};
use webpki::RawPublicKeyEntity;

use crate::certificate::Certificate;

/// Go's `RequestClientCert`: ask for a certificate, accept any or none, and verify that the client has its key.
///
/// The server decides later what a certificate is good for: a bad one is a status 401, not the end of the handshake.
#[derive(Debug)]
pub(crate) struct AnyClient {
    names: Vec<DistinguishedName>,
    algorithms: WebPkiSupportedAlgorithms,
}

impl AnyClient {
    pub(crate) fn new(names: Vec<DistinguishedName>, provider: &CryptoProvider) -> Self {
        Self { names, algorithms: provider.signature_verification_algorithms }
    }
}

fn key_info<'a>(certificate: &'a CertificateDer<'_>) -> Result<SubjectPublicKeyInfoDer<'a>, Error> {
    let read = Certificate::read(certificate).map_err(|_| CertificateError::BadEncoding)?;
    Ok(SubjectPublicKeyInfoDer::from(read.key_info))
}

impl ClientCertVerifier for AnyClient {
    fn root_hint_subjects(&self) -> &[DistinguishedName] {
        &self.names
    }

    fn client_auth_mandatory(&self) -> bool {
        false
    }

    fn verify_client_cert(
        &self,
        leaf: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: UnixTime,
    ) -> Result<ClientCertVerified, Error> {
        key_info(leaf)?;
        Ok(ClientCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let info = key_info(certificate)?;
        let key = RawPublicKeyEntity::try_from(&info).map_err(|_| CertificateError::BadEncoding)?;
        let known = self.algorithms.mapping.iter().find(|(scheme, _)| *scheme == signed.scheme);
        let (_, algorithms) = known.ok_or(CertificateError::BadSignature)?;
        let good = algorithms.iter().any(|a| key.verify_signature(*a, message, signed.signature()).is_ok());
        if good { Ok(HandshakeSignatureValid::assertion()) } else { Err(CertificateError::BadSignature.into()) }
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls13_signature_with_raw_key(message, &key_info(certificate)?, signed, &self.algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.algorithms.supported_schemes()
    }
}
