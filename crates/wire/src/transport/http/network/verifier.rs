//! Detects self-signed certificates among those with an unknown issuer.
//!
//! Trust is decided by the system's verifier alone. Its error is the same for a self-signed certificate and
//! for one of an unknown authority, and only here is the certificate available; the user has to fix them in
//! different ways.

use std::sync::Arc;

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{CertificateError, DigitallySignedStruct, Error, OtherError, SignatureScheme};
use webpki::EndEntityCert;

/// Error: a self-signed certificate that is not trusted here.
#[derive(Debug, thiserror::Error)]
#[error("it is signed by itself")]
pub(in crate::transport::http) struct SelfSignedCertificate;

/// The system's verifier, with an additional error for self-signed certificates.
#[derive(Debug)]
pub(super) struct Verifier(rustls_platform_verifier::Verifier);

impl Verifier {
    pub(super) fn new(system: rustls_platform_verifier::Verifier) -> Self {
        Self(system)
    }
}

impl ServerCertVerifier for Verifier {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        let judged = self.0.verify_server_cert(end_entity, intermediates, server_name, ocsp_response, now);
        judged.map_err(|error| {
            if is_unknown_issuer(&error) && is_self_signed(end_entity) {
                Error::InvalidCertificate(CertificateError::Other(OtherError(Arc::new(
                    SelfSignedCertificate,
                ))))
            } else {
                error
            }
        })
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.0.verify_tls12_signature(message, certificate, signature)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.0.verify_tls13_signature(message, certificate, signature)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.supported_verify_schemes()
    }
}

/// Whether the issuer is unknown. Many self-signed certificates are marked as an authority, and are then
/// refused for being used as a server's.
fn is_unknown_issuer(error: &Error) -> bool {
    match error {
        Error::InvalidCertificate(CertificateError::UnknownIssuer) => true,
        Error::InvalidCertificate(CertificateError::Other(OtherError(error))) => {
            matches!(error.downcast_ref(), Some(webpki::Error::CaUsedAsEndEntity))
        }
        _ => false,
    }
}

fn is_self_signed(certificate: &CertificateDer<'_>) -> bool {
    EndEntityCert::try_from(certificate).is_ok_and(|read| read.issuer() == read.subject())
}
