//! A browser without a person: it follows redirects, and so ends where the sign-in begins.

use mcparley::BoxedFuture;
use mcparley::auth::BrowserPage;
use mcparley::call::PageOpener;
use mcparley::model::name::ServerName;

/// Follows redirects.
#[derive(Default)]
pub(crate) struct Browser(reqwest::Client);

impl PageOpener for Browser {
    fn open_page<'p>(&'p self, _server: &'p ServerName, page: &'p BrowserPage) -> BoxedFuture<'p, bool> {
        Box::pin(async move {
            match self.0.get(page.url().clone()).send().await {
                Ok(_) => true,
                Err(error) => {
                    eprintln!("browser: {}", error.without_url());
                    false
                }
            }
        })
    }
}
