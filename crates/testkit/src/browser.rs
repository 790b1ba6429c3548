//! A headless browser for tests: HTTP/1.1 on raw sockets, loopback only; follows redirects and keeps cookies.

use crate::percent::percent_encode;
use std::collections::BTreeMap;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::time::Duration;

/// The read timeout: longer than a loaded machine takes to answer on loopback.
const PATIENCE: Duration = Duration::from_secs(30);
/// The redirect limit: more than any sign-in needs.
const REDIRECTS: usize = 20;

/// A browser session with its cookies by host.
#[derive(Debug, Default)]
pub struct Browser {
    cookies: BTreeMap<(String, String), String>,
    visited: Vec<String>,
}

/// The response of a server.
#[derive(Clone, Debug)]
pub struct Page {
    /// The URL of the page, after all redirects.
    pub url: String,
    /// The HTTP status.
    pub status: u16,
    headers: Vec<(String, String)>,
    /// The response body.
    pub body: Vec<u8>,
}

impl Page {
    /// The first header with that name.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers
            .iter()
            .find(|(found, _)| found.eq_ignore_ascii_case(name))
            .map(|(_, value)| value.as_str())
    }

    /// The body as text.
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    /// The body as JSON; null if it does not parse.
    pub fn json(&self) -> serde_json::Value {
        serde_json::from_slice(&self.body).unwrap_or_default()
    }
}

impl Browser {
    /// A browser without cookies.
    pub fn new() -> Self {
        Self::default()
    }

    /// Opens a URL and follows its redirects.
    ///
    /// # Panics
    ///
    /// If a server on the way does not answer, or there are too many redirects.
    pub fn open(&mut self, url: &str) -> Page {
        self.open_until(url, "\n")
    }

    /// Opens a URL like [`Browser::open`], but does not follow a redirect to a URL that begins with `end`.
    /// The returned page has that URL and no body: the address a user copies out of a browser on another
    /// machine.
    ///
    /// # Panics
    ///
    /// As for [`Browser::open`].
    #[expect(clippy::panic, reason = "a browser that goes round and round must fail the test")]
    pub fn open_until(&mut self, url: &str, end: &str) -> Page {
        let mut url = url.to_owned();
        for _ in 0..REDIRECTS {
            let page = self.send("GET", &url, &[], "");
            let next = page.header("location").map(|location| resolve_location(&url, location));
            match next.filter(|_| (300..400).contains(&page.status)) {
                Some(next) if next.starts_with(end) => return Page { url: next, body: Vec::new(), ..page },
                Some(next) => url = next,
                None => return page,
            }
        }
        panic!("more than {REDIRECTS} redirects, the last to `{url}`");
    }

    /// Sends one request without following redirects.
    ///
    /// # Panics
    ///
    /// If the server does not answer.
    #[expect(clippy::panic, reason = "a server that does not answer must fail the test")]
    pub fn send(&mut self, method: &str, url: &str, headers: &[(&str, &str)], body: &str) -> Page {
        self.visited.push(url.to_owned());
        match self.try_send(method, url, headers, body) {
            Ok(page) => page,
            Err(error) => panic!("{method} {url}: {error}"),
        }
    }

    /// Posts a form.
    ///
    /// # Panics
    ///
    /// If the server does not answer.
    pub fn post_form(&mut self, url: &str, form: &[(&str, &str)]) -> Page {
        let pairs: Vec<String> =
            form.iter().map(|(name, value)| format!("{name}={}", percent_encode(value))).collect();
        let headers = [("Content-Type", "application/x-www-form-urlencoded"), ("Accept", "application/json")];
        self.send("POST", url, &headers, &pairs.join("&"))
    }

    /// All requested URLs, in order.
    pub fn visited_urls(&self) -> &[String] {
        &self.visited
    }

    fn try_send(
        &mut self,
        method: &str,
        url: &str,
        headers: &[(&str, &str)],
        body: &str,
    ) -> io::Result<Page> {
        let (host, target) = split_url(url).ok_or_else(|| io::Error::other("not an http URL"))?;
        let cookies: Vec<String> = self
            .cookies
            .iter()
            .filter(|((of, _), _)| of == host)
            .map(|((_, name), value)| format!("{name}={value}"))
            .collect();
        let mut lines = format!("{method} {target} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n");
        if !cookies.is_empty() {
            lines.push_str(&format!("Cookie: {}\r\n", cookies.join("; ")));
        }
        for (name, value) in headers {
            lines.push_str(&format!("{name}: {value}\r\n"));
        }
        let mut stream = TcpStream::connect(host)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        stream.write_all(format!("{lines}Content-Length: {}\r\n\r\n{body}", body.len()).as_bytes())?;
        let page = read_page(&mut BufReader::new(stream), url)?;
        self.store_cookies(host, &page);
        Ok(page)
    }

    fn store_cookies(&mut self, host: &str, page: &Page) {
        let set = page.headers.iter().filter(|(name, _)| name.eq_ignore_ascii_case("set-cookie"));
        for (name, value) in set.filter_map(|(_, line)| line.split(';').next()?.split_once('=')) {
            let key = (host.to_owned(), name.trim().to_owned());
            // A cookie with an empty value is deleted.
            match value {
                "" => self.cookies.remove(&key),
                value => self.cookies.insert(key, value.to_owned()),
            };
        }
    }
}

/// Splits a URL into host with port, and path with query; the fragment is never sent.
fn split_url(url: &str) -> Option<(&str, &str)> {
    let rest = url.strip_prefix("http://")?.split('#').next()?;
    match rest.find(['/', '?']) {
        Some(at) if rest.get(at..)?.starts_with('/') => Some((rest.get(..at)?, rest.get(at..)?)),
        Some(_) => None,
        None => Some((rest, "/")),
    }
}

fn resolve_location(base: &str, location: &str) -> String {
    let host = split_url(base).map(|(host, _)| host).unwrap_or_default();
    if location.starts_with('/') { format!("http://{host}{location}") } else { location.to_owned() }
}

fn read_page(reader: &mut impl BufRead, url: &str) -> io::Result<Page> {
    let start = read_header_line(reader)?;
    let status = start.split(' ').nth(1).and_then(|code| code.parse().ok());
    let status = status.ok_or_else(|| io::Error::other(format!("not an HTTP response: `{start}`")))?;
    let mut headers = Vec::new();
    loop {
        let header = read_header_line(reader)?;
        let Some((name, value)) = header.split_once(':') else { break };
        headers.push((name.to_owned(), value.trim().to_owned()));
    }
    let mut page = Page { url: url.to_owned(), status, headers, body: Vec::new() };
    if page.header("transfer-encoding").is_some() {
        page.body = read_chunked_body(reader)?;
    } else {
        reader.read_to_end(&mut page.body)?;
    }
    Ok(page)
}

fn read_chunked_body(reader: &mut impl BufRead) -> io::Result<Vec<u8>> {
    let mut body = Vec::new();
    loop {
        let size = u64::from_str_radix(read_header_line(reader)?.trim(), 16).map_err(io::Error::other)?;
        if size == 0 {
            return Ok(body);
        }
        reader.by_ref().take(size).read_to_end(&mut body)?;
        read_header_line(reader)?;
    }
}

fn read_header_line(reader: &mut impl BufRead) -> io::Result<String> {
    let mut line = String::new();
    reader.read_line(&mut line)?;
    Ok(line.trim_end().to_owned())
}
