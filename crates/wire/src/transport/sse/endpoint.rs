//! The endpoint for our messages, as the event stream names it.

use url::Url;

use crate::failure::Failure;
use crate::transport::http::body::EventStream;

/// Waits for the event that names the endpoint; earlier events are skipped.
pub(super) async fn wait_for_endpoint(stream: &mut EventStream, base: &Url) -> Result<Url, Failure> {
    while let Some(event) = stream.next_event().await? {
        if event.name == "endpoint" {
            return resolve_endpoint(&String::from_utf8_lossy(&event.data), base);
        }
    }
    Err(Failure::Protocol("its stream ends without naming an endpoint".into()))
}

/// Resolves the endpoint within the origin: our headers, with our credentials, must not go to another one.
fn resolve_endpoint(written: &str, base: &Url) -> Result<Url, Failure> {
    let wrong = || Failure::Protocol("its endpoint is not a valid URL".into());
    let mut place = base.join(written.trim()).map_err(|_| wrong())?;
    if place.origin() != base.origin() {
        let origin = place.origin().ascii_serialization();
        let origin = mcparley_model::text::display_line(&origin);
        return Err(Failure::Protocol(format!("its endpoint is at another origin, `{origin}`").into()));
    }
    // A server that writes the whole URL does not include our login.
    place.set_username(base.username()).map_err(|()| wrong())?;
    place.set_password(base.password()).map_err(|()| wrong())?;
    Ok(place)
}

#[cfg(test)]
mod tests {
    use super::*;

    // F58
    #[test]
    fn only_the_same_origin_gets_our_messages() {
        let base = Url::parse("https://name:pass@example.com/a/sse?key=1").unwrap();
        for (written, place_) in [
            ("/messages?s=1", Some("https://name:pass@example.com/messages?s=1")),
            ("messages", Some("https://name:pass@example.com/a/messages")),
            (" ?s=1 ", Some("https://name:pass@example.com/a/sse?s=1")),
            ("https://example.com:443/m", Some("https://name:pass@example.com/m")),
            ("https://evil@example.com/m", Some("https://name:pass@example.com/m")),
            ("http://example.com/m", None),
            ("https://example.com:444/m", None),
            ("//evil.com/m", None),
            ("https://example.com.evil.com/m", None),
            ("file:///etc/passwd", None),
            ("javascript:alert(1)", None),
            ("https://", None),
        ] {
            assert_eq!(
                resolve_endpoint(written, &base).ok().map(String::from).as_deref(),
                place_,
                "{written}"
            );
        }
    }
}
