//! Problems outside of any single server: files, folders, environment variables, the clock. Only problems are
//! reported.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use mcparley_config::plan::{PlanStatus, PlannedServer};
use mcparley_model::config::TransportConfig;
use mcparley_model::text::display_line;
use mcparley_platform::file::is_writable_folder;
use mcparley_platform::process::{SpawnError, locate_program};
use serde::Serialize;

use mcparley_config::LoadedConfig;
use mcparley_config::named_folders;
use mcparley_pool::connect::ConnectContext;
use mcparley_pool::launch::build_launch;

/// The earliest plausible time, 2025-11-25. An earlier clock is wrong and makes every TLS certificate
/// invalid.
const EARLIEST: Duration = Duration::from_secs(1_764_028_800);

/// The smallest plausible timeout in milliseconds; a smaller value was probably meant as seconds.
const LEAST_TIMEOUT: u64 = 1000;

/// A problem, or a fact worth knowing, that belongs to no single server.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct DoctorFinding {
    /// The stable id of the finding, for scripts.
    pub id: &'static str,
    /// The severity.
    pub weight: FindingWeight,
    /// The problem in one sentence.
    pub message: String,
    /// The fix.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
}

/// The severity of a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum FindingWeight {
    /// The finding prevents a server from working.
    Error,
    /// The finding may prevent a server from working.
    Warning,
    /// The finding helps to understand other problems.
    Note,
}

impl DoctorFinding {
    fn new(id: &'static str, weight: FindingWeight, message: String, hint: Option<String>) -> Self {
        Self { id, weight, message, hint }
    }
}

/// All findings, most serious first.
pub(crate) fn collect_findings(
    connect_context: &ConnectContext,
    loaded: &LoadedConfig,
    servers: &[&PlannedServer],
) -> Vec<DoctorFinding> {
    let mut found = check_configuration(loaded);
    found.extend(check_clock(SystemTime::now()));
    found.extend(check_programs(connect_context, servers));
    found.extend(check_folders(connect_context));
    found.extend(check_roots(connect_context, servers));
    found.extend(check_timeout(connect_context.dialer.env.get("MCP_TIMEOUT")));
    found.extend(check_proxies(connect_context, servers));
    found.sort_by_key(|finding| finding.weight);
    found
}

fn check_configuration(loaded: &LoadedConfig) -> Vec<DoctorFinding> {
    let problems = loaded.problems.iter().map(|problem| {
        DoctorFinding::new("configuration", FindingWeight::Error, problem.to_string(), problem.hint.clone())
    });
    let warnings = loaded.settings.warnings.iter().map(|warning| {
        let message = format!("{}: {}", warning.origin, warning.text);
        DoctorFinding::new("settings", FindingWeight::Warning, message, None)
    });
    problems.chain(warnings).collect()
}

fn check_clock(now: SystemTime) -> Option<DoctorFinding> {
    let is_possible = now.duration_since(SystemTime::UNIX_EPOCH).is_ok_and(|since| since >= EARLIEST);
    (!is_possible).then(|| {
        let message =
            "the clock of this machine is years behind, so every certificate looks invalid".to_owned();
        DoctorFinding::new("clock", FindingWeight::Error, message, Some("set the clock".to_owned()))
    })
}

/// Programs that several servers need and that are missing; each is one finding, not one per server.
fn check_programs(connect_context: &ConnectContext, servers: &[&PlannedServer]) -> Vec<DoctorFinding> {
    let mut missing: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for server in servers.iter().filter(|server| server.status == PlanStatus::Ready) {
        let Some(TransportConfig::Stdio(stdio)) = server.config.as_ref().map(|config| &config.transport)
        else {
            continue;
        };
        let found =
            locate_program(&build_launch(stdio, &connect_context.dialer.env, &connect_context.dialer.paths));
        if matches!(found, Err(SpawnError::NotFound { .. })) {
            missing.entry(&stdio.command).or_default().push(server.name.as_str());
        }
    }
    let several = missing.into_iter().filter(|(_, servers)| servers.len() > 1);
    let tell = several.map(|(program, servers)| {
        let message = format!(
            "`{}` is not on the `PATH` that servers see, and {} servers need it: {}",
            display_line(program),
            servers.len(),
            display_line(&servers.join(", "))
        );
        DoctorFinding::new("program-missing", FindingWeight::Error, message, None)
    });
    tell.collect()
}

fn check_folders(connect_context: &ConnectContext) -> Vec<DoctorFinding> {
    let paths = &connect_context.dialer.paths;
    let kept = [
        (Some(paths.claude.dir.as_path()), "your servers and approvals cannot be changed"),
        (paths.logs.as_deref(), "`mcparley logs` has nothing to show"),
        (paths.cache.as_deref(), "tool lists are not cached for the next run"),
    ];
    let closed = kept.into_iter().filter_map(|(folder, lost)| Some((folder?, lost)));
    let tell = |(folder, lost): (&Path, &str)| {
        let folder = folder.to_string_lossy();
        let message = format!("the folder `{}` is not writable, so {lost}", display_line(&folder));
        let hint = "check its owner and permissions with `ls -ld`, and whether the disk is read-only";
        DoctorFinding::new("folder-closed", FindingWeight::Warning, message, Some(hint.to_owned()))
    };
    closed.filter(|(folder, _)| !is_writable_folder(folder)).map(tell).collect()
}

/// Servers with folders among their arguments that also get other folders as roots, which may override them.
fn check_roots(connect_context: &ConnectContext, servers: &[&PlannedServer]) -> Vec<DoctorFinding> {
    let paths = &connect_context.dialer.paths;
    let told = servers.iter().filter(|server| server.status == PlanStatus::Ready).filter_map(|server| {
        let config = server.config.as_ref()?;
        let named = named_folders(config, &paths.project, &paths.home);
        let roots = connect_context.root_folders(config);
        let is_other = named.iter().any(|folder| !roots.iter().any(|root| is_same_folder(root, folder)));
        (is_other && !roots.is_empty()).then_some((server.name.as_str(), named, roots))
    });
    let tell = |(name, named, roots): (&str, Vec<PathBuf>, Vec<PathBuf>)| {
        let message = format!(
            "`{}` gets the roots {}, which may override the folders in its arguments: {}",
            display_line(name),
            join_folders(&roots),
            join_folders(&named)
        );
        let hint = "set `\"roots\": false` in its entry to use only the folders in its arguments";
        DoctorFinding::new("roots-override", FindingWeight::Warning, message, Some(hint.to_owned()))
    };
    told.map(tell).collect()
}

fn is_same_folder(one: &Path, other: &Path) -> bool {
    let resolved = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
    resolved(one) == resolved(other)
}

fn join_folders(folders: &[PathBuf]) -> String {
    let quoted = folders.iter().map(|folder| format!("`{}`", display_line(&folder.to_string_lossy())));
    quoted.collect::<Vec<_>>().join(", ")
}

fn check_timeout(given: Option<&str>) -> Option<DoctorFinding> {
    let given = given.map(str::trim).filter(|given| !given.is_empty())?;
    let message = match given.parse::<u64>() {
        Ok(LEAST_TIMEOUT..) => return None,
        Ok(0) | Err(_) => "`MCP_TIMEOUT` is not a number of milliseconds and is ignored".to_owned(),
        Ok(short) => format!("`MCP_TIMEOUT` is {short} milliseconds, too short for most servers"),
    };
    let hint = Some("set `MCP_TIMEOUT=30000` for 30 seconds".to_owned());
    Some(DoctorFinding::new("timeout", FindingWeight::Warning, message, hint))
}

fn check_proxies(connect_context: &ConnectContext, servers: &[&PlannedServer]) -> Option<DoctorFinding> {
    let ready = servers.iter().filter(|server| server.status == PlanStatus::Ready);
    let transports = ready.filter_map(|server| Some(&server.config.as_ref()?.transport));
    let through = transports.filter(|transport| match transport {
        TransportConfig::Http(remote) | TransportConfig::Sse(remote) | TransportConfig::Ws(remote) => {
            connect_context.dialer.is_proxied(remote.url.expose())
        }
        TransportConfig::Stdio(_)
        | TransportConfig::Sdk { .. }
        | TransportConfig::SseIde(_)
        | TransportConfig::WsIde(_)
        | TransportConfig::ClaudeAiProxy { .. } => false,
    });
    let count = through.count();
    (count > 0).then(|| {
        let message = format!("{count} server(s) are reached through a proxy");
        let hint =
            "the proxy is set in `HTTPS_PROXY`, `HTTP_PROXY` or `ALL_PROXY`; list hosts without proxy in `NO_PROXY`";
        DoctorFinding::new("proxy", FindingWeight::Note, message, Some(hint.to_owned()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    // U2
    #[test]
    fn a_timeout_in_seconds_is_reported() {
        let found = |given| check_timeout(given).map(|finding| finding.message);
        assert_eq!(found(None), None);
        assert_eq!(found(Some(" ")), None);
        assert_eq!(found(Some("30000")), None);
        assert!(found(Some("30")).unwrap().contains("30 milliseconds"));
        assert!(found(Some("30s")).unwrap().contains("is ignored"));
        assert!(found(Some("0")).unwrap().contains("is ignored"));
    }

    // F86
    #[test]
    fn a_clock_that_is_years_behind_is_reported() {
        let day = |seconds| SystemTime::UNIX_EPOCH + Duration::from_secs(seconds);
        assert_eq!(check_clock(day(1_785_229_500)), None);
        assert_eq!(check_clock(day(0)).map(|finding| finding.id), Some("clock"));
    }
}
