//! What a person can do about an error.

/// An error that knows a way out.
///
/// The message says what failed, the source says why; the hint says what to do, and is kept apart so
/// that messages stay short and hints can be shown once.
pub trait Explain: std::error::Error {
    /// What to do about it, when there is something to do.
    fn hint(&self) -> Option<String>;
}
