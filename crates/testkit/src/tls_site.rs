//! An HTTPS site that answers with JSON given by a test.

use std::io::{self, BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::thread;

use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
use rustls::{ServerConfig, ServerConnection, StreamOwned};
use serde_json::json;

/// Returns the body for an origin and a path.
type TlsSiteAnswer = dyn Fn(&str, &str) -> Option<String> + Send + Sync;

/// An HTTPS site on loopback with its own certificate authority. Its threads end with the process; they hold
/// nothing but their socket.
#[derive(Debug)]
pub struct TlsSite {
    address: SocketAddr,
    authority: String,
}

impl TlsSite {
    /// Starts a site that answers a path with the JSON that `answer` returns for its own origin and that
    /// path, or with 404.
    ///
    /// # Panics
    ///
    /// If no port is free, or no certificate can be generated.
    #[expect(clippy::expect_used, reason = "a test without its site cannot say anything else")]
    pub fn start(answer: impl Fn(&str, &str) -> Option<String> + Send + Sync + 'static) -> Self {
        let (config, authority) = generate_identity().expect("a certificate");
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let address = listener.local_addr().expect("its address");
        let (config, answer): (_, Arc<TlsSiteAnswer>) = (Arc::new(config), Arc::new(answer));
        thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let (config, answer) = (Arc::clone(&config), Arc::clone(&answer));
                // A client that does not trust the certificate closes the connection, which some tests check.
                thread::spawn(move || drop(serve_connection(stream, config, &*answer, address)));
            }
        });
        Self { address, authority }
    }

    /// Starts a site with authorization server metadata: itself as the issuer, with all endpoints at another
    /// origin.
    ///
    /// # Panics
    ///
    /// As for [`Self::start`].
    pub fn with_foreign_endpoints(endpoints: &str) -> Self {
        let endpoints = endpoints.to_owned();
        Self::start(move |origin, _| {
            let description = json!({
                "issuer": origin,
                "authorization_endpoint": format!("{endpoints}/authorize"),
                "token_endpoint": format!("{endpoints}/token"),
                "registration_endpoint": format!("{endpoints}/register"),
                "code_challenge_methods_supported": ["S256"],
            });
            Some(description.to_string())
        })
    }

    /// The origin of the site.
    pub fn origin(&self) -> String {
        origin_of(self.address)
    }

    /// The certificate of its authority, in PEM.
    pub fn authority(&self) -> &str {
        &self.authority
    }
}

/// Generates the TLS configuration of the site, and the certificate of its authority.
fn generate_identity() -> Result<(ServerConfig, String), Box<dyn std::error::Error>> {
    let mut params = CertificateParams::default();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let authority = CertifiedIssuer::self_signed(params, KeyPair::generate()?)?;
    let key = KeyPair::generate()?;
    let certificate = CertificateParams::new(["127.0.0.1".to_owned()])?.signed_by(&key, &authority)?;
    let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(key.serialize_der()));
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let config = ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions()?;
    let config = config.with_no_client_auth().with_single_cert(vec![certificate.der().clone()], key)?;
    Ok((config, authority.pem()))
}

/// Serves one request per connection.
fn serve_connection(
    stream: TcpStream,
    config: Arc<ServerConfig>,
    answer: &TlsSiteAnswer,
    address: SocketAddr,
) -> io::Result<()> {
    let connection = ServerConnection::new(config).map_err(io::Error::other)?;
    let mut reader = BufReader::new(StreamOwned::new(connection, stream));
    let mut line = String::new();
    reader.read_line(&mut line)?;
    let path = line.split(' ').nth(1).unwrap_or_default().to_owned();
    while line.len() > 2 {
        line.clear();
        reader.read_line(&mut line)?;
    }
    let (status, body) = match answer(&origin_of(address), &path) {
        Some(body) => ("200 OK", body),
        None => ("404 Not Found", String::new()),
    };
    let length = body.len();
    let head = format!("HTTP/1.1 {status}\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n");
    let stream = reader.get_mut();
    stream.write_all(format!("{head}connection: close\r\n\r\n{body}").as_bytes())?;
    stream.conn.send_close_notify();
    stream.flush()
}

fn origin_of(address: SocketAddr) -> String {
    format!("https://{address}")
}
