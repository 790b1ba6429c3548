//! Tests of the web page against its real server on loopback, in raw bytes.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::disallowed_methods,
    reason = "tests prepare files, serve the page beside them, and fail loudly"
)]

mod browser;
mod calls;
mod events;
mod safety;
mod trust;
