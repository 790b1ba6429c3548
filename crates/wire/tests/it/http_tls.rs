//! Servers behind TLS: trusted certificates, and errors of the others.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use mcparley_model::config::Era;
use mcparley_testkit::FaultProxy;
use mcparley_wire::{Failure, Obstacle};
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, DnType, IsCa, KeyPair, date_time_ymd};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::rustls::server::WebPkiClientVerifier;
use tokio_rustls::rustls::{RootCertStore, ServerConfig};

use crate::http_proxy::{Manner, Proxy};
use crate::http_world::Site;

pub(crate) type Authority = CertifiedIssuer<'static, KeyPair>;

/// A certificate and its key, in PEM.
pub(crate) struct Identity {
    pub(crate) certificate: String,
    pub(crate) key: String,
}

pub(crate) fn authority(name: &str) -> Authority {
    let mut params = CertificateParams::default();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    params.distinguished_name.push(DnType::CommonName, name);
    CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap()
}

pub(crate) fn identity(
    authority: &Authority,
    name: &str,
    change: impl FnOnce(&mut CertificateParams),
) -> Identity {
    let mut params = CertificateParams::new([name.to_owned()]).unwrap();
    change(&mut params);
    let key = KeyPair::generate().unwrap();
    let certificate = params.signed_by(&key, authority).unwrap().pem();
    Identity { certificate, key: key.serialize_pem() }
}

/// A request that a server received.
type Heard = Arc<Mutex<Vec<String>>>;

/// Starts a minimal HTTP server behind TLS; returns its URL.
async fn serve(identity: &Identity, clients: Option<&Authority>) -> String {
    listen(identity, clients).await.0
}

/// Accepts TLS as `identity`, for clients of that authority only.
pub(crate) fn acceptor(identity: &Identity, clients: Option<&Authority>) -> TlsAcceptor {
    let certificate = CertificateDer::from_pem_slice(identity.certificate.as_bytes()).unwrap();
    let key = PrivateKeyDer::from_pem_slice(identity.key.as_bytes()).unwrap();
    let config = match clients {
        None => ServerConfig::builder().with_no_client_auth(),
        Some(authority) => {
            let mut roots = RootCertStore::empty();
            roots.add(authority.der().clone()).unwrap();
            let verifier = WebPkiClientVerifier::builder(Arc::new(roots)).build().unwrap();
            ServerConfig::builder().with_client_cert_verifier(verifier)
        }
    };
    TlsAcceptor::from(Arc::new(config.with_single_cert(vec![certificate], key).unwrap()))
}

/// As [`serve`], with the received requests.
async fn listen(identity: &Identity, clients: Option<&Authority>) -> (String, Heard) {
    listen_with(identity, clients, None).await
}

/// As [`listen`], with a response of its own.
async fn listen_with(
    identity: &Identity,
    clients: Option<&Authority>,
    answer: Option<String>,
) -> (String, Heard) {
    let acceptor = acceptor(identity, clients);
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("https://{}/mcp", listener.local_addr().unwrap());
    let heard = Heard::default();
    let hears = Arc::clone(&heard);
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            tokio::spawn(greet(acceptor.clone(), stream, Arc::clone(&hears), answer.clone()));
        }
    });
    (url, heard)
}

async fn greet(acceptor: TlsAcceptor, stream: TcpStream, heard: Heard, instead: Option<String>) {
    let mut stream = match acceptor.accept(stream).into_fallible().await {
        Ok(stream) => stream,
        // Reads on, so that the alert is not lost in a reset.
        Err((_, mut stream)) => return drop(stream.read_to_end(&mut Vec::new()).await),
    };
    let mut request = vec![0; 64 * 1024];
    let read = stream.read(&mut request).await.unwrap_or(0);
    let text = String::from_utf8_lossy(request.get(..read).unwrap_or_default()).into_owned();
    heard.lock().unwrap().push(text.to_lowercase());
    let body = text.split("\r\n\r\n").nth(1).unwrap_or_default();
    let id = serde_json::from_str::<Value>(body).unwrap_or_default()["id"].clone();
    let result = json!({"supportedVersions": ["2026-07-28"], "capabilities": {}});
    let answer = json!({"jsonrpc": "2.0", "id": id, "result": result}).to_string();
    let head = "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Type: application/json";
    let answer = format!("{head}\r\nContent-Length: {}\r\n\r\n{answer}", answer.len());
    stream.write_all(instead.unwrap_or(answer).as_bytes()).await.unwrap_or_default();
    stream.shutdown().await.unwrap_or_default();
}

pub(crate) struct Files(tempfile::TempDir);

impl Files {
    pub(crate) fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    #[expect(clippy::disallowed_methods, reason = "a file of the test's own")]
    pub(crate) fn put(&self, name: &str, text: &str) -> String {
        let path: PathBuf = self.0.path().join(name);
        std::fs::write(&path, text).unwrap();
        path_text(&path)
    }
}

fn path_text(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

async fn refused(url: &str, variables: &[(&str, &str)]) -> (String, Option<String>) {
    let (_, reason, hint) = obstructed(url, variables).await;
    (reason, hint)
}

async fn obstructed(url: &str, variables: &[(&str, &str)]) -> (Obstacle, String, Option<String>) {
    let error = Site::at(url).with_variables(variables).connect_as(Era::New).await.unwrap_err();
    let Failure::Refused { obstacle, reason, hint } = error else { unreachable!("{error:?}") };
    (obstacle, reason.to_string(), hint.map(|hint| hint.to_string()))
}

// T8 F33
#[tokio::test]
async fn each_certificate_error_has_its_own_reason() {
    let ours = authority("ours");
    let files = Files::new();
    let ca = files.put("ca.pem", &ours.pem());
    let trusting = [("NODE_EXTRA_CA_CERTS", ca.as_str())];

    let good = serve(&identity(&ours, "127.0.0.1", |_| {}), None).await;
    Site::at(&good).with_variables(&trusting).connect_as(Era::New).await.unwrap();
    let (obstacle, reason, hint) = obstructed(&good, &[]).await;
    assert_eq!(obstacle, Obstacle::UnknownIssuer);
    assert_eq!(reason, "its certificate is signed by an unknown issuer");
    assert!(hint.unwrap().contains("NODE_EXTRA_CA_CERTS"));

    let past = |params: &mut CertificateParams| {
        params.not_before = date_time_ymd(2020, 1, 1);
        params.not_after = date_time_ymd(2021, 1, 1);
    };
    let future = |params: &mut CertificateParams| {
        params.not_before = date_time_ymd(4000, 1, 1);
        params.not_after = date_time_ymd(4001, 1, 1);
    };
    let expired = serve(&identity(&ours, "127.0.0.1", past), None).await;
    let (obstacle, reason, hint) = obstructed(&expired, &trusting).await;
    assert_eq!((obstacle, reason.as_str()), (Obstacle::CertificateExpired, "its certificate has expired"));
    assert!(hint.unwrap().contains("renew"));
    let early = serve(&identity(&ours, "127.0.0.1", future), None).await;
    let (obstacle, reason, _) = obstructed(&early, &trusting).await;
    assert_eq!((obstacle, reason.as_str()), (Obstacle::CertificateEarly, "its certificate is not valid yet"));
    let foreign = serve(&identity(&ours, "other.example", |_| {}), None).await;
    let (obstacle, reason, hint) = obstructed(&foreign, &trusting).await;
    assert_eq!(
        (obstacle, reason.as_str()),
        (Obstacle::CertificateName, "its certificate is for another name")
    );
    assert!(hint.unwrap().contains("URL"));
}

/// Creates a self-signed certificate, marked as an authority or not.
fn own(name: &str, is_ca: IsCa) -> Identity {
    let mut params = CertificateParams::new([name.to_owned()]).unwrap();
    params.is_ca = is_ca;
    params.distinguished_name.push(DnType::CommonName, name);
    let key = KeyPair::generate().unwrap();
    let certificate = params.self_signed(&key).unwrap().pem();
    Identity { certificate, key: key.serialize_pem() }
}

// T8 F33
#[tokio::test]
async fn self_signed_certificate_is_distinguished_and_can_be_trusted() {
    let files = Files::new();
    for is_ca in [IsCa::NoCa, IsCa::ExplicitNoCa, IsCa::Ca(BasicConstraints::Unconstrained)] {
        let url = serve(&own("127.0.0.1", is_ca), None).await;
        let (obstacle, reason, hint) = obstructed(&url, &[]).await;
        assert_eq!(obstacle, Obstacle::SelfSigned);
        assert_eq!(reason, "its certificate is self-signed and not trusted");
        assert!(hint.unwrap().contains("NODE_EXTRA_CA_CERTS"), "{is_ca:?}");
    }
    let own = own("127.0.0.1", IsCa::NoCa);
    let known = files.put("own.pem", &own.certificate);
    let url = serve(&own, None).await;
    let variables = [("NODE_EXTRA_CA_CERTS", known.as_str())];
    Site::at(&url).with_variables(&variables).connect_as(Era::New).await.unwrap();
}

// F33: no retry, and none without TLS.
#[tokio::test]
async fn tls_error_is_not_retried() {
    let (url, heard) = listen(&own("127.0.0.1", IsCa::NoCa), None).await;
    let address = url.strip_prefix("https://").unwrap().strip_suffix("/mcp").unwrap();
    let proxy = FaultProxy::for_server(address);
    let url = format!("https://{}/mcp", proxy.address());
    let error = Site::at(&url).connect_as(Era::Auto).await.unwrap_err();
    assert!(matches!(error, Failure::Refused { .. }), "{error:?}");
    assert_eq!(proxy.accepted_connections(), 1);
    assert!(heard.lock().unwrap().is_empty(), "nothing was said without TLS");
}

// T8 F33
#[tokio::test]
async fn client_certificate_is_sent_and_its_absence_reported() {
    let (ours, theirs, strangers) = (authority("ours"), authority("theirs"), authority("strangers"));
    let files = Files::new();
    let ca = files.put("ca.pem", &ours.pem());
    let client = identity(&theirs, "client.example", |_| {});
    let stranger = identity(&strangers, "client.example", |_| {});
    let url = serve(&identity(&ours, "127.0.0.1", |_| {}), Some(&theirs)).await;

    let trusting = ("NODE_EXTRA_CA_CERTS", ca.as_str());
    let (obstacle, reason, hint) = obstructed(&url, &[trusting]).await;
    assert_eq!(obstacle, Obstacle::ClientCertificate);
    assert_eq!(reason, "it requires a client certificate");
    assert!(hint.unwrap().contains("CLAUDE_CODE_CLIENT_CERT"));

    let certificate = files.put("client.pem", &client.certificate);
    let key = files.put("client.key", &client.key);
    let known = [trusting, ("CLAUDE_CODE_CLIENT_CERT", &certificate), ("CLAUDE_CODE_CLIENT_KEY", &key)];
    Site::at(&url).with_variables(&known).connect_as(Era::New).await.unwrap();
    let both = files.put("both.pem", &format!("{}{}", client.certificate, client.key));
    let known = [trusting, ("CLAUDE_CODE_CLIENT_CERT", both.as_str())];
    Site::at(&url).with_variables(&known).connect_as(Era::New).await.unwrap();

    let both = files.put("stranger.pem", &format!("{}{}", stranger.certificate, stranger.key));
    let unknown = [trusting, ("CLAUDE_CODE_CLIENT_CERT", both.as_str())];
    assert_eq!(refused(&url, &unknown).await.0, "it does not accept our client certificate");
}

// T8
#[tokio::test]
async fn invalid_certificate_file_is_named_and_affects_only_tls_servers() {
    let files = Files::new();
    let empty = files.put("empty.pem", "no certificate at all");
    let missing = path_text(&files.0.path().join("missing.pem"));
    for (variable, file, why) in [
        ("NODE_EXTRA_CA_CERTS", &empty, "it contains no certificate"),
        ("SSL_CERT_FILE", &missing, "there is no such file"),
        ("CLAUDE_CODE_CLIENT_CERT", &empty, "it contains no certificate with its key"),
    ] {
        let (obstacle, reason, hint) = obstructed("https://127.0.0.1:1/mcp", &[(variable, file)]).await;
        assert_eq!(obstacle, Obstacle::CertificateFile);
        assert_eq!(reason, format!("certificate file `{file}` cannot be used: {why}"));
        assert!(hint.unwrap().contains(variable));
        let server = mcparley_testkit::HttpServer::start(&[]);
        Site::at(server.url()).with_variables(&[(variable, file)]).connect_as(Era::Old).await.unwrap();
    }
}

// F54
#[tokio::test]
async fn redirect_from_https_to_http_is_not_followed() {
    let plain = mcparley_testkit::HttpServer::start_with(&[], &crate::http_world::NEW);
    let ours = authority("ours");
    let files = Files::new();
    let ca = files.put("ca.pem", &ours.pem());
    let location = format!("Connection: close\r\nContent-Length: 0\r\nLocation: {}", plain.url());
    let answer = format!("HTTP/1.1 307 Temporary Redirect\r\n{location}\r\n\r\n");
    let (url, heard) = listen_with(&identity(&ours, "127.0.0.1", |_| {}), None, Some(answer)).await;
    let mut site = Site::at(&url).with_variables(&[("NODE_EXTRA_CA_CERTS", &ca)]);
    let error = site.connect_as(Era::New).await.unwrap_err();
    assert!(matches!(&error, Failure::Protocol(text) if text.contains("it redirects to")), "{error:?}");
    assert_eq!(heard.lock().unwrap().len(), 1);
    assert_eq!(plain.stats()["post"], json!({}));
}

// T8
#[tokio::test]
async fn a_certificate_file_that_appears_later_is_read_then() {
    let ours = authority("ours");
    let files = Files::new();
    let ca = path_text(&files.0.path().join("ca.pem"));
    let url = serve(&identity(&ours, "127.0.0.1", |_| {}), None).await;
    let mut site = Site::at(&url).with_variables(&[("NODE_EXTRA_CA_CERTS", &ca)]);
    assert!(site.connect_as(Era::New).await.is_err());
    files.put("ca.pem", &ours.pem());
    site.connect_as(Era::New).await.unwrap();
}

// T8 F34
#[tokio::test]
async fn a_server_behind_tls_is_reached_through_a_tunnel_and_never_sees_the_proxys_password() {
    let ours = authority("ours");
    let files = Files::new();
    let ca = files.put("ca.pem", &ours.pem());
    let (url, heard) = listen(&identity(&ours, "server.invalid", |_| {}), None).await;
    let address = url.strip_prefix("https://").unwrap().strip_suffix("/mcp").unwrap().to_owned();
    let proxy = Proxy::start(Manner::HandOn(address));
    let through = format!("http://name:hidden@{}", proxy.address);
    let variables = [("NODE_EXTRA_CA_CERTS", ca.as_str()), ("HTTPS_PROXY", &through)];
    let mut site = Site::at("https://server.invalid/mcp").with_variables(&variables);
    site.connect_as(Era::New).await.unwrap();
    let head = proxy.heads()[0].to_lowercase();
    assert!(head.starts_with("connect server.invalid:443 "), "{head}");
    assert!(head.contains("proxy-authorization: basic bmftztpoawrkzw4="), "{head}");
    let heard = heard.lock().unwrap().join("");
    assert!(heard.contains("post /mcp") && !heard.contains("authorization"), "{heard}");
}
