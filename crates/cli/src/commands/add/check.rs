//! Tries a server that was just added, so that what it offers is known before it is first used (L12).
//!
//! The entry is written whatever comes of it: what is found out is told beside, and never changes the exit code.

use mcparley::model::limits::ADD_CHECK_TIME;
use mcparley::model::plan::{Planned, Standing};
use mcparley::model::text::display;
use mcparley::{Checked, Checkup, Health};

use crate::context::Context;
use crate::error::CommandError;
use crate::live;
use crate::out::Out;
use crate::report::summary;
use crate::sign_in::sign_in_hint_after_check;

/// Reaches the server of this name for a few seconds and tells what came of it. One that may not run yet is left alone.
pub(super) fn check_added(name: &str, context: &Context, out: &mut Out) -> Result<(), CommandError> {
    let loaded = context.load()?;
    let named = loaded.plan.named(name);
    let Some(server) = named.into_iter().find(|server| server.standing == Standing::Ready) else {
        return Ok(());
    };
    let surroundings = context.surroundings(&loaded);
    let checkup = Checkup::of(surroundings.clone());
    let mut found = None;
    out.waiting(&format!("trying `{}` …", display(name)));
    let (servers, settled) = ([server], |checked| found = Some(checked));
    // A timer needs the runtime, so it is made inside. A server that is late is told as such below.
    let trying = async { tokio::time::timeout(ADD_CHECK_TIME, checkup.check(&servers, settled)).await };
    let _late = live::run_with(&surroundings, trying)?;
    out.waited();
    if !out.json {
        tell(server, found.as_ref(), out);
    }
    Ok(())
}

fn tell(server: &Planned, found: Option<&Checked>, out: &mut Out) {
    match found {
        Some(checked @ Checked { health: Health::Connected { .. }, .. }) => {
            out.remark(&format!("it answers: {}", summary(checked)));
        }
        Some(checked) => {
            out.warn(&format!("it does not work yet: {}", summary(checked)));
            out.hint(&match checked.wants_sign_in {
                true => sign_in_hint_after_check(checked, server),
                false => format!("see why with `mcparley doctor {}`", server.name),
            });
        }
        None => out.remark(&format!(
            "it has not answered within {} s; `mcparley list` tries it again",
            ADD_CHECK_TIME.as_secs()
        )),
    }
}
