//! Finds the built programs that tests start, next to the running test.

use std::path::{Path, PathBuf};

/// The path of the built `mcparley-testkit` program.
///
/// # Panics
///
/// If the program has not been built.
pub fn testkit_path() -> PathBuf {
    program_path("mcparley-testkit")
}

/// The path of the built program of the package `name`; package and program share the name.
///
/// # Panics
///
/// If the program has not been built.
pub fn program_path(name: &str) -> PathBuf {
    find_built_file(name, &format!("build it with `cargo build -p {name}`"))
}

/// The path of a built example of the crate under test.
///
/// # Panics
///
/// If the example has not been built.
pub fn example_path(name: &str) -> PathBuf {
    let path = Path::new("examples").join(name);
    find_built_file(&path, "build it with `cargo build --examples`")
}

#[expect(clippy::panic, reason = "a test without its programs cannot say anything else")]
fn find_built_file(path: impl AsRef<Path>, advice: &str) -> PathBuf {
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
