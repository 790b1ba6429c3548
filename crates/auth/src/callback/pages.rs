//! The pages that a callback listener replies with. None repeats any part of the request, which an attacker
//! may have written.

use aws_lc_rs::digest;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

/// The style of every page.
const STYLE: &str = ":root{color-scheme:light dark;font:16px/1.5 system-ui,sans-serif}\
body{display:grid;place-items:center;min-height:100vh;margin:0;background:light-dark(#f6f6f4,#1b1b1a)}\
main{max-width:26rem;padding:2.5rem;border-radius:1rem;background:light-dark(#fff,#262625);\
box-shadow:0 1px 12px #0002}\
h1{margin:0 0 .5rem;font-size:1.35rem}p{margin:0;opacity:.75}";

/// The page for a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CallbackPage {
    /// The request brought the response, and the sign-in succeeded.
    SignedIn,
    /// The request brought the response, and the sign-in failed.
    Failed,
    /// The request brought no expected response.
    Unexpected,
    /// The gateway that began the sign-in cannot be reached.
    Lost,
    /// There is no such path.
    NotFound,
    /// The method is not allowed.
    MethodNotAllowed,
}

impl CallbackPage {
    /// The whole HTTP response.
    pub(super) fn to_bytes(self) -> Vec<u8> {
        let body = self.to_html();
        let policy = page_policy();
        let allowed = if self == Self::MethodNotAllowed { "Allow: GET\r\n" } else { "" };
        let head = format!(
            "HTTP/1.1 {}\r\n\
             Content-Type: text/html; charset=utf-8\r\n\
             Content-Length: {}\r\n\
             Content-Security-Policy: {policy}\r\n\
             Referrer-Policy: no-referrer\r\n\
             X-Content-Type-Options: nosniff\r\n\
             Cache-Control: no-store\r\n\
             {allowed}Connection: close\r\n\r\n",
            self.status(),
            body.len()
        );
        [head, body].concat().into_bytes()
    }

    fn status(self) -> &'static str {
        match self {
            Self::SignedIn => "200 OK",
            Self::Failed | Self::Unexpected => "400 Bad Request",
            Self::Lost => "503 Service Unavailable",
            Self::NotFound => "404 Not Found",
            Self::MethodNotAllowed => "405 Method Not Allowed",
        }
    }

    /// The HTTP status code.
    pub(super) fn status_code(self) -> u16 {
        match self {
            Self::SignedIn => 200,
            Self::Failed | Self::Unexpected => 400,
            Self::Lost => 503,
            Self::NotFound => 404,
            Self::MethodNotAllowed => 405,
        }
    }

    /// The page.
    pub(super) fn to_html(self) -> String {
        let (title, text) = match self {
            Self::SignedIn => {
                ("Signed in", "You can close this window: go back to where you started the sign-in.")
            }
            Self::Failed => ("Sign-in failed", "See the program for the reason."),
            Self::Lost => (
                "The sign-in cannot go on",
                "The gateway that began it cannot be reached. Start the sign-in again from the program.",
            ),
            Self::Unexpected | Self::NotFound | Self::MethodNotAllowed => {
                ("Nothing is expected here", "If you were signing in, start again from the program.")
            }
        };
        format!(
            "<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\">\
             <meta name=\"viewport\" content=\"width=device-width\"><title>{title}</title><style>{STYLE}</style></head>\
             <body><main><h1>{title}</h1><p>{text}</p></main></body></html>\n"
        )
    }
}

/// The content security policy of every page.
pub(super) fn page_policy() -> String {
    let style = STANDARD.encode(digest::digest(&digest::SHA256, STYLE.as_bytes()));
    format!(
        "default-src 'none'; style-src 'sha256-{style}'; base-uri 'none'; form-action 'none'; \
         frame-ancestors 'none'"
    )
}
