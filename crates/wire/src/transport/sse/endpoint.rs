//! The endpoint that takes our messages, as the stream names it.

use url::Url;

use crate::failure::Failure;
use crate::transport::http::body::Stream;

/// Waits for the event that names it; what comes before is not for us.
pub(super) async fn named(stream: &mut Stream, base: &Url) -> Result<Url, Failure> {
    while let Some(event) = stream.event().await? {
        if event.name == "endpoint" {
            return place(&String::from_utf8_lossy(&event.data), base);
        }
    }
    Err(Failure::Protocol("its stream ends without naming an endpoint".into()))
}

/// Within the origin: our headers, and with them our credentials, go where the user sent us (F58).
fn place(written: &str, base: &Url) -> Result<Url, Failure> {
    let wrong = || Failure::Protocol("the endpoint it names is no URL".into());
    let mut place = base.join(written.trim()).map_err(|_| wrong())?;
    if place.origin() != base.origin() {
        let origin = place.origin().ascii_serialization();
        let origin = mcparley_model::text::display(&origin);
        return Err(Failure::Protocol(format!("it wants our messages at another origin, `{origin}`").into()));
    }
    // Whoever writes the whole URL does not write our login into it.
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
            assert_eq!(place(written, &base).ok().map(String::from).as_deref(), place_, "{written}");
        }
    }
}
