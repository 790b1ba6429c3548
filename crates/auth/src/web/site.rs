//! A site on loopback that answers with the bytes a test gives it, and remembers who asked for what.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

use url::Url;

/// The site.
pub(crate) struct Site {
    address: SocketAddr,
    seen: Arc<Mutex<Vec<String>>>,
}

/// What is answered to a path and query. The site's own origin is given, because descriptions name themselves.
type Answer = dyn Fn(&str, &str) -> Vec<u8> + Send + Sync;

impl Site {
    /// Opens a site. Its threads end with the process; they hold nothing but their socket.
    pub(crate) fn open(answer: impl Fn(&str, &str) -> Vec<u8> + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let seen = Arc::new(Mutex::new(Vec::new()));
        let (answer, noted): (Arc<Answer>, _) = (Arc::new(answer), Arc::clone(&seen));
        std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let (answer, noted) = (Arc::clone(&answer), Arc::clone(&noted));
                std::thread::spawn(move || serve(&stream, &*answer, &noted));
            }
        });
        Self { address, seen }
    }

    /// A site whose every path has its JSON; other paths have none.
    pub(crate) fn of(pages: impl Fn(&str, &str) -> Option<String> + Send + Sync + 'static) -> Self {
        Self::open(move |origin, path| match pages(origin, path) {
            Some(body) => json(&body),
            None => status(404, &[]),
        })
    }

    /// Its port.
    pub(crate) fn port(&self) -> u16 {
        self.address.port()
    }

    /// Its origin by number.
    pub(crate) fn origin(&self) -> String {
        format!("http://{}", self.address)
    }

    /// A URL there.
    pub(crate) fn url(&self, path: &str) -> Url {
        Url::parse(&format!("{}{path}", self.origin())).unwrap()
    }

    /// What was asked for, in order: method and path.
    pub(crate) fn seen(&self) -> Vec<String> {
        self.seen.lock().unwrap().clone()
    }
}

/// An answer with a JSON body.
pub(crate) fn json(body: &str) -> Vec<u8> {
    page("application/json", body)
}

/// An answer with a body of this type.
pub(crate) fn page(kind: &str, body: &str) -> Vec<u8> {
    let length = body.len();
    format!("HTTP/1.1 200 OK\r\ncontent-type: {kind}\r\nconnection: close\r\ncontent-length: {length}\r\n\r\n{body}").into_bytes()
}

/// An answer without a body.
pub(crate) fn status(code: u16, headers: &[(&str, &str)]) -> Vec<u8> {
    let headers: String = headers.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
    format!("HTTP/1.1 {code} So\r\nconnection: close\r\ncontent-length: 0\r\n{headers}\r\n").into_bytes()
}

/// One request for each connection: it ends with the answer, or, with an empty one, when the other side gives up.
fn serve(mut stream: &TcpStream, answer: &Answer, seen: &Mutex<Vec<String>>) {
    let origin = format!("http://{}", stream.local_addr().unwrap());
    let mut reader = BufReader::new(stream);
    let mut first = String::new();
    if reader.read_line(&mut first).unwrap_or_default() == 0 {
        return;
    }
    let mut words = first.split(' ');
    let (method, path) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    seen.lock().unwrap().push(format!("{method} {path}"));
    let mut length = 0;
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line).unwrap_or_default() <= 2 {
            break;
        }
        let line = line.to_ascii_lowercase();
        length = line.strip_prefix("content-length:").map_or(length, |value| value.trim().parse().unwrap());
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).unwrap();
    // Whoever asked may be gone already, which is what some tests are about.
    let written = stream.write_all(&answer(&origin, path));
    if written.is_ok() && !answer(&origin, path).ends_with(b"\0") {
        return;
    }
    // It never ends: until the other side does.
    while stream.write_all(b" ").is_ok() && stream.read(&mut [0]).is_ok_and(|read| read > 0) {}
}
