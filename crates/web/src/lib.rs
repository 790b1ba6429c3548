//! The web page of the servers: live state, forms for tools, open questions, the log of calls, logs, and
//! approvals.
//!
//! The page is three files in `assets/`, which are part of the program. [`UiPage`] answers the requests of a
//! browser; the doors of `mcparley-door` check host, origin and token first, and `mcparley ui` and
//! `mcparley serve --ui` connect the two.
//!
//! | module | content |
//! |---|---|
//! | [`UiPage`] | the handler of all requests below `/ui/`: route, then session, then answer |
//! | [`LocalPage`] | the page on a port of this machine, as `mcparley ui` serves it |
//! | `page_state` | the state that all requests share |
//! | `session` | the cookie that a browser gets for the token, and the header that every request needs |
//! | `response` | responses with the security headers of the page |
//! | `asset` | the three files |
//! | `events` | the event stream of a page: every section that changes, as it changes |
//! | `log_stream` | the event stream of a server's log |
//! | `visitors` | the number of connected pages, and the end of `mcparley ui` without any |
//! | `api` | the sections and actions: servers, tools, calls, questions, approvals |

mod api;
mod asset;
mod events;
mod local_page;
mod log_stream;
mod page;
mod page_state;
mod response;
mod session;
mod visitors;

pub use local_page::{LocalPage, LocalPageError};
pub use page::UiPage;
pub use page_state::PageOptions;
