//! What the library makes of real files: every source, every judgement, every refusal.
#![expect(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "tests prepare files, start git, and fail loudly"
)]

mod approval;
mod connectors;
mod damaged;
mod duplicates;
mod managed;
mod own_files;
mod plugins;
mod policy;
mod precedence;
mod repository;
mod sizes;
mod surface;
mod tracked;
mod untrusted;
mod variables;
mod walk_up;
mod world;
