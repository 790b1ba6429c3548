//! The npm package `mcparley`, which carries the program itself.
//!
//! npm links the program directly: there is no script that runs at installation, and no JavaScript in front
//! of the program.

use std::path::PathBuf;

use serde_json::{Value, json};

use super::{Release, TEXTS, copy_file, write_file};
use crate::error::ChoreError;
use crate::step::ChoreStep;

/// Packs the package and returns the path of its archive.
pub(super) fn pack_package(release: &Release) -> Result<PathBuf, ChoreError> {
    let folder = release.folder.join("npm");
    copy_file(&release.program, &folder.join("bin/mcparley"))?;
    for text in TEXTS {
        copy_file(&release.source.join(text), &folder.join(text))?;
    }
    let manifest = package_manifest(is_static(release));
    write_file(&folder.join("package.json"), &format!("{manifest:#}\n"))?;
    let (folder, destination) = (folder.to_string_lossy(), release.folder.to_string_lossy());
    let arguments =
        ["pack", "--silent", "--ignore-scripts", "--offline", "--pack-destination", &destination, &folder];
    let cache = release.folder.join("npm-cache");
    ChoreStep::program("npm".as_ref(), &arguments)
        .with_env("npm_config_cache", &cache.to_string_lossy())
        .run()?;
    Ok(release.folder.join(format!("mcparley-{}.tgz", env!("CARGO_PKG_VERSION"))))
}

/// Whether the program brings its own C library.
fn is_static(release: &Release) -> bool {
    release.name.ends_with("-musl")
}

fn package_manifest(is_static: bool) -> Value {
    let cpu = if std::env::consts::ARCH == "aarch64" { "arm64" } else { "x64" };
    let mut manifest = json!({
        "name": "mcparley",
        "version": env!("CARGO_PKG_VERSION"),
        "description": "Connect an agent to every MCP server its user has",
        "license": "MIT OR Apache-2.0",
        "repository": { "type": "git", "url": "git+https://github.com/mcparley/mcparley.git" },
        "keywords": ["mcp", "model-context-protocol", "gateway", "cli"],
        "bin": { "mcparley": "bin/mcparley" },
        "files": ["bin"],
        "os": ["linux"],
        "cpu": [cpu],
    });
    if let (false, Some(fields)) = (is_static, manifest.as_object_mut()) {
        fields.insert("libc".to_owned(), json!(["glibc"]));
    }
    manifest
}
