//! Decides whether a redirect is followed: within the origin, and only if the request stays what it is.

use reqwest::StatusCode;
use url::Url;

use crate::failure::Failure;

/// Where a redirect from `from` leads, if it may be followed.
pub(super) fn place(from: &Url, status: StatusCode, location: Option<&str>) -> Result<Url, Failure> {
    let place = location.and_then(|location| from.join(location).ok());
    let place = place.ok_or_else(|| Failure::Protocol("it redirects to nowhere".into()))?;
    // Only these two keep the method and the body.
    let keeps = matches!(status, StatusCode::TEMPORARY_REDIRECT | StatusCode::PERMANENT_REDIRECT);
    // The origin only: the rest of a foreign URL may hold anything.
    if place.origin() != from.origin() || login(&place) != login(from) || !keeps {
        let origin = place.origin().ascii_serialization();
        let origin = mcparley_model::text::display(&origin);
        let text = format!("it redirects to `{origin}` with status {}", status.as_u16());
        return Err(Failure::Protocol(text.into()));
    }
    Ok(place)
}

fn login(url: &Url) -> (&str, Option<&str>) {
    (url.username(), url.password())
}

#[cfg(test)]
mod tests {
    use super::place;
    use reqwest::StatusCode;
    use url::Url;

    // F54
    #[test]
    fn only_the_same_origin_is_followed_and_only_with_the_same_method() {
        let from = Url::parse("https://example.com/mcp?x=1").unwrap();
        let followed = |code: u16, location: Option<&str>| {
            let place = place(&from, StatusCode::from_u16(code).unwrap(), location);
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
