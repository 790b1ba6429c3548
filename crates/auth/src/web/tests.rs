//! What is asked over real connections, and what is not.

use mcparley_model::explain::Explain as _;
use mcparley_wire::transport::http::{NetworkSettings, ProxySettings};

use super::site::{self, Site, Then};
use super::watch::tests::Told;
use super::*;

/// The web of a server on this machine.
fn near(site: &Site) -> Web {
    Web::new(&Network::default(), &site.url("/mcp"))
}

/// The web of a server far away.
fn far() -> Web {
    Web::new(&Network::default(), &Url::parse("https://93.184.216.34/mcp").unwrap())
}

fn url(text: &str) -> Url {
    Url::parse(text).unwrap()
}

// B68
#[tokio::test]
async fn no_packet_goes_to_this_machine_for_a_server_far_away() {
    let site = Site::of(|_, _| Some("{}".to_owned()));
    let web = far();
    for host in
        ["127.0.0.1", "0x7f.1", "2130706433", "127.1", "[::ffff:127.0.0.1]", "localhost", "a.localhost"]
    {
        let place = url(&format!("http://{host}:{}/?q=SECRET", site.port()));
        for result in [web.get(&place).await, web.post(&place, Body::Form(&[]), &[]).await] {
            let error = result.unwrap_err();
            assert!(
                matches!(&error, WebError::Forbidden(error) if error.reason == Reason::Loopback),
                "{error}"
            );
            assert!(!format!("{error} {error:?}").contains("SECRET"), "{error:?}");
            assert!(error.hint().unwrap().contains("oauth.authServerMetadataUrl"));
        }
    }
    assert_eq!(site.seen(), [""; 0]);
    // Whom the user has named himself is asked.
    let page = web.trusting(&site.url("/meta")).get(&site.url("/meta")).await.unwrap();
    assert_eq!(page.status, 200);
}

// B68
#[tokio::test]
async fn only_https_leaves_this_machine() {
    let web = far();
    for text in ["http://a.example/", "http://10.0.0.1/", "ftp://a.example/", "file:///etc/passwd", "data:x"]
    {
        let error = web.get(&url(text)).await.unwrap_err();
        assert!(matches!(error, WebError::Scheme { .. }), "{text}: {error}");
    }
    for text in ["https://me@a.example/", "https://a.example/#x"] {
        let error = web.get(&url(text)).await.unwrap_err();
        assert!(matches!(error, WebError::Adorned { .. }), "{text}: {error}");
    }
}

// B69
#[tokio::test]
async fn a_name_is_judged_at_the_moment_of_the_connection() {
    let site = Site::of(|_, _| Some("{}".to_owned()));
    let names =
        Told::new(&[("mcp.example", &[&["8.8.8.8"], &["127.0.0.1"]]), ("as.example", &[&["10.0.0.1"]])]);
    let server = url(&format!("https://mcp.example:{}/", site.port()));
    let web = Web::new(&Network::default().with_names(names.clone()), &server);
    let error = web.get(&url("https://as.example/")).await.unwrap_err();
    let text = "`as.example` at `10.0.0.1` is in a private network, where the server is not";
    assert_eq!(error.to_string(), text);
    // Far away when it was looked at first, and here now.
    let error = web.get(&server).await.unwrap_err();
    assert!(matches!(&error, WebError::Forbidden(error) if error.reason == Reason::Loopback), "{error}");
    assert_eq!(names.asked(), ["as.example", "mcp.example", "mcp.example"]);
    assert_eq!(site.seen(), [""; 0]);
}

// B69
#[tokio::test]
async fn the_connection_goes_to_the_address_that_was_judged() {
    let site = Site::of(|_, _| Some("{}".to_owned()));
    let names = Told::new(&[("app.localhost", &[&["127.0.0.1"], &["8.8.8.8"]])]);
    let server = url(&format!("http://app.localhost:{}/", site.port()));
    let web = Web::new(&Network::default().with_names(names.clone()), &server);
    assert_eq!(web.get(&server).await.unwrap().status, 200);
    assert_eq!(names.asked(), ["app.localhost"]);
    let error = web.get(&server).await.unwrap_err();
    assert!(matches!(&error, WebError::Forbidden(error) if error.reason == Reason::Elsewhere), "{error}");
    assert_eq!(names.asked().len(), 2);
}

// B70
#[tokio::test]
async fn redirects_are_followed_a_few_times_within_the_origin() {
    let hops = |path: &str| path.trim_start_matches('/').parse::<usize>().unwrap();
    let site = Site::open(move |_, path| match hops(path) {
        0 => site::json("{}"),
        hops => site::status(302, &[("location", &format!("/{}#part", hops - 1))]),
    });
    let web = near(&site);
    assert_eq!(web.get(&site.url("/5")).await.unwrap().status, 200);
    assert_eq!(site.seen(), ["GET /5", "GET /4", "GET /3", "GET /2", "GET /1", "GET /0"]);
    let error = web.get(&site.url("/6")).await.unwrap_err();
    assert_eq!(error.to_string(), "it redirects more than 5 times");
    // What is sent is sent once.
    let page = web.post(&site.url("/1"), Body::Form(&[("code", Secret::new("c".to_owned()))]), &[]).await;
    assert_eq!(page.unwrap().status, 302);
    assert_eq!(site.seen().last().unwrap(), "POST /1");
}

// B70
#[tokio::test]
async fn a_redirect_elsewhere_is_refused_and_not_asked() {
    let other = Site::of(|_, _| Some("{}".to_owned()));
    for (location, wanted) in [
        (other.url("/?SECRET").to_string(), "`http://127.0.0.1`"),
        ("http://169.254.169.254/latest".to_owned(), "`http://169.254.169.254`"),
        ("//10.0.0.1/".to_owned(), "`http://10.0.0.1`"),
        ("file:///etc/passwd".to_owned(), "`file:`"),
        ("https://[".to_owned(), "nowhere"),
    ] {
        let site = Site::open(move |_, _| site::status(302, &[("location", &location)]));
        let error = near(&site).get(&site.url("/")).await.unwrap_err();
        assert_eq!(error.to_string(), format!("it redirects to {wanted}"));
    }
    let site = Site::open(|_, _| site::status(302, &[]));
    assert_eq!(near(&site).get(&site.url("/")).await.unwrap_err().to_string(), "it redirects to nowhere");
    assert_eq!(other.seen(), [""; 0]);
}

// B70
#[tokio::test]
async fn an_answer_has_a_limit_whether_it_says_its_length_or_not() {
    let large = Site::open(|_, _| site::json(&" ".repeat(2 * OAUTH_BYTES)));
    let endless = Site::start(Then::More, |_, _| b"HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n".to_vec());
    for site in [large, endless] {
        let error = near(&site).get(&site.url("/")).await.unwrap_err();
        assert!(matches!(error, WebError::TooLarge { limit: OAUTH_BYTES }), "{error}");
    }
    let exact = Site::open(|_, _| site::json(&" ".repeat(OAUTH_BYTES)));
    assert_eq!(near(&exact).get(&exact.url("/")).await.unwrap().body.len(), OAUTH_BYTES);
}

// B70
#[tokio::test(start_paused = true)]
async fn an_answer_that_never_ends_ends_in_time() {
    let head = b"HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\n{";
    for bytes in [&b""[..], &b"HTTP/1.1 200 OK\r\n"[..], &head[..]] {
        let site = Site::start(Then::Nothing, move |_, _| bytes.to_vec());
        let error = near(&site).get(&site.url("/")).await.unwrap_err();
        assert!(matches!(error, WebError::Late { after: OAUTH_TIME }), "{error}");
    }
}

// T8
#[tokio::test]
async fn behind_a_proxy_names_are_its_business_and_numbers_are_ours() {
    let proxy = Site::open(|_, _| site::status(502, &[]));
    let address = format!("http://localhost:{}", proxy.port());
    let proxies = ProxySettings { https: Some(Secret::new(address)), ..ProxySettings::default() };
    let network = Network::new(NetworkSettings { proxies, ..NetworkSettings::default() });
    let names = Told::new(&[]);
    let server = url("https://mcp.example/");
    let web = Web::new(&network.with_names(names.clone()), &server);
    let error = web.get(&url("https://as.example/?SECRET")).await.unwrap_err();
    assert!(error.to_string().contains("it does not let us through to the server"), "{error}");
    assert_eq!(proxy.seen(), ["CONNECT as.example:443"]);
    for host in ["10.0.0.1", "169.254.169.254", "localhost", "metadata.google.internal"] {
        let error = web.get(&url(&format!("https://{host}/"))).await.unwrap_err();
        assert!(matches!(error, WebError::Forbidden(_)), "{error}");
    }
    assert_eq!(proxy.seen().len(), 1);
    assert_eq!(names.asked(), [""; 0]);
}

// T8 F32
#[tokio::test]
async fn what_stands_in_the_way_is_said_without_the_query() {
    let closed = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let server = url(&format!("http://{closed}/token?q=SECRET"));
    let error = Web::new(&Network::default(), &server).get(&server).await.unwrap_err();
    assert!(error.to_string().starts_with("it cannot be reached: "), "{error}");
    assert!(!format!("{error} {error:?}").contains("SECRET"), "{error:?}");
    let gone = Site::open(|_, _| Vec::new());
    let error = near(&gone).get(&gone.url("/token?q=SECRET")).await.unwrap_err();
    assert!(error.to_string().starts_with("the connection broke: "), "{error}");
    assert!(!format!("{error} {error:?}").contains("SECRET"), "{error:?}");
}

// T8 B69
#[tokio::test]
async fn before_a_proxy_that_wants_addresses_names_are_judged_here() {
    let proxy = Site::open(|_, _| Vec::new());
    let address = format!("socks5://127.0.0.1:{}", proxy.port());
    let proxies = ProxySettings { all: Some(Secret::new(address)), ..ProxySettings::default() };
    let network = Network::new(NetworkSettings { proxies, ..NetworkSettings::default() });
    let names = Told::new(&[("as.example", &[&["10.0.0.1"]])]);
    let web = Web::new(&network.with_names(names), &url("https://mcp.example/"));
    let error = web.get(&url("https://as.example/")).await.unwrap_err();
    assert!(matches!(&error, WebError::Forbidden(error) if error.reason == Reason::Private), "{error}");
    assert_eq!(proxy.seen(), [""; 0]);
}

// T8
#[tokio::test]
async fn what_came_back_and_what_is_sent_are_not_shown() {
    let token = |_: &str, _: &str| site::json("{\"access_token\": \"SECRET\"}");
    let site = Site::open(token);
    let body = serde_json::json!({"assertion": "SECRET"});
    let page = near(&site).post(&site.url("/token"), Body::Json(&body), &[]).await.unwrap();
    assert_eq!(format!("{page:?} {:?}", Body::Json(&body)), "Page { status: 200, .. } Json");
}

// T8
#[tokio::test]
async fn certificates_of_the_settings_count_for_sign_in_too() {
    let folder = tempfile::tempdir().unwrap();
    let settings =
        NetworkSettings { extra_ca: vec![folder.path().join("ca.pem")], ..NetworkSettings::default() };
    let server = url("https://93.184.216.34/");
    let error = Web::new(&Network::new(settings), &server).get(&server).await.unwrap_err();
    assert!(error.to_string().ends_with("cannot be used: there is no such file"), "{error}");
    assert!(error.hint().unwrap().contains("NODE_EXTRA_CA_CERTS"));
}
