//! The programs whose servers can be imported, and where they keep them (C16).

pub use app::App;
pub use places::{ImportPlaces, Os};

mod app;
mod places;

#[cfg(test)]
mod tests;
