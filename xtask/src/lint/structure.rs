//! Measures the structure of each crate, and fails when it gets worse: its size, its largest cycle of modules, and the
//! names at the root of the crate that other programs embed.

mod module_graph;
mod references;

use std::fmt;
use std::path::Path;

use crate::error::ChoreError;
use crate::lint::sources::{self, CrateSources};
use module_graph::ModuleGraph;

/// A larger crate holds more than one responsibility.
const MAX_CRATE_LINES: usize = 15_000;
/// The largest share of a crate, in percent of its lines, whose modules may reach each other. Beyond it the crate cannot
/// be read module by module.
const MAX_CYCLE_PERCENT: usize = 20;
/// The crate that other programs embed.
const EMBEDDED_CRATE: &str = "crates/host";
/// Names at the root of [`EMBEDDED_CRATE`]: as many as a newcomer can take in at once.
const MAX_ROOT_NAMES: usize = 40;

/// A crate above one of its limits.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct StructureFinding {
    /// The crate's folder, below the root.
    folder: String,
    excess: StructureExcess,
}

/// The limit that a crate exceeds.
#[derive(Debug, PartialEq, Eq)]
enum StructureExcess {
    Lines { lines: usize },
    Cycle { percent: usize, modules: Vec<String> },
    RootNames { names: usize },
}

/// Measures every crate below `root/crates`, prints the figures, and fails when one is above its limit.
pub(crate) fn check_structure(root: &Path) -> Result<(), ChoreError> {
    let mut findings = Vec::new();
    for sources in sources::read_crates(root)? {
        findings.extend(measure_crate(&sources));
    }
    if findings.is_empty() { Ok(()) } else { Err(ChoreError::Structure(findings)) }
}

/// Prints the figures of one crate, and returns those above their limit.
fn measure_crate(sources: &CrateSources) -> Vec<StructureFinding> {
    let folder = &sources.folder;
    let lines = sources.line_count();
    let cycle = ModuleGraph::new(sources).largest_cycle();
    eprintln!("{folder:16} {lines:6} lines, largest cycle of modules {:3} %", cycle.percent);

    let mut excesses = Vec::new();
    if lines > MAX_CRATE_LINES {
        excesses.push(StructureExcess::Lines { lines });
    }
    if cycle.percent > MAX_CYCLE_PERCENT {
        excesses.push(StructureExcess::Cycle { percent: cycle.percent, modules: cycle.modules });
    }
    if folder == EMBEDDED_CRATE {
        let names = count_root_names(&sources.root);
        eprintln!("{folder:16} {names:6} names at its root");
        if names > MAX_ROOT_NAMES {
            excesses.push(StructureExcess::RootNames { names });
        }
    }
    excesses.into_iter().map(|excess| StructureFinding { folder: folder.clone(), excess }).collect()
}

/// Counts the items that a `lib.rs` makes public: its own, and each name in a `pub use`.
fn count_root_names(lib: &str) -> usize {
    const ITEMS: [&str; 7] = ["mod", "fn", "struct", "enum", "trait", "type", "const"];
    let is_item = |line: &str| {
        let keyword = line.strip_prefix("pub ").and_then(|rest| rest.split_once(' '));
        keyword.is_some_and(|(keyword, _)| ITEMS.contains(&keyword))
    };
    let items = lib.lines().filter(|line| is_item(line)).count();
    items + sources::find_exports(lib).map(|tree| sources::exported_names(tree).count()).sum::<usize>()
}

impl fmt::Display for StructureFinding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: ", self.folder)?;
        match &self.excess {
            StructureExcess::Lines { lines } => {
                write!(f, "has {lines} lines, more than {MAX_CRATE_LINES}: split it by responsibility")
            }
            StructureExcess::Cycle { percent, modules } => {
                let modules = modules.join(", ");
                write!(
                    f,
                    "{percent} % of its lines are one cycle of modules, more than {MAX_CYCLE_PERCENT} %: {modules}"
                )
            }
            StructureExcess::RootNames { names } => {
                write!(f, "has {names} names at its root, more than {MAX_ROOT_NAMES}: put them into modules")
            }
        }
    }
}

#[cfg(test)]
mod tests;
