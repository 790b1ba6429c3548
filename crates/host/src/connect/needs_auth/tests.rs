//! How long it is remembered that a server wants a sign-in.

use std::time::Duration;

use mcparley_model::config::{Remote, ServerConfig, Transport};
use mcparley_model::secret::Secret;
use url::Url;

use super::*;

fn signature(url: &str) -> Signature {
    let url = Secret::new(Url::parse(url).unwrap());
    let remote = Remote { url, headers: Vec::new(), headers_helper: None, oauth: None };
    Signature::of(&ServerConfig::new(Transport::Http(remote)))
}

// A4
#[test]
fn a_server_is_remembered_for_a_quarter_of_an_hour_and_no_longer() {
    let folder = tempfile::tempdir().unwrap();
    let (noted, server, signature) =
        (NeedsAuth::new(folder.path()), ServerName::new("s"), signature("https://h/mcp"));
    let begin = SystemTime::now();
    assert!(!noted.is_noted(&server, &signature, begin));
    noted.note(&server, &signature, begin);
    assert!(noted.is_noted(&server, &signature, begin + NEEDS_AUTH_TIME - Duration::from_secs(1)));
    assert!(!noted.is_noted(&server, &signature, begin + NEEDS_AUTH_TIME));
    assert!(!noted.is_noted(&ServerName::new("t"), &signature, begin));
    noted.clear(&server, begin);
    assert!(!noted.is_noted(&server, &signature, begin));
}

// A4
#[test]
fn a_server_with_any_name_can_be_cleared() {
    let folder = tempfile::tempdir().unwrap();
    let (noted, signature, now) =
        (NeedsAuth::new(folder.path()), signature("https://h/mcp"), SystemTime::now());
    for name in ["a \"quoted\" name", "back\\slash", "ü\u{7}"] {
        let server = ServerName::new(name);
        noted.note(&server, &signature, now);
        noted.clear(&server, now);
        assert!(!noted.is_noted(&server, &signature, now), "{name}");
    }
}

// A4 C11
#[test]
fn a_changed_entry_is_asked_again() {
    let folder = tempfile::tempdir().unwrap();
    let (noted, server, now) = (NeedsAuth::new(folder.path()), ServerName::new("s"), SystemTime::now());
    noted.note(&server, &signature("https://h/mcp"), now);
    assert!(!noted.is_noted(&server, &signature("https://h/other"), now));
}

// A4 F86: a clock that was set back makes nobody wait.
#[test]
fn what_was_noted_in_the_future_does_not_count() {
    let folder = tempfile::tempdir().unwrap();
    let (noted, server, signature) =
        (NeedsAuth::new(folder.path()), ServerName::new("s"), signature("https://h/mcp"));
    let now = SystemTime::now();
    noted.note(&server, &signature, now + Duration::from_secs(86_400));
    assert!(!noted.is_noted(&server, &signature, now));
}

// A4: writers of several threads lose nothing of each other, and a broken file is replaced.
#[test]
fn many_writers_keep_what_the_others_noted() {
    let folder = tempfile::tempdir().unwrap();
    let (noted, signature) = (NeedsAuth::new(folder.path()), signature("https://h/mcp"));
    let now = SystemTime::now();
    file::update(&folder.path().join(FILE), Creation::PRIVATE, NEEDS_AUTH_BYTES, |_| {
        Ok::<_, std::convert::Infallible>("{ broken".to_owned())
    })
    .unwrap();
    std::thread::scope(|scope| {
        for server in 0..16 {
            let (noted, signature) = (&noted, &signature);
            scope.spawn(move || noted.note(&ServerName::new(&format!("s{server}")), signature, now));
        }
    });
    for server in 0..16 {
        assert!(noted.is_noted(&ServerName::new(&format!("s{server}")), &signature, now), "{server}");
    }
}
