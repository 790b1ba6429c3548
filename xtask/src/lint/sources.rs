//! The production sources of each crate: without tests, benches and examples.

use std::collections::BTreeMap;
use std::path::Path;

use crate::error::ChoreError;
use crate::lint::tree;

/// Folders and files of these names hold tests.
const TEST_NAMES: [&str; 6] = ["test", "tests", "benches", "examples", "fuzz", "explore"];
/// Tests at the end of a file begin here.
const TEST_MODULE: &str = "#[cfg(test)]\nmod tests {";

/// The path of a module in its crate: `["call", "retry"]`.
pub(in crate::lint) type ModulePath = Vec<String>;

/// The production sources of one crate.
#[derive(Debug, Default)]
pub(in crate::lint) struct CrateSources {
    /// The crate's folder, below the root of the workspace.
    pub(in crate::lint) folder: String,
    /// The text of `lib.rs` and `main.rs`.
    pub(in crate::lint) root: String,
    /// The text of every other file, by its module.
    pub(in crate::lint) modules: BTreeMap<ModulePath, String>,
}

impl CrateSources {
    /// Adds a file by its path below `src`.
    pub(in crate::lint) fn add_file(&mut self, path: &str, text: &str) {
        let text = text.find(TEST_MODULE).map_or(text, |tests| &text[..tests]);
        let path = path.strip_suffix(".rs").unwrap_or(path);
        match path {
            "lib" | "main" => self.root.push_str(text),
            module => {
                self.modules.insert(module.split('/').map(str::to_owned).collect(), text.to_owned());
            }
        }
    }

    /// The module of each file and its text; the root is `lib`.
    pub(in crate::lint) fn file_texts(&self) -> impl Iterator<Item = (String, &str)> {
        let modules = self.modules.iter().map(|(module, text)| (module.join("/"), text.as_str()));
        std::iter::once(("lib".to_owned(), self.root.as_str())).chain(modules)
    }

    /// The number of lines of all files.
    pub(in crate::lint) fn line_count(&self) -> usize {
        self.root.lines().count() + self.modules.values().map(|text| text.lines().count()).sum::<usize>()
    }
}

/// Reads every crate below `root/crates`, in the order of their names.
pub(in crate::lint) fn read_crates(root: &Path) -> Result<Vec<CrateSources>, ChoreError> {
    let mut crates: BTreeMap<String, CrateSources> = BTreeMap::new();
    for path in tree::find_sources(&root.join("crates"))? {
        let below = path.strip_prefix(root).unwrap_or(&path).to_string_lossy().into_owned();
        let Some((folder, module)) = below.split_once("/src/") else { continue };
        if is_test(module) {
            continue;
        }
        let text = std::fs::read_to_string(&path).map_err(ChoreError::file_error(&path))?;
        let sources = crates.entry(folder.to_owned()).or_default();
        folder.clone_into(&mut sources.folder);
        sources.add_file(module, &text);
    }
    Ok(crates.into_values().collect())
}

fn is_test(path: &str) -> bool {
    let path = path.strip_suffix(".rs").unwrap_or(path);
    path.ends_with("_test")
        || path.ends_with("_tests")
        || path.split('/').any(|part| TEST_NAMES.contains(&part))
}

/// The trees of the `pub use` statements of a `lib.rs`: `call::{Call, Person}`.
pub(in crate::lint) fn find_exports(lib: &str) -> impl Iterator<Item = &str> {
    let starts = lib.match_indices("pub use ").filter(|(at, _)| *at == 0 || lib[..*at].ends_with('\n'));
    starts.filter_map(|(at, start)| lib[at + start.len()..].split_once(';').map(|(tree, _)| tree))
}

/// The names that a tree of a `pub use` brings in.
pub(in crate::lint) fn exported_names(tree: &str) -> impl Iterator<Item = &str> {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let ends = tree.split([',', '}']).map(str::trim_end);
    ends.map(move |end| &end[end.trim_end_matches(is_word).len()..]).filter(|name| !name.is_empty())
}
