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

/// What follows an answer.
#[derive(Clone, Copy)]
pub(crate) enum Then {
    /// The connection ends.
    End,
    /// More of the same, until the other side has enough.
    More,
    /// Nothing, until the other side has enough.
    Nothing,
}

impl Site {
    /// Opens a site.
    pub(crate) fn open(answer: impl Fn(&str, &str) -> Vec<u8> + Send + Sync + 'static) -> Self {
        Self::start(Then::End, answer)
    }

    /// Opens a site that does not end with its answer. Its threads end with the process; they hold nothing but their socket.
    pub(crate) fn start(then: Then, answer: impl Fn(&str, &str) -> Vec<u8> + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let seen = Arc::new(Mutex::new(Vec::new()));
        let (answer, noted): (Arc<Answer>, _) = (Arc::new(answer), Arc::clone(&seen));
        std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let (answer, noted) = (Arc::clone(&answer), Arc::clone(&noted));
                std::thread::spawn(move || serve(&stream, &*answer, then, &noted));
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

/// One request for each connection.
fn serve(mut stream: &TcpStream, answer: &Answer, then: Then, seen: &Mutex<Vec<String>>) {
    let origin = format!("http://{}", stream.local_addr().unwrap());
    let Some(path) = request(stream, seen) else { return };
    let answer = answer(&origin, &path);
    // Whoever asked may be gone already, which is what some tests are about.
    let is_there = stream.write_all(&answer).is_ok();
    match then {
        Then::End => {}
        Then::More => while is_there && stream.write_all(&[b' '; 4096]).is_ok() {},
        Then::Nothing => while is_there && stream.read(&mut [0]).is_ok_and(|read| read > 0) {},
    }
}

/// Reads a request, and gives its path.
fn request(stream: &TcpStream, seen: &Mutex<Vec<String>>) -> Option<String> {
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
