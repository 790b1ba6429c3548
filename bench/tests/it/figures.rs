//! Tests of what `--check` accepts: a check proves nothing if nothing was measured.

use std::path::Path;
use std::process::{Command, Output};

fn bench(arguments: &[&str]) -> Output {
    // A program that is there, so that none is built; these tests do not come to run it.
    let program = env!("CARGO_BIN_EXE_mcparley-bench-limit");
    let mut command = Command::new(env!("CARGO_BIN_EXE_mcparley-bench"));
    command.args(["--mcparley", program]).args(arguments).output().unwrap()
}

fn error_of(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn bench_refuses_to_measure_in_no_rounds() {
    let output = bench(&["--check", "--rounds", "0"]);
    assert!(!output.status.success(), "{output:?}");
    assert!(error_of(&output).contains("invalid value '0' for '--rounds"), "{output:?}");
}

#[test]
fn bench_refuses_a_selection_without_figures_and_names_those_there_are() {
    let output = bench(&["--only", "no-such-figure"]);
    assert!(!output.status.success(), "{output:?}");
    let error = error_of(&output);
    assert!(error.contains("no figure has a name that contains `no-such-figure`"), "{error}");
    assert!(error.contains("call of 1 MB, one by one") && error.contains("until listed"), "{error}");
}

#[test]
fn bench_check_fails_if_a_program_is_missing() {
    let folder = tempfile::tempdir().unwrap();
    let only = "`mcparley list`, 1 server, limit is mcporter";
    let output = bench(&["--check", "--rounds", "1", "--only", only, "--peers", path_text(folder.path())]);
    assert!(!output.status.success(), "{output:?}");
    assert!(error_of(&output).contains("not measured: ") && error_of(&output).contains("not installed"));
}

#[test]
fn bench_fails_without_the_program_it_measures() {
    let output = Command::new(env!("CARGO_BIN_EXE_mcparley-bench"))
        .args(["--mcparley", "/no/such/program"])
        .output()
        .unwrap();
    assert!(!output.status.success(), "{output:?}");
    assert!(error_of(&output).contains("/no/such/program"), "{output:?}");
}

#[test]
fn bench_check_fails_if_a_limit_is_exceeded() {
    // A measurement that takes longer than a limit of nothing.
    let output =
        bench(&["--check", "--rounds", "1", "--slack", "0", "--only", "100 B, 64 at once, processor time"]);
    assert!(!output.status.success(), "{output:?}");
    assert!(error_of(&output).contains("over the limit: calls of 100 B, 64 at once"), "{output:?}");
}

fn path_text(path: &Path) -> &str {
    path.to_str().unwrap()
}
