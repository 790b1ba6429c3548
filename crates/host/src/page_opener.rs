//! Opens sign-in pages for the user.

use mcparley_model::name::ServerName;
use mcparley_pool::auth::BrowserPage;
use mcparley_wire::peer::BoxedFuture;

/// Shows a page to the user: in a browser, or as an address in a terminal.
pub trait PageOpener: Send + Sync + 'static {
    /// Opens the page for the sign-in to `server`; returns whether it was shown. Returns at once, without
    /// waiting for the user's actions there.
    fn open_page<'p>(&'p self, server: &'p ServerName, page: &'p BrowserPage) -> BoxedFuture<'p, bool>;
}

/// The safe default: opens no page. The caller is given the address instead.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoPageOpener;

impl PageOpener for NoPageOpener {
    fn open_page<'p>(&'p self, _server: &'p ServerName, _page: &'p BrowserPage) -> BoxedFuture<'p, bool> {
        Box::pin(std::future::ready(false))
    }
}
