//! The requests that are accepted as the authorization response.

use mcparley_model::limits::CALLBACK_TIME;
use tokio::time::timeout;

use super::*;
use crate::callback::CallbackError;

// B79 H17
#[tokio::test]
async fn only_the_expected_response_counts_and_others_keep_the_listener_open() {
    let mut callback = Callback::bind(None).unwrap();
    let attempt = attempt(&callback);
    let (state, right) = (attempt.state().expose().clone(), hit(&attempt, "right"));
    let port = port(&callback);
    let visitors = async {
        let mut told = Vec::new();
        let requests = [
            format!("GET /callback?code=a&state=wrong&iss={ISSUER}"),
            format!("GET /callback?code=a&iss={ISSUER}"),
            "GET /callback?error=access_denied".to_owned(),
            "GET /callback?error=access_denied&state=wrong".to_owned(),
            "GET /callback".to_owned(),
            format!("GET /callback?code=a&code=b&state={state}&iss={ISSUER}"),
            format!("GET /callback?code=a&error=b&state={state}&iss={ISSUER}"),
            format!("GET /callback?code={}&state={state}", "a".repeat(1_000_000)),
            format!("POST {right}"),
            format!("HEAD {right}"),
            format!("GET /other?code=a&state={state}"),
            format!("GET /callback/?code=a&state={state}"),
            "GET /favicon.ico".to_owned(),
            format!("GET http://127.0.0.1:{port}{right}"),
            "nonsense".to_owned(),
        ];
        for request in requests {
            let request = format!("{request} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\n");
            let reply = exchange(("127.0.0.1", port), request.as_bytes()).await;
            assert!(reply.contains("Nothing is expected here"), "{reply}");
            told.push(status(&reply).to_owned());
        }
        told
    };
    assert!(timeout(Duration::ZERO, callback.wait_for_response(&attempt, SOON)).await.is_err());
    let told = visitors.await;
    let expected = [
        "400", "400", "400", "400", "400", "400", "400", "400", "405", "405", "404", "404", "404", "400",
        "400",
    ];
    assert_eq!(told, expected);
    let browser = browser(&callback, &right);
    let answer = callback.wait_for_response(&attempt, SOON).await.unwrap();
    let second = hit(&attempt, "second");
    assert_eq!(status(&get(&callback, &second).await), "400");
    callback.close_with(SignInEnding::SignedIn).await;
    let reply = browser.await.unwrap();
    assert!(reply.contains("You can close this window"), "{reply}");
    assert_eq!(status(&reply), "200");
    assert_eq!(code(attempt, &answer).expose(), "right");
}

// B79 H03
#[tokio::test]
async fn request_with_foreign_host_or_origin_is_refused() {
    let mut callback = Callback::bind(None).unwrap();
    let attempt = attempt(&callback);
    let (right, port) = (hit(&attempt, "right"), port(&callback));
    let foreign = [
        "Host: evil.example\r\n".to_owned(),
        "Host: 127.0.0.1\r\n".to_owned(),
        format!("Host: 127.0.0.1.evil.example:{port}\r\n"),
        format!("Host: localhost.evil.example:{port}\r\n"),
        format!("Host: 127.0.0.1:{port}\r\nHost: evil.example\r\n"),
        format!("Host : 127.0.0.1:{port}\r\n"),
        String::new(),
        format!("Host: 127.0.0.1:{port}\r\nOrigin: https://evil.example\r\n"),
        format!("Host: 127.0.0.1:{port}\r\nOrigin: http://127.0.0.1:1\r\n"),
        format!("Host: 127.0.0.1:{port}\r\nOrigin: null\r\nOrigin: https://evil.example\r\n"),
    ];
    let visitors = async {
        for headers in foreign {
            let request = format!("GET {right} HTTP/1.1\r\n{headers}\r\n");
            let reply = exchange(("127.0.0.1", port), request.as_bytes()).await;
            assert_eq!(status(&reply), "400", "{headers}");
        }
    };
    assert!(timeout(Duration::ZERO, callback.wait_for_response(&attempt, SOON)).await.is_err());
    visitors.await;
    let own = format!("GET {right} HTTP/1.1\r\nhost: LOCALHOST:{port}\r\norigin: null\r\n\r\n");
    let browser = tokio::spawn(async move { exchange(("127.0.0.1", port), own.as_bytes()).await });
    let answer = callback.wait_for_response(&attempt, SOON).await.unwrap();
    callback.close_with(SignInEnding::SignedIn).await;
    assert_eq!(status(&browser.await.unwrap()), "200");
    assert_eq!(code(attempt, &answer).expose(), "right");
}

// B80 B74
#[tokio::test]
async fn pages_are_constant_and_repeat_no_input() {
    let refusals = [
        format!("error=access_denied&error_description=<script>canary</script>&iss={ISSUER}"),
        "code=canary&iss=https://evil.example/canary".to_owned(),
    ];
    let mut pages = Vec::new();
    for refusal in refusals {
        let mut callback = Callback::bind(None).unwrap();
        let attempt = attempt(&callback);
        let target = format!("/callback?state={}&{refusal}", attempt.state().expose());
        // No caller waits yet: the response is accepted only once one does.
        let early = timeout(Duration::ZERO, callback.wait_for_response(&attempt, SOON)).await;
        assert!(early.is_err());
        let browser = browser(&callback, &target);
        let answer = callback.wait_for_response(&attempt, SOON).await.unwrap();
        let error = attempt.accept_response(&answer).unwrap_err();
        callback.close_with(SignInEnding::Failed).await;
        pages.push(browser.await.unwrap());
        assert_eq!(error.to_string().contains("canary"), refusal.starts_with("error"), "{error}");
    }
    assert_eq!(pages[0], pages[1]);
    let page = &pages[0];
    assert!(page.contains("Sign-in failed") && page.starts_with("HTTP/1.1 400 "), "{page}");
    assert!(!page.contains("canary"), "{page}");
    for header in [
        "Content-Security-Policy: default-src 'none'; style-src 'sha256-",
        "Referrer-Policy: no-referrer\r\n",
        "Cache-Control: no-store\r\n",
        "X-Content-Type-Options: nosniff\r\n",
    ] {
        assert!(page.contains(header), "{header}: {page}");
    }
}

// F100
#[tokio::test]
async fn two_sign_ins_at_once_never_get_each_others_code() {
    let (mut first, mut second) = (Callback::bind(None).unwrap(), Callback::bind(None).unwrap());
    assert_ne!(port(&first), port(&second));
    let (one, two) = (attempt(&first), attempt(&second));
    let (hit_one, hit_two) = (hit(&one, "one"), hit(&two, "two"));
    let doors = [port(&first), port(&second)];
    let visitors = async {
        let visit = |door: u16, target: String| async move {
            let request = format!("GET {target} HTTP/1.1\r\nHost: 127.0.0.1:{door}\r\n\r\n");
            status(&exchange(("127.0.0.1", door), request.as_bytes()).await).to_owned()
        };
        let crossed = [visit(doors[0], hit_two.clone()).await, visit(doors[1], hit_one.clone()).await];
        let straight = [tokio::spawn(visit(doors[0], hit_one)), tokio::spawn(visit(doors[1], hit_two))];
        (crossed, straight)
    };
    let (at_one, at_two, (crossed, [at_first, at_second])) =
        tokio::join!(first.wait_for_response(&one, SOON), second.wait_for_response(&two, SOON), visitors);
    assert_eq!(crossed, ["400", "400"]);
    first.close_with(SignInEnding::SignedIn).await;
    second.close_with(SignInEnding::SignedIn).await;
    assert_eq!([at_first.await.unwrap(), at_second.await.unwrap()], ["200", "200"]);
    assert_eq!(code(one, &at_one.unwrap()).expose(), "one");
    assert_eq!(code(two, &at_two.unwrap()).expose(), "two");
}

// H17
#[tokio::test]
async fn response_that_arrives_between_waits_is_not_lost() {
    let mut callback = Callback::bind(None).unwrap();
    let attempt = attempt(&callback);
    assert!(timeout(Duration::ZERO, callback.wait_for_response(&attempt, SOON)).await.is_err());
    let browser = browser(&callback, &hit(&attempt, "kept"));
    let answer = callback.wait_for_response(&attempt, SOON).await.unwrap();
    assert_eq!(status(&get(&callback, &hit(&attempt, "second")).await), "400");
    callback.close_with(SignInEnding::SignedIn).await;
    assert_eq!(status(&browser.await.unwrap()), "200");
    assert_eq!(code(attempt, &answer).expose(), "kept");
}

// H17
#[tokio::test]
async fn response_before_or_after_the_wait_is_refused() {
    let mut callback = Callback::bind(None).unwrap();
    let attempt = attempt(&callback);
    assert_eq!(status(&get(&callback, &hit(&attempt, "early")).await), "400");
    let limit = Duration::from_millis(1);
    let error = callback.wait_for_response(&attempt, limit).await.unwrap_err();
    assert!(matches!(error, CallbackError::TimedOut { after } if after == limit));
    assert_eq!(status(&get(&callback, &hit(&attempt, "late")).await), "400");
}

// B79
#[tokio::test]
async fn silent_connections_do_not_block_the_browser() {
    let mut callback = Callback::bind(None).unwrap();
    let attempt = attempt(&callback);
    let mut silent = Vec::new();
    for _ in 0..8 {
        silent.push(TcpStream::connect(("127.0.0.1", port(&callback))).await.unwrap());
    }
    assert!(timeout(Duration::ZERO, callback.wait_for_response(&attempt, SOON)).await.is_err());
    let browser = browser(&callback, &hit(&attempt, "right"));
    let answer = callback.wait_for_response(&attempt, SOON).await.unwrap();
    drop(silent);
    let printed = format!("{callback:?} {answer:?}");
    assert!(!printed.contains("right") && !printed.contains(attempt.state().expose()), "{printed}");
    callback.close_with(SignInEnding::SignedIn).await;
    assert_eq!(status(&browser.await.unwrap()), "200");
    assert_eq!(code(attempt, &answer).expose(), "right");
}

// B81
#[tokio::test]
async fn thousand_idle_connections_do_not_keep_the_browser_out() {
    let mut callback = Callback::bind(None).unwrap();
    let attempt = attempt(&callback);
    let (address, mut idle) = (("127.0.0.1", port(&callback)), Vec::new());
    for _ in 0..1_000 {
        idle.push(timeout(SOON, TcpStream::connect(address)).await.unwrap().unwrap());
    }
    let browser = browser(&callback, &hit(&attempt, "right"));
    // Far less than the timeout of an idle connection.
    let answer = callback.wait_for_response(&attempt, CALLBACK_TIME / 2).await.unwrap();
    // Connections during the redemption do not take the page from the browser either.
    for _ in 0..100 {
        idle.push(timeout(SOON, TcpStream::connect(address)).await.unwrap().unwrap());
    }
    callback.close_with(SignInEnding::SignedIn).await;
    assert_eq!(status(&browser.await.unwrap()), "200");
    assert_eq!(code(attempt, &answer).expose(), "right");
    assert_eq!(idle.len(), 1_100);
}

// A1
#[tokio::test]
async fn browser_gets_its_page_only_after_the_sign_in_ended() {
    for (ending, title) in [(SignInEnding::SignedIn, "Signed in"), (SignInEnding::Failed, "Sign-in failed")] {
        let mut callback = Callback::bind(None).unwrap();
        let attempt = attempt(&callback);
        let browser = browser(&callback, &hit(&attempt, "right"));
        callback.wait_for_response(&attempt, SOON).await.unwrap();
        // A later request is answered first: the browser waits until the code is redeemed.
        assert_eq!(status(&get(&callback, &hit(&attempt, "second")).await), "400");
        assert!(!browser.is_finished(), "the code is not redeemed yet");
        callback.close_with(ending).await;
        let page = browser.await.unwrap();
        assert!(page.contains(&format!("<h1>{title}</h1>")), "{page}");
    }
}
