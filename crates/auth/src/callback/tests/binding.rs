//! Binding the callback port, exclusively.

use std::net::{Ipv4Addr, Ipv6Addr, TcpListener as StdListener};

use mcparley_model::explain::Explain as _;

use super::*;
use crate::callback::CallbackError;

fn has_ipv6() -> bool {
    StdListener::bind((Ipv6Addr::LOCALHOST, 0)).is_ok()
}

// A1 H18
#[tokio::test]
async fn free_port_is_bound_on_both_addresses_until_drop() {
    let callback = Callback::bind(None).unwrap();
    let port = port(&callback);
    assert_eq!(callback.redirect_url().as_str(), format!("http://127.0.0.1:{port}/callback"));
    assert!(StdListener::bind((Ipv4Addr::LOCALHOST, port)).is_err());
    assert!(StdListener::bind((Ipv4Addr::UNSPECIFIED, port)).is_err());
    if has_ipv6() {
        assert!(StdListener::bind((Ipv6Addr::LOCALHOST, port)).is_err());
        let request = format!("GET / HTTP/1.1\r\nHost: [::1]:{port}\r\n\r\n");
        assert_eq!(status(&exchange(("::1", port), request.as_bytes()).await), "404");
    }
    drop(callback);
    let deadline = tokio::time::Instant::now() + SOON;
    while StdListener::bind((Ipv4Addr::LOCALHOST, port)).is_err() {
        assert!(tokio::time::Instant::now() < deadline, "the port is still held");
        tokio::task::yield_now().await;
    }
}

// F100 H18
#[tokio::test]
async fn fixed_port_in_use_is_an_error_and_never_shared() {
    let first = Callback::bind(None).unwrap();
    let port = port(&first);
    let error = Callback::bind(Some(port)).unwrap_err();
    assert_eq!(error.to_string(), format!("port {port} for the browser's redirect is in use"));
    assert!(error.hint().unwrap().contains("oauth.callbackPort"));
    let error = Callback::bind_to(first.redirect_url()).unwrap_err();
    assert!(matches!(error, CallbackError::Taken { .. }));
}

// F100 H18
#[tokio::test]
async fn port_in_use_on_one_address_counts_as_in_use() {
    let four = StdListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let error = Callback::bind(Some(four.local_addr().unwrap().port())).unwrap_err();
    assert!(matches!(error, CallbackError::Taken { .. }));
    if has_ipv6() {
        let six = StdListener::bind((Ipv6Addr::LOCALHOST, 0)).unwrap();
        let error = Callback::bind(Some(six.local_addr().unwrap().port())).unwrap_err();
        assert!(matches!(error, CallbackError::Taken { .. }));
    }
}

// A1
#[tokio::test]
async fn fixed_port_uses_localhost_and_can_be_bound_again_at_once() {
    let free = Callback::bind(None).unwrap();
    let port = port(&free);
    // A connection that we closed first keeps the port in `TIME_WAIT`.
    assert_eq!(status(&get(&free, "/").await), "404");
    drop(free);
    let deadline = tokio::time::Instant::now() + SOON;
    let fixed = loop {
        match Callback::bind(Some(port)) {
            Ok(fixed) => break fixed,
            Err(error) => assert!(tokio::time::Instant::now() < deadline, "{error}"),
        }
        tokio::task::yield_now().await;
    };
    assert_eq!(fixed.redirect_url().as_str(), format!("http://localhost:{port}/callback"));
}

// A1
#[tokio::test]
async fn registered_redirect_is_bound_only_on_this_machine() {
    let free = Callback::bind(None).unwrap();
    let port = port(&free);
    drop(free);
    let registered = Url::parse(&format!("http://127.0.0.1:{port}/oauth/back?x=1")).unwrap();
    let deadline = tokio::time::Instant::now() + SOON;
    let callback = loop {
        match Callback::bind_to(&registered) {
            Ok(callback) => break callback,
            Err(error) => assert!(tokio::time::Instant::now() < deadline, "{error}"),
        }
        tokio::task::yield_now().await;
    };
    assert_eq!(callback.redirect_url(), &registered);
    assert_eq!(status(&get(&callback, "/callback").await), "404");
    assert_eq!(status(&get(&callback, "/oauth/back").await), "400");
    for elsewhere in [
        "https://127.0.0.1:1/callback",
        "http://example.com/callback",
        "http://app.localhost:1/x",
        "custom:/back",
    ] {
        let error = Callback::bind_to(&Url::parse(elsewhere).unwrap()).unwrap_err();
        assert!(matches!(error, CallbackError::NotLoopback), "{elsewhere}: {error}");
    }
}
