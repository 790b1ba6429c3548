//! What is wrong around the servers: files, folders, variables, the clock. What is fine is not told.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use mcparley_model::config::Transport;
use mcparley_model::plan::{Planned, ServerStanding};
use mcparley_model::text::display;
use mcparley_platform::file::is_writable_folder;
use mcparley_platform::process::{SpawnError, locate};
use serde::Serialize;

use crate::connect::Surroundings;
use crate::launch::launch;
use crate::roots::{Root, named_folders};
use crate::sources::Loaded;

/// A clock before this day is wrong, and no certificate will be valid: the day of the newest protocol with sessions.
const EARLIEST: Duration = Duration::from_secs(1_764_028_800);

/// Whoever gives less than this thinks of seconds.
const LEAST_TIMEOUT: u64 = 1000;

/// Something that is wrong, or worth knowing, and belongs to no single server.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Finding {
    /// Its name; does not change between versions.
    pub id: &'static str,
    /// How much it matters.
    pub weight: Weight,
    /// What it is.
    pub message: String,
    /// What to do.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
}

/// How much a finding matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Weight {
    /// Something does not work because of it.
    Error,
    /// Something may not work because of it.
    Warning,
    /// Worth knowing when something does not work.
    Note,
}

impl Finding {
    fn new(id: &'static str, weight: Weight, message: String, hint: Option<String>) -> Self {
        Self { id, weight, message, hint }
    }
}

/// Everything there is to find, the weightiest first.
pub(super) fn findings(surroundings: &Surroundings, loaded: &Loaded, servers: &[&Planned]) -> Vec<Finding> {
    let mut found = configuration(loaded);
    found.extend(clock(SystemTime::now()));
    found.extend(programs(surroundings, servers));
    found.extend(folders(surroundings));
    found.extend(roots(surroundings, servers));
    found.extend(limit(surroundings.env.get("MCP_TIMEOUT")));
    found.extend(proxies(surroundings, servers));
    found.sort_by_key(|finding| finding.weight);
    found
}

fn configuration(loaded: &Loaded) -> Vec<Finding> {
    let problems = loaded.problems.iter().map(|problem| {
        Finding::new("configuration", Weight::Error, problem.to_string(), problem.hint.clone())
    });
    let warnings = loaded.settings.warnings.iter().map(|warning| {
        let message = format!("{}: {}", warning.origin, warning.text);
        Finding::new("settings", Weight::Warning, message, None)
    });
    problems.chain(warnings).collect()
}

fn clock(now: SystemTime) -> Option<Finding> {
    let is_possible = now.duration_since(SystemTime::UNIX_EPOCH).is_ok_and(|since| since >= EARLIEST);
    (!is_possible).then(|| {
        let message =
            "the clock of this machine is years behind, so no certificate is valid for it".to_owned();
        Finding::new("clock", Weight::Error, message, Some("set the clock".to_owned()))
    })
}

/// A program that several servers miss is one trouble, not several.
fn programs(surroundings: &Surroundings, servers: &[&Planned]) -> Vec<Finding> {
    let mut missing: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for server in servers.iter().filter(|server| server.standing == ServerStanding::Ready) {
        let Some(Transport::Stdio(stdio)) = server.config.as_ref().map(|config| &config.transport) else {
            continue;
        };
        let found = locate(&launch(stdio, &surroundings.env, &surroundings.paths));
        if matches!(found, Err(SpawnError::NotFound { .. })) {
            missing.entry(&stdio.command).or_default().push(server.name.as_str());
        }
    }
    let several = missing.into_iter().filter(|(_, servers)| servers.len() > 1);
    let tell = several.map(|(program, servers)| {
        let message = format!(
            "`{}` is not on the `PATH` that servers see, and {} servers need it: {}",
            display(program),
            servers.len(),
            display(&servers.join(", "))
        );
        Finding::new("program-missing", Weight::Error, message, None)
    });
    tell.collect()
}

fn folders(surroundings: &Surroundings) -> Vec<Finding> {
    let paths = &surroundings.paths;
    let kept = [
        (Some(paths.claude.dir.as_path()), "servers of yours and approvals cannot be changed"),
        (paths.logs.as_deref(), "what servers say is not kept for `mcparley logs`"),
        (paths.cache.as_deref(), "what servers offer is not remembered for the next run"),
    ];
    let closed = kept.into_iter().filter_map(|(folder, lost)| Some((folder?, lost)));
    let tell = |(folder, lost): (&Path, &str)| {
        let folder = folder.to_string_lossy();
        let message = format!("the folder `{}` cannot be written to, so {lost}", display(&folder));
        let hint = "look at its owner and its rights with `ls -ld`, and whether the disk is read-only";
        Finding::new("folder-closed", Weight::Warning, message, Some(hint.to_owned()))
    };
    closed.filter(|(folder, _)| !is_writable_folder(folder)).map(tell).collect()
}

/// Servers that were given folders as arguments, and are told of roots that may replace them.
fn roots(surroundings: &Surroundings, servers: &[&Planned]) -> Vec<Finding> {
    let paths = &surroundings.paths;
    let told =
        servers.iter().filter(|server| server.standing == ServerStanding::Ready).filter_map(|server| {
            let config = server.config.as_ref()?;
            let named = named_folders(config, &paths.project, &paths.home);
            let roots: Vec<_> =
                surroundings.server_roots(config).known().iter().filter_map(Root::folder).collect();
            let is_other = named.iter().any(|folder| !roots.iter().any(|root| is_same(root, folder)));
            (is_other && !roots.is_empty()).then_some((server.name.as_str(), named, roots))
        });
    let tell = |(name, named, roots): (&str, Vec<PathBuf>, Vec<PathBuf>)| {
        let message = format!(
            "`{}` is told to work in {}, which may replace the folders that its arguments name: {}",
            display(name),
            listed(&roots),
            listed(&named)
        );
        let hint = "write `\"roots\": false` into its entry if only the folders of its arguments are meant";
        Finding::new("roots-override", Weight::Warning, message, Some(hint.to_owned()))
    };
    told.map(tell).collect()
}

fn is_same(one: &Path, other: &Path) -> bool {
    let resolved = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
    resolved(one) == resolved(other)
}

fn listed(folders: &[PathBuf]) -> String {
    let quoted = folders.iter().map(|folder| format!("`{}`", display(&folder.to_string_lossy())));
    quoted.collect::<Vec<_>>().join(", ")
}

fn limit(given: Option<&str>) -> Option<Finding> {
    let given = given.map(str::trim).filter(|given| !given.is_empty())?;
    let message = match given.parse::<u64>() {
        Ok(LEAST_TIMEOUT..) => return None,
        Ok(0) | Err(_) => "`MCP_TIMEOUT` is no number of milliseconds and does not count".to_owned(),
        Ok(short) => format!("`MCP_TIMEOUT` gives servers {short} milliseconds, which few can keep"),
    };
    let hint = Some("30 seconds are `MCP_TIMEOUT=30000`".to_owned());
    Some(Finding::new("timeout", Weight::Warning, message, hint))
}

fn proxies(surroundings: &Surroundings, servers: &[&Planned]) -> Option<Finding> {
    let ready = servers.iter().filter(|server| server.standing == ServerStanding::Ready);
    let transports = ready.filter_map(|server| Some(&server.config.as_ref()?.transport));
    let through = transports.filter(|transport| match transport {
        Transport::Http(remote) | Transport::Sse(remote) | Transport::Ws(remote) => {
            surroundings.is_proxied(remote.url.expose())
        }
        Transport::Stdio(_)
        | Transport::Sdk { .. }
        | Transport::SseIde(_)
        | Transport::WsIde(_)
        | Transport::ClaudeAiProxy { .. } => false,
    });
    let count = through.count();
    (count > 0).then(|| {
        let message = format!("{count} server(s) are reached through the proxy that variables name");
        let hint =
            "`HTTPS_PROXY`, `HTTP_PROXY` and `ALL_PROXY` name it; `NO_PROXY` lists the hosts that need none";
        Finding::new("proxy", Weight::Note, message, Some(hint.to_owned()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    // U2
    #[test]
    fn a_limit_that_means_seconds_is_noticed() {
        let found = |given| limit(given).map(|finding| finding.message);
        assert_eq!(found(None), None);
        assert_eq!(found(Some(" ")), None);
        assert_eq!(found(Some("30000")), None);
        assert!(found(Some("30")).unwrap().contains("30 milliseconds"));
        assert!(found(Some("30s")).unwrap().contains("does not count"));
        assert!(found(Some("0")).unwrap().contains("does not count"));
    }

    // F86
    #[test]
    fn a_clock_that_is_years_behind_is_noticed() {
        let day = |seconds| SystemTime::UNIX_EPOCH + Duration::from_secs(seconds);
        assert_eq!(clock(day(1_785_229_500)), None);
        assert_eq!(clock(day(0)).map(|finding| finding.id), Some("clock"));
    }
}
