//! JSON text that is passed on as bytes.
//!
//! | type | content |
//! |---|---|
//! | [`RawJson`] | one value as text: the place to start |
//! | [`ResultScan`] | the notes of the pass that validates a result at its arrival |
//! | [`is_plain_json`] | whether a text needs no careful parser |

mod plain;
mod raw;
mod scan;

pub use plain::is_plain_json;
pub use raw::{RawJson, UnexpectedShape};
pub use scan::{BlockKinds, ResultScan};
