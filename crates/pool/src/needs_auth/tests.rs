//! Lifetime of cached sign-in needs.

use std::time::Duration;

use mcparley_model::config::{RemoteConfig, ServerConfig, TransportConfig};
use mcparley_model::secret::Secret;
use url::Url;

use super::*;

fn signature(url: &str) -> Signature {
    let url = Secret::new(Url::parse(url).unwrap());
    let remote = RemoteConfig { url, headers: Vec::new(), headers_helper: None, oauth: None };
    Signature::from_config(&ServerConfig::new(TransportConfig::Http(remote)))
}

// A4
#[test]
fn sign_in_need_is_cached_for_a_quarter_of_an_hour() {
    let folder = tempfile::tempdir().unwrap();
    let (noted, server, signature) =
        (NeedsAuthCache::new(folder.path()), ServerName::new("s"), signature("https://h/mcp"));
    let begin = SystemTime::now();
    assert!(!noted.is_recorded(&server, &signature, begin));
    noted.record_need(&server, &signature, begin);
    assert!(noted.is_recorded(&server, &signature, begin + NEEDS_AUTH_TIME - Duration::from_secs(1)));
    assert!(!noted.is_recorded(&server, &signature, begin + NEEDS_AUTH_TIME));
    assert!(!noted.is_recorded(&ServerName::new("t"), &signature, begin));
    noted.clear_need(&server, begin);
    assert!(!noted.is_recorded(&server, &signature, begin));
}

// A4
#[test]
fn server_with_any_name_can_be_cleared() {
    let folder = tempfile::tempdir().unwrap();
    let (noted, signature, now) =
        (NeedsAuthCache::new(folder.path()), signature("https://h/mcp"), SystemTime::now());
    for name in ["a \"quoted\" name", "back\\slash", "ü\u{7}"] {
        let server = ServerName::new(name);
        noted.record_need(&server, &signature, now);
        noted.clear_need(&server, now);
        assert!(!noted.is_recorded(&server, &signature, now), "{name}");
    }
}

// A4 C11
#[test]
fn changed_entry_is_tried_again() {
    let folder = tempfile::tempdir().unwrap();
    let (noted, server, now) = (NeedsAuthCache::new(folder.path()), ServerName::new("s"), SystemTime::now());
    noted.record_need(&server, &signature("https://h/mcp"), now);
    assert!(!noted.is_recorded(&server, &signature("https://h/other"), now));
}

// A4 F86: a clock that was set back does not block a server.
#[test]
fn entries_from_the_future_are_ignored() {
    let folder = tempfile::tempdir().unwrap();
    let (noted, server, signature) =
        (NeedsAuthCache::new(folder.path()), ServerName::new("s"), signature("https://h/mcp"));
    let now = SystemTime::now();
    noted.record_need(&server, &signature, now + Duration::from_secs(86_400));
    assert!(!noted.is_recorded(&server, &signature, now));
}

// A4: concurrent writers do not lose each other's entries, and a broken file is replaced.
#[test]
fn concurrent_writers_keep_each_others_entries() {
    let folder = tempfile::tempdir().unwrap();
    let (noted, signature) = (NeedsAuthCache::new(folder.path()), signature("https://h/mcp"));
    let now = SystemTime::now();
    file::update_file(&folder.path().join(FILE), Creation::PRIVATE, NEEDS_AUTH_BYTES, |_| {
        Ok::<_, std::convert::Infallible>("{ broken".to_owned())
    })
    .unwrap();
    std::thread::scope(|scope| {
        for server in 0..16 {
            let (noted, signature) = (&noted, &signature);
            scope.spawn(move || noted.record_need(&ServerName::new(&format!("s{server}")), signature, now));
        }
    });
    for server in 0..16 {
        assert!(noted.is_recorded(&ServerName::new(&format!("s{server}")), &signature, now), "{server}");
    }
}
