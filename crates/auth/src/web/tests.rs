//! Requests over real connections, and those that are refused.

use mcparley_model::explain::Explain as _;
use mcparley_wire::transport::http::{NetworkSettings, ProxySettings};

use super::address_guard::tests::Told;
use super::site::{self, AfterAnswer, Site};
use super::*;

/// The client for a server on this machine.
fn near(site: &Site) -> Web {
    Web::new(&Network::default(), &site.url("/mcp"))
}

/// The client for a public server.
fn far() -> Web {
    Web::new(&Network::default(), &Url::parse("https://93.184.216.34/mcp").unwrap())
}

fn url(text: &str) -> Url {
    Url::parse(text).unwrap()
}

// B68
#[tokio::test]
async fn public_server_cannot_cause_requests_to_this_machine() {
    let site = Site::with_json_pages(|_, _| Some("{}".to_owned()));
    let web = far();
    for host in
        ["127.0.0.1", "0x7f.1", "2130706433", "127.1", "[::ffff:127.0.0.1]", "localhost", "a.localhost"]
    {
        let place = url(&format!("http://{host}:{}/?q=SECRET", site.port()));
        for result in [web.fetch_document(&place).await, web.post_body(&place, WebBody::Form(&[]), &[]).await]
        {
            let error = result.unwrap_err();
            assert!(
                matches!(&error, WebError::Forbidden(error) if error.reason == ForbiddenReason::Loopback),
                "{error}"
            );
            assert!(!format!("{error} {error:?}").contains("SECRET"), "{error:?}");
            assert!(error.hint().unwrap().contains("oauth.authServerMetadataUrl"));
        }
    }
    assert_eq!(site.requests(), [""; 0]);
    // A place that the user has configured is allowed.
    let page = web.with_trusted_place(&site.url("/meta")).fetch_document(&site.url("/meta")).await.unwrap();
    assert_eq!(page.status, 200);
}

// B68
#[tokio::test]
async fn only_https_leaves_this_machine() {
    let web = far();
    for text in ["http://a.example/", "http://10.0.0.1/", "ftp://a.example/", "file:///etc/passwd", "data:x"]
    {
        let error = web.fetch_document(&url(text)).await.unwrap_err();
        assert!(matches!(error, WebError::Scheme { .. }), "{text}: {error}");
    }
    for text in ["https://me@a.example/", "https://a.example/#x"] {
        let error = web.fetch_document(&url(text)).await.unwrap_err();
        assert!(matches!(error, WebError::UserInfo { .. }), "{text}: {error}");
    }
}

// B69
#[tokio::test]
async fn name_is_checked_at_the_moment_of_the_connection() {
    let site = Site::with_json_pages(|_, _| Some("{}".to_owned()));
    let names =
        Told::new(&[("mcp.example", &[&["8.8.8.8"], &["127.0.0.1"]]), ("as.example", &[&["10.0.0.1"]])]);
    let server = url(&format!("https://mcp.example:{}/", site.port()));
    let web = Web::new(&Network::default().with_resolver(names.clone()), &server);
    let error = web.fetch_document(&url("https://as.example/")).await.unwrap_err();
    let text = "`as.example` at `10.0.0.1` is in a private network, and the server is not";
    assert_eq!(error.to_string(), text);
    // Public at the first lookup, and this machine now.
    let error = web.fetch_document(&server).await.unwrap_err();
    assert!(
        matches!(&error, WebError::Forbidden(error) if error.reason == ForbiddenReason::Loopback),
        "{error}"
    );
    assert_eq!(names.asked(), ["as.example", "mcp.example", "mcp.example"]);
    assert_eq!(site.requests(), [""; 0]);
}

// B69
#[tokio::test]
async fn connection_goes_to_the_checked_address() {
    let site = Site::with_json_pages(|_, _| Some("{}".to_owned()));
    let names = Told::new(&[("app.localhost", &[&["127.0.0.1"], &["8.8.8.8"]])]);
    let server = url(&format!("http://app.localhost:{}/", site.port()));
    let web = Web::new(&Network::default().with_resolver(names.clone()), &server);
    assert_eq!(web.fetch_document(&server).await.unwrap().status, 200);
    assert_eq!(names.asked(), ["app.localhost"]);
    let error = web.fetch_document(&server).await.unwrap_err();
    assert!(
        matches!(&error, WebError::Forbidden(error) if error.reason == ForbiddenReason::Unexpected),
        "{error}"
    );
    assert_eq!(names.asked().len(), 2);
}

// B70
#[tokio::test]
async fn redirects_are_followed_a_few_times_within_the_origin() {
    let hops = |path: &str| path.trim_start_matches('/').parse::<usize>().unwrap();
    let site = Site::open(move |_, path| match hops(path) {
        0 => site::json_response("{}"),
        hops => site::status_response(302, &[("location", &format!("/{}#part", hops - 1))]),
    });
    let web = near(&site);
    assert_eq!(web.fetch_document(&site.url("/5")).await.unwrap().status, 200);
    assert_eq!(site.requests(), ["GET /5", "GET /4", "GET /3", "GET /2", "GET /1", "GET /0"]);
    let error = web.fetch_document(&site.url("/6")).await.unwrap_err();
    assert_eq!(error.to_string(), "it redirects more than 5 times");
    // A body is sent once.
    let page =
        web.post_body(&site.url("/1"), WebBody::Form(&[("code", Secret::new("c".to_owned()))]), &[]).await;
    assert_eq!(page.unwrap().status, 302);
    assert_eq!(site.requests().last().unwrap(), "POST /1");
}

// B70
#[tokio::test]
async fn redirect_to_another_origin_is_refused() {
    let other = Site::with_json_pages(|_, _| Some("{}".to_owned()));
    for (location, wanted) in [
        (other.url("/?SECRET").to_string(), "`http://127.0.0.1`"),
        ("http://169.254.169.254/latest".to_owned(), "`http://169.254.169.254`"),
        ("//10.0.0.1/".to_owned(), "`http://10.0.0.1`"),
        ("file:///etc/passwd".to_owned(), "`file:`"),
        ("https://[".to_owned(), "nowhere"),
    ] {
        let site = Site::open(move |_, _| site::status_response(302, &[("location", &location)]));
        let error = near(&site).fetch_document(&site.url("/")).await.unwrap_err();
        assert_eq!(error.to_string(), format!("it redirects to {wanted}"));
    }
    let site = Site::open(|_, _| site::status_response(302, &[]));
    assert_eq!(
        near(&site).fetch_document(&site.url("/")).await.unwrap_err().to_string(),
        "it redirects to nowhere"
    );
    assert_eq!(other.requests(), [""; 0]);
}

// B70
#[tokio::test]
async fn response_size_is_limited_with_or_without_a_length() {
    let large = Site::open(|_, _| site::json_response(&" ".repeat(2 * OAUTH_BYTES)));
    let endless =
        Site::open_with(AfterAnswer::More, |_, _| b"HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n".to_vec());
    for site in [large, endless] {
        let error = near(&site).fetch_document(&site.url("/")).await.unwrap_err();
        assert!(matches!(error, WebError::TooLarge { limit: OAUTH_BYTES }), "{error}");
    }
    let exact = Site::open(|_, _| site::json_response(&" ".repeat(OAUTH_BYTES)));
    assert_eq!(near(&exact).fetch_document(&exact.url("/")).await.unwrap().body.len(), OAUTH_BYTES);
}

// B70
#[tokio::test(start_paused = true)]
async fn endless_response_times_out() {
    let head = b"HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\n{";
    for bytes in [&b""[..], &b"HTTP/1.1 200 OK\r\n"[..], &head[..]] {
        let site = Site::open_with(AfterAnswer::Nothing, move |_, _| bytes.to_vec());
        let error = near(&site).fetch_document(&site.url("/")).await.unwrap_err();
        assert!(matches!(error, WebError::TimedOut { after: OAUTH_TIME }), "{error}");
    }
}

// T8
#[tokio::test]
async fn behind_a_proxy_only_numeric_addresses_are_checked() {
    let proxy = Site::open(|_, _| site::status_response(502, &[]));
    let address = format!("http://localhost:{}", proxy.port());
    let proxies = ProxySettings { https: Some(Secret::new(address)), ..ProxySettings::default() };
    let network = Network::new(NetworkSettings { proxies, ..NetworkSettings::default() });
    let names = Told::new(&[]);
    let server = url("https://mcp.example/");
    let web = Web::new(&network.with_resolver(names.clone()), &server);
    let error = web.fetch_document(&url("https://as.example/?SECRET")).await.unwrap_err();
    assert!(error.to_string().contains("it refuses to connect to the server"), "{error}");
    assert_eq!(proxy.requests(), ["CONNECT as.example:443"]);
    for host in ["10.0.0.1", "169.254.169.254", "localhost", "metadata.google.internal"] {
        let error = web.fetch_document(&url(&format!("https://{host}/"))).await.unwrap_err();
        assert!(matches!(error, WebError::Forbidden(_)), "{error}");
    }
    assert_eq!(proxy.requests().len(), 1);
    assert_eq!(names.asked(), [""; 0]);
}

// T8 F32
#[tokio::test]
async fn connection_errors_omit_the_query() {
    let closed = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let server = url(&format!("http://{closed}/token?q=SECRET"));
    let error = Web::new(&Network::default(), &server).fetch_document(&server).await.unwrap_err();
    assert!(error.to_string().starts_with("it cannot be reached: "), "{error}");
    assert!(!format!("{error} {error:?}").contains("SECRET"), "{error:?}");
    let gone = Site::open(|_, _| Vec::new());
    let error = near(&gone).fetch_document(&gone.url("/token?q=SECRET")).await.unwrap_err();
    assert!(error.to_string().starts_with("the connection broke: "), "{error}");
    assert!(!format!("{error} {error:?}").contains("SECRET"), "{error:?}");
}

// T8 B69
#[tokio::test]
async fn names_are_checked_here_for_a_proxy_that_takes_addresses() {
    let proxy = Site::open(|_, _| Vec::new());
    let address = format!("socks5://127.0.0.1:{}", proxy.port());
    let proxies = ProxySettings { all: Some(Secret::new(address)), ..ProxySettings::default() };
    let network = Network::new(NetworkSettings { proxies, ..NetworkSettings::default() });
    let names = Told::new(&[("as.example", &[&["10.0.0.1"]])]);
    let web = Web::new(&network.with_resolver(names), &url("https://mcp.example/"));
    let error = web.fetch_document(&url("https://as.example/")).await.unwrap_err();
    assert!(
        matches!(&error, WebError::Forbidden(error) if error.reason == ForbiddenReason::Private),
        "{error}"
    );
    assert_eq!(proxy.requests(), [""; 0]);
}

// T8
#[tokio::test]
async fn bodies_and_headers_are_not_printed() {
    let token = |_: &str, _: &str| site::json_response("{\"access_token\": \"SECRET\"}");
    let site = Site::open(token);
    let body = serde_json::json!({"assertion": "SECRET"});
    let page = near(&site).post_body(&site.url("/token"), WebBody::Json(&body), &[]).await.unwrap();
    assert_eq!(format!("{page:?} {:?}", WebBody::Json(&body)), "Page { status: 200, .. } Json");
}

// T8
#[tokio::test]
async fn configured_certificates_apply_to_sign_in() {
    let folder = tempfile::tempdir().unwrap();
    let settings =
        NetworkSettings { extra_ca: vec![folder.path().join("ca.pem")], ..NetworkSettings::default() };
    let server = url("https://93.184.216.34/");
    let error = Web::new(&Network::new(settings), &server).fetch_document(&server).await.unwrap_err();
    assert!(error.to_string().ends_with("cannot be used: there is no such file"), "{error}");
    assert!(error.hint().unwrap().contains("NODE_EXTRA_CA_CERTS"));
}
