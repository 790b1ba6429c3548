//! A browser without a person: it follows redirects, and so ends where the sign-in begins.

use mcparley::model::name::ServerName;
use mcparley::{Boxed, Page, PageOpener};

/// Follows redirects.
#[derive(Default)]
pub(crate) struct Browser(reqwest::Client);

impl PageOpener for Browser {
    fn open<'p>(&'p self, _server: &'p ServerName, page: &'p Page) -> Boxed<'p, bool> {
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
