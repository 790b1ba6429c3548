//! Errors with a hint for the user.

/// An error that can suggest a fix.
///
/// The message says which operation failed and the source says why; the hint says how to fix it. It is
/// separate so that messages stay short and a hint can be shown once.
pub trait Explain: std::error::Error {
    /// The suggested fix, if there is one.
    fn hint(&self) -> Option<String>;
}
