//! `cargo xtask semver`: compares the public interface of the library with that of an earlier commit.
//!
//! The library is the crate `mcparley` with the crates that it re-exports. The checker looks at the items of one
//! crate at a time and does not follow re-exports, so each of these crates is compared.

use clap::Args;

use crate::error::ChoreError;
use crate::step::ChoreStep;
use crate::tool::SEMVER_CHECKS;

/// Options of the chore.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct SemverOptions {
    /// Compare with this commit, tag or branch; the default is the last tag, or the commit before this one
    #[arg(long, value_name = "REV")]
    baseline_rev: Option<String>,
    /// Compare this crate only; may be given several times
    #[arg(long = "package", value_name = "CRATE")]
    packages: Vec<String>,
}

/// The crate that other programs embed, and the crates whose items it re-exports.
const FACADE: [&str; 7] = [
    "mcparley",
    "mcparley-auth",
    "mcparley-catalog",
    "mcparley-config",
    "mcparley-model",
    "mcparley-pool",
    "mcparley-results",
];

/// Fails if a program that was built with the earlier commit may not build with this one, although the version
/// says so.
pub(crate) fn compare_interface(options: &SemverOptions) -> Result<(), ChoreError> {
    let baseline = options.baseline_rev.clone().unwrap_or_else(default_baseline);
    SEMVER_CHECKS.into_step(&check_arguments(&baseline, &options.packages))?.run()
}

fn check_arguments<'a>(baseline: &'a str, packages: &'a [String]) -> Vec<&'a str> {
    let mut arguments = vec!["check-release", "--baseline-rev", baseline];
    let packages: Vec<&str> = match packages {
        [] => FACADE.to_vec(),
        chosen => chosen.iter().map(String::as_str).collect(),
    };
    arguments.extend(packages.into_iter().flat_map(|package| ["--package", package]));
    arguments
}

/// The last tag before this commit; the commit before this one where nothing was tagged yet.
fn default_baseline() -> String {
    let described = ["describe", "--tags", "--abbrev=0", "HEAD~1"];
    choose_baseline(ChoreStep::program("git".as_ref(), &described).run_silently().as_deref())
}

/// The described tag, or the commit before this one if nothing was tagged: each change is then compared alone, since
/// no published interface is there to be kept.
fn choose_baseline(described: Option<&str>) -> String {
    described.map(str::trim).filter(|tag| !tag.is_empty()).unwrap_or("HEAD~1").to_owned()
}

#[cfg(test)]
mod tests {
    use super::{FACADE, check_arguments, choose_baseline};
    use crate::workspace;

    #[test]
    fn every_crate_that_the_library_re_exports_is_compared() {
        let lib = workspace::workspace_root().join("crates/host/src/lib.rs");
        let lib = std::fs::read_to_string(lib).unwrap();
        let exports =
            lib.lines().filter_map(|line| line.strip_prefix("pub use mcparley_")?.strip_suffix(';'));
        let modules = exports.filter_map(|export| export.split_once(" as ")).map(|(name, _)| name);
        let names: Vec<String> = modules.map(|name| format!("mcparley-{name}")).collect();
        assert!(names.len() >= 5, "{names:?}");
        for name in names {
            assert!(FACADE.contains(&name.as_str()), "{name} is not compared");
        }
    }

    #[test]
    fn baseline_is_the_last_tag_or_the_commit_before_where_nothing_is_tagged() {
        assert_eq!(choose_baseline(Some("v0.3.0\n")), "v0.3.0");
        assert_eq!(choose_baseline(None), "HEAD~1");
    }

    #[test]
    fn chosen_crates_replace_the_whole_library() {
        let chosen = ["mcparley-model".to_owned()];
        let expected = ["check-release", "--baseline-rev", "v1", "--package", "mcparley-model"];
        assert_eq!(check_arguments("v1", &chosen), expected);
        assert_eq!(check_arguments("v1", &[]).len(), 3 + 2 * FACADE.len());
    }
}
