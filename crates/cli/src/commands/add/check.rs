//! Tries a server that was just added, so that what it offers is known before it is first used (L12).
//!
//! The entry is written whatever comes of it: what is found out is told beside, and never changes the exit code.

use mcparley::model::limits::ADD_CHECK_TIME;
use mcparley::model::plan::{Planned, ServerStanding};
use mcparley::model::text::display;
use mcparley::{Checked, Checkup, Health};
use serde_json::{Value, json};

use crate::commands::waiting::{Downloads, note_event};
use crate::context::Context;
use crate::error::CommandError;
use crate::live;
use crate::out::Out;
use crate::report::{HealthReport, summary};
use crate::sign_in::sign_in_hint_after_check;

/// What came of trying the server.
pub(super) enum CheckOutcome {
    /// It was looked at.
    Settled(Box<(Planned, Checked)>),
    /// It has not answered in time; the package runner that still downloads it, if one does.
    Late { downloader: Option<String> },
    /// It may not run yet, and was left alone; why, in one word.
    NotTried { standing: &'static str },
}

impl CheckOutcome {
    /// Reaches the server of this name for a few seconds.
    pub(super) fn of_added(name: &str, context: &Context, out: &mut Out) -> Result<Self, CommandError> {
        let loaded = context.load()?;
        let named = loaded.plan.named(name);
        let Some(server) = named.iter().find(|server| server.standing == ServerStanding::Ready) else {
            let standing = named.first().map_or("unknown", |server| server.standing.as_str());
            return Ok(Self::NotTried { standing });
        };
        let surroundings = context.surroundings(&loaded);
        let checkup = Checkup::of(surroundings.clone());
        let (mut found, mut downloads) = (None, Downloads::new());
        out.waiting(&format!("trying `{}` …", display(name)));
        let servers = [*server];
        let hear = |event| {
            if let Some(checked) = note_event(event, &mut downloads) {
                found = Some(checked);
            }
        };
        // A timer needs the runtime, so it is made inside.
        let trying =
            async { tokio::time::timeout(ADD_CHECK_TIME, checkup.check_with_events(&servers, hear)).await };
        let _late = live::run_with(&surroundings, trying)?;
        out.waited();
        let downloader = downloads.into_values().next().map(|runner| runner.to_string());
        Ok(match found {
            Some(checked) => Self::Settled(Box::new(((*server).clone(), checked))),
            None => Self::Late { downloader },
        })
    }

    /// The field `check` of `--json`: for a server that was looked at, what `list` has as `health`.
    pub(super) fn to_json(&self) -> Value {
        match self {
            Self::Settled(settled) => {
                let (server, checked) = &**settled;
                serde_json::to_value(HealthReport::of(server, checked)).unwrap_or_default()
            }
            Self::Late { downloader } => {
                let milliseconds = u64::try_from(ADD_CHECK_TIME.as_millis()).unwrap_or(u64::MAX);
                let mut report = json!({ "is": "timed-out", "milliseconds": milliseconds });
                if let Some(runner) = downloader {
                    report["downloader"] = runner.as_str().into();
                }
                report
            }
            Self::NotTried { standing } => json!({ "is": "not-tried", "standing": standing }),
        }
    }

    /// Tells a person. A server that may not run was told of with its entry.
    pub(super) fn tell(&self, out: &mut Out) {
        let seconds = ADD_CHECK_TIME.as_secs();
        match self {
            Self::Settled(settled) => tell_checked(&settled.0, &settled.1, out),
            Self::Late { downloader: Some(runner) } => out.remark(&format!(
                "`{runner}` has not downloaded it within {seconds} s; `mcparley list` gives it more time"
            )),
            Self::Late { downloader: None } => {
                out.remark(&format!(
                    "it has not answered within {seconds} s; `mcparley list` tries it again"
                ));
            }
            Self::NotTried { .. } => {}
        }
    }
}

fn tell_checked(server: &Planned, checked: &Checked, out: &mut Out) {
    match &checked.health {
        Health::Connected { .. } => out.remark(&format!("it answers: {}", summary(checked))),
        _ => {
            out.warn(&format!("it does not work yet: {}", summary(checked)));
            out.hint(&match checked.wants_sign_in {
                true => sign_in_hint_after_check(checked, server),
                false => format!("see why with `mcparley doctor {}`", server.name),
            });
        }
    }
}
