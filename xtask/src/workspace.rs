//! The root of the workspace, and the cargo that builds it.

use std::ffi::OsString;
use std::path::Path;

/// The workspace's root.
pub(crate) fn workspace_root() -> &'static Path {
    let xtask = Path::new(env!("CARGO_MANIFEST_DIR"));
    xtask.parent().unwrap_or(xtask)
}

/// The cargo that runs this chore, so that its steps use the same toolchain.
pub(crate) fn cargo_program() -> OsString {
    std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into())
}
