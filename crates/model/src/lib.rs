//! What things are and what is allowed: pure, without I/O, clock, environment or logging.

pub mod approval;
pub mod config;
pub mod document;
pub mod edit;
pub mod expand;
pub mod explain;
pub mod glob;
pub mod import;
pub mod limits;
pub mod name;
pub mod permission;
pub mod plan;
pub mod policy;
pub mod scope;
pub mod secret;
pub mod settings;
pub mod signature;
pub mod text;
