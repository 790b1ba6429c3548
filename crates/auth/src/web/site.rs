//! A test HTTP server on loopback that answers with given bytes and records its requests.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

use url::Url;

/// The test server.
pub(crate) struct Site {
    address: SocketAddr,
    requests: Arc<Mutex<Vec<String>>>,
}

/// The answer to a path and query. The site's own origin is passed in, because metadata names itself.
type Answer = dyn Fn(&str, &str) -> Vec<u8> + Send + Sync;

/// The behavior after an answer.
#[derive(Clone, Copy)]
pub(crate) enum AfterAnswer {
    /// The connection is closed.
    End,
    /// More bytes until the client closes.
    More,
    /// Silence until the client closes.
    Nothing,
}

impl Site {
    /// Starts a site that closes after each answer.
    pub(crate) fn open(answer: impl Fn(&str, &str) -> Vec<u8> + Send + Sync + 'static) -> Self {
        Self::open_with(AfterAnswer::End, answer)
    }

    /// Starts a site with this behavior after its answer. Its threads end with the process; they hold only
    /// their socket.
    pub(crate) fn open_with(
        then: AfterAnswer,
        answer: impl Fn(&str, &str) -> Vec<u8> + Send + Sync + 'static,
    ) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let requests = Arc::new(Mutex::new(Vec::new()));
        let (answer, noted): (Arc<Answer>, _) = (Arc::new(answer), Arc::clone(&requests));
        std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let (answer, noted) = (Arc::clone(&answer), Arc::clone(&noted));
                std::thread::spawn(move || serve_connection(&stream, &*answer, then, &noted));
            }
        });
        Self { address, requests }
    }

    /// Starts a site that answers paths with JSON, and others with 404.
    pub(crate) fn with_json_pages(
        pages: impl Fn(&str, &str) -> Option<String> + Send + Sync + 'static,
    ) -> Self {
        Self::open(move |origin, path| match pages(origin, path) {
            Some(body) => json_response(&body),
            None => status_response(404, &[]),
        })
    }

    /// The port.
    pub(crate) fn port(&self) -> u16 {
        self.address.port()
    }

    /// The origin, with a numeric address.
    pub(crate) fn origin(&self) -> String {
        format!("http://{}", self.address)
    }

    /// A URL on this site.
    pub(crate) fn url(&self, path: &str) -> Url {
        Url::parse(&format!("{}{path}", self.origin())).unwrap()
    }

    /// The requests so far, in order: method and path.
    pub(crate) fn requests(&self) -> Vec<String> {
        self.requests.lock().unwrap().clone()
    }
}

/// A response with a JSON body.
pub(crate) fn json_response(body: &str) -> Vec<u8> {
    typed_response("application/json", body)
}

/// A response with a body of this type.
pub(crate) fn typed_response(kind: &str, body: &str) -> Vec<u8> {
    let length = body.len();
    format!("HTTP/1.1 200 OK\r\ncontent-type: {kind}\r\nconnection: close\r\ncontent-length: {length}\r\n\r\n{body}").into_bytes()
}

/// A response without a body.
pub(crate) fn status_response(code: u16, headers: &[(&str, &str)]) -> Vec<u8> {
    let headers: String = headers.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
    format!("HTTP/1.1 {code} So\r\nconnection: close\r\ncontent-length: 0\r\n{headers}\r\n").into_bytes()
}

/// Serves one request on each connection.
fn serve_connection(mut stream: &TcpStream, answer: &Answer, then: AfterAnswer, seen: &Mutex<Vec<String>>) {
    let origin = format!("http://{}", stream.local_addr().unwrap());
    let Some(path) = read_request(stream, seen) else { return };
    let answer = answer(&origin, &path);
    // The client may have closed the connection, which some tests do on purpose.
    let is_there = stream.write_all(&answer).is_ok();
    match then {
        AfterAnswer::End => {}
        AfterAnswer::More => while is_there && stream.write_all(&[b' '; 4096]).is_ok() {},
        AfterAnswer::Nothing => while is_there && stream.read(&mut [0]).is_ok_and(|read| read > 0) {},
    }
}

/// Reads a request, and returns its path.
fn read_request(stream: &TcpStream, seen: &Mutex<Vec<String>>) -> Option<String> {
    let mut reader = BufReader::new(stream);
    let mut line = String::new();
    reader.read_line(&mut line).ok().filter(|read| *read > 0)?;
    let mut words = line.split(' ');
    let (method, path) = (words.next()?.to_owned(), words.next()?.to_owned());
    seen.lock().unwrap().push(format!("{method} {path}"));
    let mut length = 0;
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line).ok()? <= 2 {
            break;
        }
        let line = line.to_ascii_lowercase();
        length = line.strip_prefix("content-length:").map_or(length, |value| value.trim().parse().unwrap());
    }
    reader.read_exact(&mut vec![0; length]).ok()?;
    Some(path)
}
