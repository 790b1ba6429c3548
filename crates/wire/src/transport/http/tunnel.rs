//! A CONNECT tunnel through an HTTP proxy to a server without TLS.
//!
//! The HTTP library opens tunnels for servers with TLS only and sends the requests of the others to the
//! proxy, which forwards plain requests and responses only. RFC 6455, 4.1 demands a tunnel for every
//! WebSocket.

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use percent_encoding::percent_decode_str;
use reqwest::header::{HOST, HeaderValue, USER_AGENT};
use reqwest::{Body, Request, Response};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpStream;
use url::Url;

use super::{http_error, network};
use crate::failure::Failure;
use crate::task::OwnedTasks;

/// Limit of the proxy's response head.
const HEAD_BYTES: u64 = 64 * 1024;

/// Whether the HTTP library would not open a tunnel here.
pub(super) fn is_needed(url: &Url, proxy: &Url) -> bool {
    url.scheme() == "http" && matches!(proxy.scheme(), "http" | "https")
}

/// Sends one request through a tunnel of its own, which ends with `tasks`.
pub(super) async fn send_through_tunnel(
    proxy: &Url,
    mut request: Request,
    tasks: &OwnedTasks,
) -> Result<Response, Failure> {
    let stream = open_tunnel(proxy, request.url()).await?;
    let (mut sender, connection) =
        http1::handshake(TokioIo::new(stream)).await.map_err(|_| http_error::broken_failure())?;
    // An error of the connection fails the request too.
    tasks.spawn(async move { drop(connection.with_upgrades().await) });
    let place = url_authority(request.url());
    let unsendable = || http_error::unreachable_failure("its URL cannot be sent".to_owned(), None);
    let host = HeaderValue::from_str(&place).map_err(|_| unsendable())?;
    request.headers_mut().insert(HOST, host);
    request.headers_mut().entry(USER_AGENT).or_insert(HeaderValue::from_static(network::USER_AGENT));
    let path = request.url()[url::Position::BeforePath..url::Position::AfterQuery].parse();
    let mut request: hyper::Request<Body> = request.try_into().map_err(|_| unsendable())?;
    *request.uri_mut() = path.map_err(|_| unsendable())?;
    let response = sender.send_request(request).await.map_err(|_| http_error::broken_failure())?;
    Ok(response.map(Body::wrap).into())
}

/// Opens a tunnel to the server of `url`.
async fn open_tunnel(proxy: &Url, url: &Url) -> Result<BufReader<TcpStream>, Failure> {
    if proxy.scheme() == "https" {
        return Err(http_error::proxy_failure(
            proxy,
            "a proxy behind TLS is for `https` and `wss` servers only",
        ));
    }
    let broken = |error: std::io::Error| http_error::proxy_failure(proxy, &error.to_string());
    let host = proxy.host_str().unwrap_or_default().trim_matches(['[', ']']);
    let port = proxy.port_or_known_default().unwrap_or(80);
    let mut stream = BufReader::new(TcpStream::connect((host, port)).await.map_err(broken)?);
    stream.get_ref().set_nodelay(true).map_err(broken)?;
    stream.write_all(connect_request(proxy, &host_and_port(url)).as_bytes()).await.map_err(broken)?;
    match read_status(&mut stream).await.map_err(broken)? {
        Some(200..=299) => Ok(stream),
        Some(407) => Err(http_error::proxy_sign_in_failure(proxy)),
        Some(_) => Err(http_error::proxy_refusal_failure(proxy)),
        None => Err(http_error::proxy_failure(proxy, "it does not speak HTTP")),
    }
}

fn connect_request(proxy: &Url, place: &str) -> String {
    let plain = |text: &str| percent_decode_str(text).collect::<Vec<u8>>();
    let sign_in = match (proxy.username(), proxy.password()) {
        ("", None) => String::new(),
        (name, password) => {
            let pair = [plain(name), plain(password.unwrap_or_default())].join(&b':');
            format!("Proxy-Authorization: Basic {}\r\n", BASE64_STANDARD.encode(pair))
        }
    };
    format!("CONNECT {place} HTTP/1.1\r\nHost: {place}\r\n{sign_in}\r\n")
}

/// Reads the response up to the empty line. The bytes after it come from the server.
async fn read_status(stream: &mut BufReader<TcpStream>) -> std::io::Result<Option<u16>> {
    let mut head = stream.take(HEAD_BYTES);
    let mut line = Vec::new();
    head.read_until(b'\n', &mut line).await?;
    let first = String::from_utf8_lossy(&line).into_owned();
    let mut words = first.split_ascii_whitespace();
    let status =
        words.next().filter(|word| word.starts_with("HTTP/1.")).and_then(|_| words.next()?.parse().ok());
    while !line.trim_ascii().is_empty() {
        line.clear();
        if head.read_until(b'\n', &mut line).await? == 0 {
            return Ok(status.filter(|status| !(200..300).contains(status)));
        }
    }
    Ok(status)
}

/// The host and the port, even if it is the default one.
fn host_and_port(url: &Url) -> String {
    format!("{}:{}", url.host_str().unwrap_or_default(), url.port_or_known_default().unwrap_or(80))
}

/// The host, and the port if it is not the default one.
fn url_authority(url: &Url) -> String {
    url[url::Position::BeforeHost..url::Position::AfterPort].to_owned()
}
