//! Finds the programs that tests start, beside the running test.

use std::path::{Path, PathBuf};

/// The built `mcparley-testkit` program.
///
/// # Panics
///
/// If it has not been built.
pub fn binary() -> PathBuf {
    program("mcparley-testkit")
}

/// A built program of the package `name`, which calls it by its own name.
///
/// # Panics
///
/// If it has not been built.
pub fn program(name: &str) -> PathBuf {
    built(name, &format!("build it with `cargo build -p {name}`"))
}

/// A built example of the crate under test.
///
/// # Panics
///
/// If it has not been built.
pub fn example(name: &str) -> PathBuf {
    let path = Path::new("examples").join(name);
    built(&path, "build it with `cargo build --examples`")
}

#[expect(clippy::panic, reason = "a test without its programs cannot say anything else")]
fn built(path: impl AsRef<Path>, advice: &str) -> PathBuf {
    let path = path.as_ref();
    let running = match std::env::current_exe() {
        Ok(running) => running,
        Err(error) => panic!("the running test has no path: {error}"),
    };
    // Tests run in `<profile>/deps`, examples in `<profile>/examples`.
    let found = running.ancestors().skip(1).take(3).map(|folder| folder.join(path));
    match found.into_iter().find(|file| file.is_file()) {
        Some(file) => file,
        None => panic!("`{}` is not built: {advice}", path.display()),
    }
}
