//! The code whose changes the tests have to notice, and the tests that are run for each change.

/// A part of the code.
#[derive(Debug)]
pub(crate) struct MutationScope {
    /// The name, for the command line and the results.
    pub(super) name: &'static str,
    package: &'static str,
    /// Patterns of its files, below the workspace's root.
    files: &'static [&'static str],
    /// The tests that are run: the quickest that ought to notice.
    pub(super) tests: &'static [&'static str],
    /// The programs of other packages that these tests start.
    pub(super) programs: &'static [&'static str],
    /// The time for one change, in seconds: build and tests, on two cores that do nothing else.
    pub(super) seconds_each: u64,
}

/// Tests that need the machine for themselves or servers of others would cost minutes for each change.
const QUICK_TESTS: [&str; 2] = ["-E", "not test(/heavy|fleet/)"];

/// The parts, in the order in which they are changed.
///
/// Each decides about safety and fails silently: the program still works when a rule no longer denies.
pub(super) const SCOPES: [MutationScope; 6] = [
    // Which servers may run, which tools may be called, who approved them.
    MutationScope {
        name: "rules",
        package: "mcparley-model",
        files: &[
            "crates/model/src/approval.rs",
            "crates/model/src/approval/**/*.rs",
            "crates/model/src/command_line.rs",
            "crates/model/src/command_line/**/*.rs",
            "crates/model/src/glob.rs",
            "crates/model/src/permission.rs",
            "crates/model/src/permission/**/*.rs",
            "crates/model/src/policy.rs",
            "crates/model/src/policy/**/*.rs",
            "crates/model/src/principal_match.rs",
            "crates/model/src/trust.rs",
        ],
        tests: &["--lib"],
        programs: &[],
        seconds_each: 15,
    },
    // What was approved and trusted, and for which content.
    MutationScope {
        name: "approvals",
        package: "mcparley-config",
        files: &[
            "crates/config/src/approval_store.rs",
            "crates/config/src/trust.rs",
            "crates/config/src/trust/**/*.rs",
        ],
        tests: &["--lib"],
        programs: &[],
        seconds_each: 20,
    },
    // What a person or a model sees: masked secrets, visible characters, names that belong to one tool.
    MutationScope {
        name: "display",
        package: "mcparley-model",
        files: &[
            "crates/model/src/config/mask.rs",
            "crates/model/src/config/mask/**/*.rs",
            "crates/model/src/name.rs",
            "crates/model/src/name/**/*.rs",
            "crates/model/src/secret.rs",
            "crates/model/src/text.rs",
            "crates/model/src/text/**/*.rs",
        ],
        tests: &["--lib"],
        programs: &[],
        seconds_each: 15,
    },
    // Which values of the configuration are masked in what servers say.
    MutationScope {
        name: "redaction",
        package: "mcparley-pool",
        files: &["crates/pool/src/redact.rs"],
        tests: &["--lib"],
        programs: &["mcparley-testkit"],
        seconds_each: 40,
    },
    // Which file is read or replaced, and with whose rights.
    MutationScope {
        name: "files",
        package: "mcparley-platform",
        files: &["crates/platform/src/file.rs", "crates/platform/src/file/**/*.rs"],
        tests: &["--lib", "--test", "it"],
        programs: &["mcparley-testkit"],
        seconds_each: 30,
    },
    // Which tool of which server a client's name or address reaches.
    MutationScope {
        name: "routing",
        package: "mcparley-gateway",
        files: &["crates/gateway/src/view.rs", "crates/gateway/src/view/**/*.rs"],
        tests: &["--lib", "--test", "it"],
        programs: &["mcparley-testkit"],
        seconds_each: 90,
    },
];

impl MutationScope {
    /// The arguments that select the changes. Tests are not changed, nor is text for people.
    pub(super) fn selection(&self) -> Vec<String> {
        let fixed = ["--no-config", "--package", self.package, "--exclude", "**/tests.rs"];
        let fixed = [&fixed[..], &["--exclude", "**/tests/**", "--exclude-re", "impl fmt::Display"]].concat();
        let fixed = [&fixed[..], &["--exclude-re", "impl (fmt::|std::fmt::)?Debug"]].concat();
        // The copy has what is committed: neither installed programs nor results of builds.
        let fixed = [&fixed[..], &["--gitignore", "true"]].concat();
        let files = self.files.iter().flat_map(|file| ["--file", file]);
        fixed.into_iter().chain(files).map(str::to_owned).collect()
    }

    /// The arguments that make a shard of the changes, with the results below `output`.
    pub(super) fn run_arguments(&self, shard: &str, output: &str) -> Vec<String> {
        let settings = ["--output", output, "--shard", shard, "--sharding", "round-robin", "--jobs", "1"];
        let tool = ["--test-tool", "nextest", "--no-shuffle", "--colors", "never", "--"];
        let settings = [&settings[..], &tool, self.tests, &QUICK_TESTS].concat();
        [self.selection(), settings.into_iter().map(str::to_owned).collect()].concat()
    }
}

/// Finds a part by its name.
pub(super) fn find_scope(name: &str) -> Result<&'static MutationScope, String> {
    let names = || SCOPES.iter().map(|scope| scope.name).collect::<Vec<_>>().join(", ");
    SCOPES.iter().find(|scope| scope.name == name).ok_or_else(|| format!("the parts are {}", names()))
}

#[cfg(test)]
mod tests {
    use super::{QUICK_TESTS, SCOPES};
    use crate::workspace;

    #[test]
    fn tests_of_a_change_are_quick_and_its_copy_is_what_was_committed() {
        for scope in &SCOPES {
            let arguments = scope.run_arguments("0/5", "target/x");
            let (selection, tests) =
                arguments.split_at(arguments.iter().position(|word| word == "--").unwrap());
            assert!(selection.windows(2).any(|words| words == ["--gitignore", "true"]), "{selection:?}");
            assert!(tests.ends_with(&QUICK_TESTS.map(str::to_owned)), "{tests:?}");
        }
    }

    #[test]
    fn every_file_that_masks_approves_or_trusts_is_changed() {
        let files: Vec<&str> = SCOPES.iter().flat_map(|scope| scope.files).copied().collect();
        let needed = [
            "crates/pool/src/redact.rs",
            "crates/config/src/approval_store.rs",
            "crates/config/src/trust.rs",
            "crates/config/src/trust/**/*.rs",
        ];
        for file in needed {
            assert!(files.contains(&file), "{file}");
        }
    }

    #[test]
    fn files_of_each_part_exist() {
        for file in SCOPES.iter().flat_map(|scope| scope.files) {
            let path = workspace::workspace_root().join(file.trim_end_matches("/**/*.rs"));
            assert!(path.exists(), "{file}");
        }
    }
}
