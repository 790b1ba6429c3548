//! Checks a server that was just added, which also fills the cache before the first use.
//!
//! The entry is already written. The result of the check is printed and never changes the exit code.

use mcparley::config::plan::{PlanStatus, PlannedServer};
use mcparley::model::limits::ADD_CHECK_TIME;
use mcparley::model::text::display_line;
use mcparley::model::time::whole_milliseconds;
use mcparley::pool::health::{CheckedServer, HealthCheck, ServerHealth};
use serde_json::{Value, json};

use crate::commands::waiting::{Downloads, record_event};
use crate::context::Context;
use crate::error::CommandError;
use crate::out::TerminalOutput;
use crate::runtime;
use mcparley_report::sign_in_hint_after_check;
use mcparley_report::{HealthReport, health_summary};

/// The outcome of the check of a server that was just added.
pub(super) enum CheckOutcome {
    /// The server was checked.
    Settled(Box<(PlannedServer, CheckedServer)>),
    /// The server did not answer before the timeout; `downloader` is the package runner that still downloads
    /// it.
    TimedOut { downloader: Option<String> },
    /// The server may not run yet and was not tried; `standing` is its plan status.
    NotTried { standing: &'static str },
}

impl CheckOutcome {
    /// Connects to the server of this name, with a timeout of a few seconds.
    pub(super) fn check_addition(
        name: &str,
        context: &Context,
        out: &mut TerminalOutput,
    ) -> Result<Self, CommandError> {
        let loaded = context.load()?;
        let named = loaded.plan.servers_by_name(name);
        let Some(server) = named.iter().find(|server| server.status == PlanStatus::Ready) else {
            let standing = named.first().map_or("unknown", |server| server.status.as_str());
            return Ok(Self::NotTried { standing });
        };
        let connect_context = context.connect_context(&loaded);
        let checkup = HealthCheck::with_context(connect_context.clone());
        let (mut found, mut downloads) = (None, Downloads::new());
        out.show_waiting(&format!("connecting to `{}` …", display_line(name)));
        let servers = [*server];
        let hear = |event| {
            if let Some(checked) = record_event(event, &mut downloads) {
                found = Some(checked);
            }
        };
        // The timer is created inside of the runtime, which it needs.
        let trying =
            async { tokio::time::timeout(ADD_CHECK_TIME, checkup.check_with_events(&servers, hear)).await };
        let _late = runtime::run_with_accounts(&connect_context, trying)?;
        out.stop_waiting();
        let downloader = downloads.into_values().next().map(|runner| runner.to_string());
        Ok(match found {
            Some(checked) => Self::Settled(Box::new(((*server).clone(), checked))),
            None => Self::TimedOut { downloader },
        })
    }

    /// The field `check` of `--json`; for a checked server the same as `health` in `list`.
    pub(super) fn to_json(&self) -> Value {
        match self {
            Self::Settled(settled) => {
                let (server, checked) = &**settled;
                serde_json::to_value(HealthReport::from_check(server, checked)).unwrap_or_default()
            }
            Self::TimedOut { downloader } => {
                let milliseconds = whole_milliseconds(ADD_CHECK_TIME);
                let mut report = json!({ "is": "timed-out", "milliseconds": milliseconds });
                if let Some(runner) = downloader {
                    report["downloader"] = runner.as_str().into();
                }
                report
            }
            Self::NotTried { standing } => json!({ "is": "not-tried", "standing": standing }),
        }
    }

    /// Prints the outcome for the user. For a server that may not run, the reason was printed with its entry.
    pub(super) fn print_outcome(&self, out: &mut TerminalOutput) {
        let seconds = ADD_CHECK_TIME.as_secs();
        match self {
            Self::Settled(settled) => print_check(&settled.0, &settled.1, out),
            Self::TimedOut { downloader: Some(runner) } => out.print_remark(&format!(
                "`{runner}` is still downloading it after {seconds} s; run `mcparley list` to check it again"
            )),
            Self::TimedOut { downloader: None } => {
                out.print_remark(&format!(
                    "no answer within {seconds} s; run `mcparley list` to check it again"
                ));
            }
            Self::NotTried { .. } => {}
        }
    }
}

fn print_check(server: &PlannedServer, checked: &CheckedServer, out: &mut TerminalOutput) {
    match &checked.health {
        ServerHealth::Connected { .. } => {
            out.print_remark(&format!("the server works: {}", health_summary(checked)))
        }
        _ => {
            out.warn(&format!("the server does not work yet: {}", health_summary(checked)));
            out.hint(&match checked.wants_sign_in {
                true => sign_in_hint_after_check(checked, server),
                false => format!("run `mcparley doctor {}` to see the cause", server.name),
            });
        }
    }
}
