//! Liars and mocks for tests: hostile processes today, scripted servers with the first connection.
//!
//! It depends on no other crate of ours and speaks raw bytes, so that it can lie and cannot share our bugs.
