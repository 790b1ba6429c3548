//! Whom we trust behind TLS besides those the system trusts, and who we are there.

use std::path::{Path, PathBuf};

use mcparley_model::limits::CERTIFICATE_BYTES;
use mcparley_model::text::display;
use mcparley_platform::file;
use reqwest::{Certificate, ClientBuilder, Identity};

use crate::failure::{Failure, Obstacle};
use crate::transport::http::trouble::obstructed;

/// Where the certificates are. Read when the first server with TLS is reached.
#[derive(Debug)]
pub(super) struct Trust {
    pub(super) extra_ca: Vec<PathBuf>,
    pub(super) client_certificate: Option<PathBuf>,
    pub(super) client_key: Option<PathBuf>,
}

impl Trust {
    /// Adds what the files say. A file that cannot be used is told: leaving it out would show as a certificate
    /// that nobody trusts, far from the reason.
    pub(super) fn apply(&self, client: ClientBuilder) -> Result<ClientBuilder, Failure> {
        let mut extra = Vec::new();
        for path in &self.extra_ca {
            let found = Certificate::from_pem_bundle(&bytes(path)?).unwrap_or_default();
            if found.is_empty() {
                return Err(useless(path, "it holds no certificate"));
            }
            extra.extend(found);
        }
        let client = if extra.is_empty() { client } else { client.tls_certs_merge(extra) };
        match &self.client_certificate {
            Some(certificate) => Ok(client.identity(self.identity(certificate)?)),
            None => Ok(client),
        }
    }

    fn identity(&self, certificate: &Path) -> Result<Identity, Failure> {
        let mut pem = bytes(certificate)?;
        if let Some(key) = &self.client_key {
            pem.push(b'\n');
            pem.extend(bytes(key)?);
        }
        Identity::from_pem(&pem).map_err(|_| useless(certificate, "it holds no certificate with its key"))
    }
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
