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
}

/// The parts, in the order in which they are changed.
///
/// Each decides about safety and fails silently: the program still works when a rule no longer denies.
pub(super) const SCOPES: [MutationScope; 4] = [
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
    },
    // Which file is read or replaced, and with whose rights.
    MutationScope {
        name: "files",
        package: "mcparley-platform",
        files: &["crates/platform/src/file.rs", "crates/platform/src/file/**/*.rs"],
        tests: &["--lib", "--test", "it"],
    },
    // Which tool of which server a client's name or address reaches.
    MutationScope {
        name: "routing",
        package: "mcparley-gateway",
        files: &["crates/gateway/src/view.rs", "crates/gateway/src/view/**/*.rs"],
        tests: &["--lib", "--test", "it"],
    },
];

impl MutationScope {
    /// The arguments that select the changes. Tests are not changed, nor is text for people.
    pub(super) fn selection(&self) -> Vec<String> {
        let fixed = ["--no-config", "--package", self.package, "--exclude", "**/tests.rs"];
        let fixed = [&fixed[..], &["--exclude", "**/tests/**", "--exclude-re", "impl fmt::Display"]].concat();
        let fixed = [&fixed[..], &["--exclude-re", "impl (fmt::|std::fmt::)?Debug"]].concat();
        let files = self.files.iter().flat_map(|file| ["--file", file]);
        fixed.into_iter().chain(files).map(str::to_owned).collect()
    }
}

/// Finds a part by its name.
pub(super) fn find_scope(name: &str) -> Result<&'static MutationScope, String> {
    let names = || SCOPES.iter().map(|scope| scope.name).collect::<Vec<_>>().join(", ");
    SCOPES.iter().find(|scope| scope.name == name).ok_or_else(|| format!("the parts are {}", names()))
}

#[cfg(test)]
mod tests {
    use super::SCOPES;
    use crate::workspace;

    #[test]
    fn files_of_each_part_exist() {
        for file in SCOPES.iter().flat_map(|scope| scope.files) {
            let path = workspace::workspace_root().join(file.trim_end_matches("/**/*.rs"));
            assert!(path.exists(), "{file}");
        }
    }
}
