//! TLS configuration: extra certificate authorities besides the system's, and our client certificate.

use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use mcparley_model::limits::CERTIFICATE_BYTES;
use mcparley_model::text::display_line;
use mcparley_platform::file;
use reqwest::ClientBuilder;
use rustls::ClientConfig;
use rustls::crypto::CryptoProvider;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};

use super::verifier::Verifier;
use crate::failure::{Failure, Obstacle};
use crate::transport::http::http_error::obstacle_failure;

/// Paths of the certificate files. Read when the first server with TLS is reached.
#[derive(Debug)]
pub(super) struct TlsTrust {
    extra_ca: Vec<PathBuf>,
    client_certificate: Option<PathBuf>,
    client_key: Option<PathBuf>,
    /// The resulting configuration, for every client of a process: loading it takes longer than all the rest.
    ready: OnceLock<ClientConfig>,
}

impl TlsTrust {
    pub(super) fn new(
        extra_ca: Vec<PathBuf>,
        client_certificate: Option<PathBuf>,
        client_key: Option<PathBuf>,
    ) -> Self {
        Self { extra_ca, client_certificate, client_key, ready: OnceLock::new() }
    }

    /// Configures TLS with these files. A file that cannot be used is an error: ignoring it would show as an
    /// untrusted certificate, far from the reason.
    pub(super) fn apply_to(&self, client: ClientBuilder) -> Result<ClientBuilder, Failure> {
        let config = match self.ready.get() {
            Some(config) => config.clone(),
            // Two concurrent callers may build it twice; either result is right.
            None => self
                .ready
                .get_or_init({
                    let config = self.build_config()?;
                    || config
                })
                .clone(),
        };
        Ok(client.tls_backend_preconfigured(config))
    }

    fn build_config(&self) -> Result<ClientConfig, Failure> {
        let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
        let verifier = self.build_verifier(Arc::clone(&provider))?;
        let config = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(|error| tls_setup_failure(&error))?
            .dangerous()
            .with_custom_certificate_verifier(Arc::new(verifier));
        let mut config = match &self.client_certificate {
            Some(path) => {
                let (chain, key) = self.load_identity(path)?;
                config.with_client_auth_cert(chain, key).map_err(|_| no_identity_failure(path))?
            }
            None => config.with_no_client_auth(),
        };
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        Ok(config)
    }

    fn build_verifier(&self, provider: Arc<CryptoProvider>) -> Result<Verifier, Failure> {
        let mut extra = Vec::new();
        for path in &self.extra_ca {
            let pem = read_certificate_file(path)?;
            let found: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(&pem).collect();
            match found {
                Ok(found) if !found.is_empty() => extra.extend(found),
                Ok(_) | Err(_) => return Err(bad_file_failure(path, "it contains no certificate")),
            }
        }
        let system = rustls_platform_verifier::Verifier::new_with_extra_roots(extra, provider);
        system.map(Verifier::new).map_err(|error| tls_setup_failure(&error))
    }

    /// Loads our certificate, its chain, and its key.
    fn load_identity(
        &self,
        path: &Path,
    ) -> Result<(Vec<CertificateDer<'static>>, PrivateKeyDer<'static>), Failure> {
        let pem = read_certificate_file(path)?;
        let chain: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(&pem).collect();
        let chain = chain.map_err(|_| no_identity_failure(path))?;
        let key = match &self.client_key {
            Some(key) => PrivateKeyDer::from_pem_slice(&read_certificate_file(key)?),
            None => PrivateKeyDer::from_pem_slice(&pem),
        };
        Ok((chain, key.map_err(|_| no_identity_failure(path))?))
    }
}

fn tls_setup_failure(error: &rustls::Error) -> Failure {
    obstacle_failure(
        Obstacle::CertificateFile,
        format!("TLS cannot be set up: {error}"),
        Some(HINT.to_owned()),
    )
}

fn no_identity_failure(path: &Path) -> Failure {
    bad_file_failure(path, "it contains no certificate with its key")
}

fn read_certificate_file(path: &Path) -> Result<Vec<u8>, Failure> {
    match file::read_bytes(path, CERTIFICATE_BYTES) {
        Ok(Some(bytes)) => Ok(bytes),
        Ok(None) => Err(bad_file_failure(path, "there is no such file")),
        Err(error) => Err(certificate_failure(error.to_string())),
    }
}

const HINT: &str =
    "see `SSL_CERT_FILE`, `NODE_EXTRA_CA_CERTS`, `CLAUDE_CODE_CLIENT_CERT` and `CLAUDE_CODE_CLIENT_KEY`";

fn bad_file_failure(path: &Path, why: &str) -> Failure {
    let path = path.to_string_lossy();
    certificate_failure(format!("certificate file `{}` cannot be used: {why}", display_line(&path)))
}

fn certificate_failure(reason: String) -> Failure {
    obstacle_failure(Obstacle::CertificateFile, reason, Some(HINT.to_owned()))
}
