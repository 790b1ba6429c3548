//! The dependency graph of a crate's modules, and its largest strongly connected set.

use std::collections::{BTreeMap, BTreeSet};

use super::references::find_references;
use crate::lint::sources::{CrateSources, ModulePath, exported_names, find_exports};

/// The share of its crate, in percent, above which a module is split into its parts: a cycle could hide
/// inside it.
const OPENED_PERCENT: usize = 30;

/// The modules of a crate, their lines, and the modules that each one uses.
#[derive(Debug)]
pub(super) struct ModuleGraph {
    total_lines: usize,
    lines: BTreeMap<ModulePath, usize>,
    uses: BTreeMap<ModulePath, BTreeSet<ModulePath>>,
}

/// Modules that reach each other.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct ModuleCycle {
    /// The share of the crate's lines.
    pub(super) percent: usize,
    /// The paths of the modules, in order; empty without a cycle.
    pub(super) modules: Vec<String>,
}

impl ModuleGraph {
    /// Reads the graph from the references in the sources.
    pub(super) fn new(sources: &CrateSources) -> Self {
        let nodes = GraphNodes::new(sources);
        let mut graph =
            Self { total_lines: nodes.total_lines, lines: BTreeMap::new(), uses: BTreeMap::new() };
        for (path, text) in &sources.modules {
            let Some(user) = nodes.find_node(path) else { continue };
            *graph.lines.entry(user.clone()).or_default() += text.lines().count();
            let used = find_references(text, path).into_iter().filter_map(|path| nodes.find_node(&path));
            // A split module stands for itself, not for the parts that it declares.
            let used = used.filter(|used| !user.starts_with(used));
            graph.uses.entry(user.clone()).or_default().extend(used);
        }
        graph
    }

    /// The cycle with the most lines.
    pub(super) fn largest_cycle(&self) -> ModuleCycle {
        let reachable: BTreeMap<_, _> =
            self.lines.keys().map(|node| (node, self.reachable_from(node))).collect();
        let cycle_of = |node: &ModulePath| -> Vec<&ModulePath> {
            let reaches_back =
                |other: &&ModulePath| reachable.get(*other).is_some_and(|back| back.contains(node));
            reachable.get(node).into_iter().flatten().copied().filter(reaches_back).collect()
        };
        let lines = |cycle: &Vec<&ModulePath>| cycle.iter().map(|node| self.lines[*node]).sum::<usize>();
        let Some(cycle) = self.lines.keys().map(cycle_of).filter(|cycle| cycle.len() > 1).max_by_key(lines)
        else {
            return ModuleCycle::default();
        };
        let percent = (200 * lines(&cycle) + self.total_lines) / (2 * self.total_lines);
        ModuleCycle { percent, modules: cycle.iter().map(|path| path.join("::")).collect() }
    }

    fn reachable_from<'g>(&'g self, start: &'g ModulePath) -> BTreeSet<&'g ModulePath> {
        let (mut seen, mut open) = (BTreeSet::new(), vec![start]);
        while let Some(node) = open.pop() {
            let used = self.uses.get(node).into_iter().flatten();
            open.extend(used.filter(|used| self.lines.contains_key(*used) && seen.insert(*used)));
        }
        seen
    }
}

/// The nodes of the graph: top-level modules, and the parts of those that are split.
#[derive(Debug)]
struct GraphNodes<'a> {
    total_lines: usize,
    top_level: BTreeMap<&'a str, usize>,
    parts: BTreeSet<&'a [String]>,
    /// Types that the crate's root exports, with their top-level module.
    exported: BTreeMap<&'a str, &'a str>,
}

impl<'a> GraphNodes<'a> {
    fn new(sources: &'a CrateSources) -> Self {
        let mut top_level: BTreeMap<&str, usize> = BTreeMap::new();
        for (path, text) in &sources.modules {
            *top_level.entry(&path[0]).or_default() += text.lines().count();
        }
        let exported = find_exports(&sources.root)
            .filter_map(|tree| tree.split_once("::").map(|(module, _)| (module, tree)));
        Self {
            total_lines: top_level.values().sum(),
            top_level,
            parts: sources.modules.keys().filter_map(|path| path.get(..2)).collect(),
            exported: exported
                .flat_map(|(module, tree)| exported_names(tree).map(move |name| (name, module)))
                .collect(),
        }
    }

    /// The node of a path from the crate's root; none for paths into other crates and for items of the root itself.
    fn find_node(&self, path: &[String]) -> Option<ModulePath> {
        let first = path.first()?.as_str();
        let Some(lines) = self.top_level.get(first) else {
            let module = *self.exported.get(first)?;
            return self.top_level.contains_key(module).then(|| vec![module.to_owned()]);
        };
        let is_opened = lines * 100 > OPENED_PERCENT * self.total_lines;
        let part = path.get(..2).filter(|part| is_opened && self.parts.contains(part));
        Some(part.unwrap_or(&path[..1]).to_vec())
    }
}
