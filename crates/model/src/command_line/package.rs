//! A package that a package runner would download: its name, and whether its version is pinned.

use crate::config::mask_secrets;

/// A package that a package runner would download and run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Package {
    /// The runner under its usual name: `npx`, `uvx`, `docker run`.
    pub runner: &'static str,
    /// The package as it is written, including a version if one is given.
    pub spec: String,
    registry: PackageRegistry,
}

/// The package registry that defines the syntax of a package's name and version.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PackageRegistry {
    /// The npm registry.
    Npm,
    /// The Python package index.
    Python,
    /// Modules of Go.
    Go,
    /// Registries of container images.
    Image,
}

impl Package {
    pub(super) fn new(runner: &'static str, spec: &str, registry: PackageRegistry) -> Self {
        let spec = spec.strip_prefix("npm:").or_else(|| spec.strip_prefix("jsr:")).unwrap_or(spec);
        Self { runner, spec: spec.to_owned(), registry }
    }

    /// The package's name without scope, folder and version.
    #[must_use]
    pub fn short_name(&self) -> &str {
        let name = self.split_version().0;
        let name = name.split('[').next().unwrap_or(name).trim_end_matches('/');
        name.rsplit('/').next().unwrap_or(name)
    }

    /// The registry that the package is fetched from.
    #[must_use]
    pub fn registry(&self) -> PackageRegistry {
        self.registry
    }

    /// The package as it is written, without its version: equal for all releases of one package.
    #[must_use]
    pub fn name(&self) -> &str {
        self.split_version().0
    }

    /// Whether the package always means the same bytes, or at least the same release.
    #[must_use]
    pub fn is_pinned(&self) -> bool {
        if self.is_local() {
            return true;
        }
        let Some(version) = self.split_version().1 else { return false };
        match self.registry {
            PackageRegistry::Npm | PackageRegistry::Go | PackageRegistry::Python => {
                is_release(version) || is_commit(version)
            }
            // `latest`, `main` and `stable` move; a number names a release.
            PackageRegistry::Image => {
                version.starts_with("sha256:") || version.bytes().any(|byte| byte.is_ascii_digit())
            }
        }
    }

    /// The package with an exact version, secrets masked, as an example of a pin.
    #[must_use]
    pub fn to_pinned_example(&self) -> String {
        let name = self.split_version().0;
        let name = mask_secrets(name.split(['<', '>', '~', '!']).next().unwrap_or(name));
        let is_git = self.spec.contains("://") || self.spec.starts_with("git");
        match self.registry {
            PackageRegistry::Npm if is_git => format!("{name}#<commit>"),
            PackageRegistry::Python if is_git => format!("{name}@<commit>"),
            PackageRegistry::Npm => format!("{name}@1.2.3"),
            PackageRegistry::Python => format!("{name}==1.2.3"),
            PackageRegistry::Go => format!("{name}@v1.2.3"),
            PackageRegistry::Image => format!("{name}@sha256:<digest>"),
        }
    }

    /// Whether the package is a folder or file of this machine, which is not downloaded.
    fn is_local(&self) -> bool {
        let begins = ["./", "../", "/", "~/", "file:"].iter().any(|start| self.spec.starts_with(start));
        self.registry != PackageRegistry::Image && (begins || self.spec == ".")
    }

    /// Splits the package into its name and its version, if it has one.
    fn split_version(&self) -> (&str, Option<&str>) {
        let spec = self.spec.as_str();
        let split = match self.registry {
            PackageRegistry::Npm if spec.contains("://") || spec.starts_with("git") => spec.rsplit_once('#'),
            // The first character may be the `@` of a scope.
            PackageRegistry::Npm | PackageRegistry::Go => split_last(spec, '@', 1),
            PackageRegistry::Python => {
                let at = spec.find("==").or_else(|| spec.find("@"));
                at.and_then(|at| Some((spec.get(..at)?, spec.get(at..)?.trim_start_matches(['=', '@']))))
                    .filter(|_| !spec.contains("://"))
                    .or_else(|| split_last(spec, '@', spec.find("://").map_or(1, |at| at + 3)))
            }
            PackageRegistry::Image => {
                // A registry's port is followed by a slash.
                let name = spec.rfind('/').map_or(0, |at| at + 1);
                split_last(spec, '@', name).or_else(|| split_last(spec, ':', name))
            }
        };
        split.map_or((spec, None), |(name, version)| (name.trim(), Some(version.trim())))
    }
}

fn split_last(text: &str, mark: char, from: usize) -> Option<(&str, &str)> {
    let at = text.get(from..)?.rfind(mark)? + from;
    Some((text.get(..at)?, text.get(at + mark.len_utf8()..)?))
}

/// Whether a version is exact: `1.2.3`, with an optional `v` and suffix; not a range, a tag or a partial
/// version.
fn is_release(version: &str) -> bool {
    let version = version.strip_prefix('v').unwrap_or(version);
    let numbers = version.split(['-', '+']).next().unwrap_or(version);
    let mut parts = numbers.split('.');
    let starts_with_numbers = parts.by_ref().take(2).filter(|part| is_number(part)).count() == 2;
    starts_with_numbers && parts.all(|part| part.starts_with(|first: char| first.is_ascii_digit()))
}

fn is_number(part: &str) -> bool {
    !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit())
}

fn is_commit(version: &str) -> bool {
    version.len() == 40 && version.bytes().all(|byte| byte.is_ascii_hexdigit())
}
