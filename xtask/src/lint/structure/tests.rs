//! Tests that sizes, cycles and root names are measured, and found when they are above their limits.

use super::module_graph::{ModuleCycle, ModuleGraph};
use super::{
    EMBEDDED_CRATE, MAX_CRATE_LINES, MAX_ROOT_NAMES, check_structure, count_root_names, measure_crate,
};
use crate::error::ChoreError;
use crate::lint::sources::CrateSources;

fn crate_of(folder: &str, files: &[(&str, &str)]) -> CrateSources {
    let mut sources = CrateSources { folder: folder.to_owned(), ..CrateSources::default() };
    for (path, text) in files {
        sources.add_file(path, text);
    }
    sources
}

fn cycle(files: &[(&str, &str)]) -> ModuleCycle {
    ModuleGraph::new(&crate_of("crates/a", files)).largest_cycle()
}

fn findings(folder: &str, files: &[(&str, &str)]) -> Vec<String> {
    measure_crate(&crate_of(folder, files)).iter().map(ToString::to_string).collect()
}

#[test]
fn modules_that_form_a_tree_are_no_cycle() {
    let files = [("a.rs", "use crate::b;\n"), ("b.rs", "use crate::c::C;\n"), ("c.rs", "\n")];
    assert_eq!(cycle(&files), ModuleCycle::default());
}

#[test]
fn modules_that_reach_each_other_are_found_with_their_share_of_lines() {
    let files = [
        ("a.rs", "use crate::{b::B, d};\n"),
        ("b.rs", "use super::c;\n"),
        ("c.rs", "use crate::a::A;\n"),
        ("d.rs", "\n"),
    ];
    assert_eq!(
        cycle(&files),
        ModuleCycle { percent: 75, modules: ["a", "b", "c"].map(str::to_owned).to_vec() }
    );
}

#[test]
fn reference_by_an_exported_name_counts_for_the_module_behind_it() {
    let files = [
        ("lib.rs", "pub use b::{Other, Thing};\n"),
        ("a.rs", "use crate::Thing;\n"),
        ("b.rs", "use crate::a;\n"),
    ];
    assert_eq!(cycle(&files).percent, 100);
}

#[test]
fn cycle_inside_one_large_folder_is_found() {
    let files = [
        ("a.rs", "mod b;\nmod c;\n"),
        ("a/b.rs", "use super::c::C;\n"),
        ("a/c.rs", "use crate::a::b::B;\n"),
        ("d.rs", "\n\n\n\n"),
    ];
    assert_eq!(
        cycle(&files),
        ModuleCycle { percent: 25, modules: ["a::b", "a::c"].map(str::to_owned).to_vec() }
    );
}

#[test]
fn references_in_tests_at_the_end_of_a_file_do_not_count() {
    let files = [("a.rs", "\n#[cfg(test)]\nmod tests {\n use crate::b;\n}\n"), ("b.rs", "use crate::a;\n")];
    assert_eq!(cycle(&files), ModuleCycle::default());
}

#[test]
fn crate_with_a_cycle_above_its_limit_is_found() {
    let files = [("a.rs", "use crate::b;\n"), ("b.rs", "use crate::a;\n"), ("c.rs", "\n\n\n\n")];
    let found = ["crates/a: 33 % of its lines are one cycle of modules, more than 20 %: a, b"];
    assert_eq!(findings("crates/a", &files), found);
}

#[test]
fn crate_above_its_number_of_lines_is_found() {
    let lines = |count: usize| "\n".repeat(count);
    assert_eq!(findings("crates/a", &[("a.rs", &lines(MAX_CRATE_LINES))]), Vec::<String>::new());
    let found = ["crates/a: has 15001 lines, more than 15000: split it by responsibility"];
    assert_eq!(findings("crates/a", &[("a.rs", &lines(MAX_CRATE_LINES + 1))]), found);
}

#[test]
fn each_public_item_and_each_exported_name_is_a_root_name() {
    let lib = "mod a;\npub mod b;\npub use c as d;\npub use e::f::{G, h::{I, j as K}};\npub use l::{\n    M,\n    N,\n};\n";
    assert_eq!(count_root_names(lib), 7);
}

#[test]
fn only_the_embedded_crate_has_a_limit_of_root_names() {
    let lib = "pub mod a;\n".repeat(MAX_ROOT_NAMES + 1);
    let found = format!(
        "{EMBEDDED_CRATE}: has {} names at its root, more than {MAX_ROOT_NAMES}: put them into modules",
        MAX_ROOT_NAMES + 1
    );
    assert_eq!(findings(EMBEDDED_CRATE, &[("lib.rs", &lib)]), [found]);
    assert_eq!(findings("crates/a", &[("lib.rs", &lib)]), Vec::<String>::new());
}

#[test]
fn sources_of_tests_are_not_measured() {
    let root = tempfile::tempdir().unwrap();
    let src = root.path().join("crates/a/src");
    std::fs::create_dir_all(src.join("b/tests")).unwrap();
    for (file, text) in [
        ("lib.rs", "mod a;\n"),
        ("a.rs", "use crate::b;\n"),
        ("b.rs", "\n"),
        ("b/tests.rs", "use crate::a;\n"),
        ("b/tests/more.rs", "use crate::a;\n"),
        ("b_tests.rs", "use crate::a;\n"),
    ] {
        std::fs::write(src.join(file), text).unwrap();
    }
    check_structure(root.path()).unwrap();

    std::fs::write(src.join("b.rs"), "use crate::a;\n").unwrap();
    let Err(ChoreError::Structure(found)) = check_structure(root.path()) else { panic!("nothing was found") };
    assert_eq!(found[0].folder, "crates/a");
}
