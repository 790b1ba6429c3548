//! Whom we trust behind TLS besides those the system trusts, and who we are there.

use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use mcparley_model::limits::CERTIFICATE_BYTES;
use mcparley_model::text::display;
use mcparley_platform::file;
use reqwest::ClientBuilder;
use rustls::ClientConfig;
use rustls::crypto::CryptoProvider;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};

use super::verifier::Verifier;
use crate::failure::{Failure, Obstacle};
use crate::transport::http::trouble::obstructed;

/// Where the certificates are. Read when the first server with TLS is reached.
#[derive(Debug)]
pub(super) struct Trust {
    extra_ca: Vec<PathBuf>,
    client_certificate: Option<PathBuf>,
    client_key: Option<PathBuf>,
    /// What came of it, for every client of a process: reading it takes longer than all the rest.
    ready: OnceLock<ClientConfig>,
}

impl Trust {
    pub(super) fn new(
        extra_ca: Vec<PathBuf>,
        client_certificate: Option<PathBuf>,
        client_key: Option<PathBuf>,
    ) -> Self {
        Self { extra_ca, client_certificate, client_key, ready: OnceLock::new() }
    }

    /// Sets TLS up as the files say. A file that cannot be used is told: leaving it out would show as a certificate
    /// that nobody trusts, far from the reason.
    pub(super) fn apply(&self, client: ClientBuilder) -> Result<ClientBuilder, Failure> {
        let config = match self.ready.get() {
            Some(config) => config.clone(),
            // Two that do it at once do it twice, and either is right.
            None => self
                .ready
                .get_or_init({
                    let config = self.config()?;
                    || config
                })
                .clone(),
        };
        Ok(client.tls_backend_preconfigured(config))
    }

    fn config(&self) -> Result<ClientConfig, Failure> {
        let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
        let verifier = self.verifier(Arc::clone(&provider))?;
        let config = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(|error| unready(&error))?
            .dangerous()
            .with_custom_certificate_verifier(Arc::new(verifier));
        let mut config = match &self.client_certificate {
            Some(path) => {
                let (chain, key) = self.identity(path)?;
                config.with_client_auth_cert(chain, key).map_err(|_| no_identity(path))?
            }
            None => config.with_no_client_auth(),
        };
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        Ok(config)
    }

    fn verifier(&self, provider: Arc<CryptoProvider>) -> Result<Verifier, Failure> {
        let mut extra = Vec::new();
        for path in &self.extra_ca {
            let pem = bytes(path)?;
            let found: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(&pem).collect();
            match found {
                Ok(found) if !found.is_empty() => extra.extend(found),
                Ok(_) | Err(_) => return Err(useless(path, "it holds no certificate")),
            }
        }
        let system = rustls_platform_verifier::Verifier::new_with_extra_roots(extra, provider);
        system.map(Verifier::new).map_err(|error| unready(&error))
    }

    /// Our certificate, those that vouch for it, and its key.
    fn identity(
        &self,
        path: &Path,
    ) -> Result<(Vec<CertificateDer<'static>>, PrivateKeyDer<'static>), Failure> {
        let pem = bytes(path)?;
        let chain: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(&pem).collect();
        let chain = chain.map_err(|_| no_identity(path))?;
        let key = match &self.client_key {
            Some(key) => PrivateKeyDer::from_pem_slice(&bytes(key)?),
            None => PrivateKeyDer::from_pem_slice(&pem),
        };
        Ok((chain, key.map_err(|_| no_identity(path))?))
    }
}

fn unready(error: &rustls::Error) -> Failure {
    obstructed(Obstacle::CertificateFile, format!("TLS cannot be set up: {error}"), Some(HINT.to_owned()))
}

fn no_identity(path: &Path) -> Failure {
    useless(path, "it holds no certificate with its key")
}

fn bytes(path: &Path) -> Result<Vec<u8>, Failure> {
    match file::read_bytes(path, CERTIFICATE_BYTES) {
        Ok(Some(bytes)) => Ok(bytes),
        Ok(None) => Err(useless(path, "there is no such file")),
        Err(error) => Err(unusable(error.to_string())),
    }
}

const HINT: &str =
    "see `SSL_CERT_FILE`, `NODE_EXTRA_CA_CERTS`, `CLAUDE_CODE_CLIENT_CERT` and `CLAUDE_CODE_CLIENT_KEY`";

fn useless(path: &Path, why: &str) -> Failure {
    let path = path.to_string_lossy();
    unusable(format!("certificate file `{}` cannot be used: {why}", display(&path)))
}

fn unusable(reason: String) -> Failure {
    obstructed(Obstacle::CertificateFile, reason, Some(HINT.to_owned()))
}
