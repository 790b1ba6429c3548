//! What visitors get to see. Nothing of what they brought stands in it (B80).

use aws_lc_rs::digest;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

/// The looks of every page.
const STYLE: &str = ":root{color-scheme:light dark;font:16px/1.5 system-ui,sans-serif}\
body{display:grid;place-items:center;min-height:100vh;margin:0;background:light-dark(#f6f6f4,#1b1b1a)}\
main{max-width:26rem;padding:2.5rem;border-radius:1rem;background:light-dark(#fff,#262625);\
box-shadow:0 1px 12px #0002}\
h1{margin:0 0 .5rem;font-size:1.35rem}p{margin:0;opacity:.75}";

/// What a visitor is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reply {
    /// It brought the answer, and somebody is signed in by it.
    Done,
    /// It brought the answer, and nobody is signed in.
    Trouble,
    /// It brought nothing that is waited for.
    Wrong,
    /// There is nothing there.
    Nowhere,
    /// That is not how one asks.
    Method,
}

impl Reply {
    /// The whole response.
    pub(super) fn to_bytes(self) -> Vec<u8> {
        let body = self.page();
        let style = STANDARD.encode(digest::digest(&digest::SHA256, STYLE.as_bytes()));
        let allowed = if self == Self::Method { "Allow: GET\r\n" } else { "" };
        let head = format!(
            "HTTP/1.1 {}\r\n\
             Content-Type: text/html; charset=utf-8\r\n\
             Content-Length: {}\r\n\
             Content-Security-Policy: default-src 'none'; style-src 'sha256-{style}'; base-uri 'none'; \
             form-action 'none'; frame-ancestors 'none'\r\n\
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
            Self::Done => "200 OK",
            Self::Trouble | Self::Wrong => "400 Bad Request",
            Self::Nowhere => "404 Not Found",
            Self::Method => "405 Method Not Allowed",
        }
    }

    fn page(self) -> String {
        let (title, text) = match self {
            Self::Done => {
                ("Signed in", "You can close this window: mcparley goes on where you started the sign-in.")
            }
            Self::Trouble => ("Sign-in did not work", "Look at the program: it says why."),
            Self::Wrong | Self::Nowhere | Self::Method => {
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
