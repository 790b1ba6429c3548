//! A fake authorization server with scripted answers, which records its requests.

use std::io::{BufRead as _, BufReader, ErrorKind, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::thread::JoinHandle;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use mcparley_auth::client::{ClientAuthMethod, ClientIdOrigin, OAuthClient};
use mcparley_auth::metadata::AuthServerMetadata;
use mcparley_auth::web::Web;
use mcparley_model::secret::Secret;
use mcparley_wire::transport::http::Network;
use serde_json::Value;
use url::Url;

/// The fake server. It accepts one request for each answer.
pub(crate) struct Counter {
    url: Url,
    listener: TcpListener,
    work: JoinHandle<Vec<Request>>,
}

/// A scripted answer.
pub(crate) struct Answer {
    status: u16,
    headers: Vec<(&'static str, &'static str)>,
    body: String,
}

/// A recorded request.
#[derive(Debug)]
pub(crate) struct Request {
    pub(crate) line: String,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: String,
}

impl Answer {
    pub(crate) fn new(status: u16, body: &str) -> Self {
        Self { status, headers: Vec::new(), body: body.to_owned() }
    }

    pub(crate) fn json(status: u16, body: &Value) -> Self {
        Self::new(status, &body.to_string())
    }

    pub(crate) fn with(mut self, name: &'static str, value: &'static str) -> Self {
        self.headers.push((name, value));
        self
    }
}

impl Counter {
    pub(crate) fn open(answers: Vec<Answer>) -> Self {
        Self::open_with(|_| answers)
    }

    /// Starts a server with answers that need its issuer.
    pub(crate) fn open_with(answers: impl FnOnce(&str) -> Vec<Answer>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = Url::parse(&format!("http://{}", listener.local_addr().unwrap())).unwrap();
        let answers = answers(&url.origin().ascii_serialization());
        let door = listener.try_clone().unwrap();
        let work = std::thread::spawn(move || {
            answers.iter().map(|answer| serve(door.accept().unwrap().0, answer)).collect()
        });
        Self { url, listener, work }
    }

    /// Its metadata, with endpoints below its address.
    pub(crate) fn server(&self) -> AuthServerMetadata {
        let at = |path: &str| self.url.join(path).unwrap();
        AuthServerMetadata {
            authorization_endpoint: Some(at("/authorize")),
            registration_endpoint: Some(at("/register")),
            device_endpoint: Some(at("/device")),
            revocation_endpoint: Some(at("/revoke")),
            has_s256: true,
            names_issuer: true,
            ..AuthServerMetadata::new(self.issuer(), at("/token"))
        }
    }

    pub(crate) fn issuer(&self) -> String {
        self.url.origin().ascii_serialization()
    }

    pub(crate) fn web(&self) -> Web {
        Web::new(&Network::default(), &self.url)
    }

    /// The recorded requests. Every answer must have been used, and no other client may be waiting.
    pub(crate) fn requests(self) -> Vec<Request> {
        let requests = self.work.join().unwrap();
        self.listener.set_nonblocking(true).unwrap();
        let waiting = self.listener.accept().map(|_| ()).map_err(|error| error.kind());
        assert_eq!(waiting, Err(ErrorKind::WouldBlock), "more requests than answers");
        requests
    }

    /// The only recorded request.
    pub(crate) fn request(self) -> Request {
        let mut requests = self.requests();
        assert_eq!(requests.len(), 1);
        requests.remove(0)
    }
}

impl Request {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// The form parameters in the order they were sent.
    pub(crate) fn form(&self) -> Vec<(String, String)> {
        url::form_urlencoded::parse(self.body.as_bytes()).into_owned().collect()
    }

    /// Asserts that the form parameters are exactly these.
    pub(crate) fn assert_form(&self, wanted: &[(&str, &str)]) {
        let wanted: Vec<_> =
            wanted.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        assert_eq!(self.form(), wanted);
    }

    pub(crate) fn parameter(&self, name: &str) -> String {
        self.form().into_iter().find(|(known, _)| known == name).unwrap().1
    }
}

/// A client with the id `client`.
pub(crate) fn client(proof: ClientAuthMethod) -> OAuthClient {
    let secret =
        matches!(proof, ClientAuthMethod::Basic | ClientAuthMethod::Post).then(|| secret("canary-secret"));
    let (origin, scopes) = (ClientIdOrigin::Configured, Vec::new());
    OAuthClient { id: "client".to_owned(), secret, proof, redirect: None, origin, scopes }
}

pub(crate) fn secret(text: &str) -> Secret<String> {
    Secret::new(text.to_owned())
}

/// The header and claims of a token.
pub(crate) fn opened(token: &str) -> (Value, Value) {
    let mut parts = token.split('.').map(|part| URL_SAFE_NO_PAD.decode(part).unwrap());
    let mut value = || serde_json::from_slice(&parts.next().unwrap()).unwrap();
    (value(), value())
}

fn serve(stream: TcpStream, answer: &Answer) -> Request {
    let mut reader = BufReader::new(stream);
    let mut line = String::new();
    reader.read_line(&mut line).unwrap();
    let mut headers = Vec::new();
    loop {
        let mut header = String::new();
        reader.read_line(&mut header).unwrap();
        let Some((name, value)) = header.trim_end().split_once(": ") else { break };
        headers.push((name.to_ascii_lowercase(), value.to_owned()));
    }
    let length = headers.iter().find(|(name, _)| name == "content-length").map_or("0", |(_, value)| value);
    let mut body = vec![0; length.parse().unwrap()];
    reader.read_exact(&mut body).unwrap();
    let extra: String = answer.headers.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
    let Answer { status, body: text, .. } = answer;
    let head =
        format!("HTTP/1.1 {status} X\r\ncontent-length: {}\r\nconnection: close\r\n{extra}\r\n", text.len());
    reader.get_mut().write_all(format!("{head}{text}").as_bytes()).unwrap();
    Request { line: line.trim_end().to_owned(), headers, body: String::from_utf8(body).unwrap() }
}
