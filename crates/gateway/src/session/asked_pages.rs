//! The pages that a client was asked to visit, by their elicitation ids.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

use mcparley::model::name::ServerName;

/// The maximum number of pages that are remembered for one client; the oldest are forgotten first.
const PAGES_MOST: usize = 256;

/// The pages that a client was asked to visit, the newest last.
#[derive(Debug, Default)]
pub(crate) struct AskedPages(Mutex<VecDeque<(ServerName, String)>>);

impl AskedPages {
    /// Remembers a page.
    pub(crate) fn remember_page(&self, server: &ServerName, id: &str) {
        let mut pages = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if pages.len() >= PAGES_MOST {
            pages.pop_front();
        }
        pages.push_back((server.clone(), id.to_owned()));
    }

    /// Whether the client was asked to visit a page.
    pub(crate) fn contains(&self, server: &ServerName, id: &str) -> bool {
        let pages = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        pages.iter().any(|(known, page)| known == server && page == id)
    }
}
