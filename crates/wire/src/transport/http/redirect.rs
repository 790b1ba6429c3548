//! Decides whether a redirect is followed: only within the origin, and only if it keeps method and body.

use reqwest::StatusCode;
use url::Url;

use crate::failure::Failure;

/// The target of a redirect from `from`, if it may be followed.
pub(super) fn redirect_target(
    from: &Url,
    status: StatusCode,
    location: Option<&str>,
) -> Result<Url, Failure> {
    let place = location.and_then(|location| from.join(location).ok());
    let place = place.ok_or_else(|| Failure::Protocol("it redirects to nowhere".into()))?;
    // Only these two statuses keep the method and the body.
    let keeps = matches!(status, StatusCode::TEMPORARY_REDIRECT | StatusCode::PERMANENT_REDIRECT);
    // Shows the origin only: the rest of a foreign URL may be secret or malicious.
    if place.origin() != from.origin() || url_login(&place) != url_login(from) || !keeps {
        let origin = place.origin().ascii_serialization();
        let origin = mcparley_model::text::display_line(&origin);
        let text = format!("it redirects to `{origin}` with status {}", status.as_u16());
        return Err(Failure::Protocol(text.into()));
    }
    Ok(place)
}

fn url_login(url: &Url) -> (&str, Option<&str>) {
    (url.username(), url.password())
}

#[cfg(test)]
mod tests {
    use super::redirect_target;
    use reqwest::StatusCode;
    use url::Url;

    // F54
    #[test]
    fn redirect_is_followed_only_within_the_origin_and_with_the_same_method() {
        let from = Url::parse("https://example.com/mcp?x=1").unwrap();
        let followed = |code: u16, location: Option<&str>| {
            let place = redirect_target(&from, StatusCode::from_u16(code).unwrap(), location);
            place.ok().map(String::from)
        };
        let moved = Some("https://example.com/moved".to_owned());
        assert_eq!(followed(307, Some("/moved")), moved);
        assert_eq!(followed(308, Some("https://example.com:443/moved")), moved);
        for code in [300, 301, 302, 303] {
            assert_eq!(followed(code, Some("/moved")), None);
        }
        for location in [
            "http://example.com/moved",
            "https://example.com:444/moved",
            "https://sub.example.com/",
            "//other.com/",
            "https://user@example.com/moved",
            "file:///etc/passwd",
            "http://",
        ] {
            assert_eq!(followed(307, Some(location)), None, "{location}");
        }
        assert_eq!(followed(307, None), None);
    }
}
