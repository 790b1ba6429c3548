//! `reconnect`: tries a server now, and has every running host connect to it anew.

use mcparley::change::request_reconnect;
use mcparley::model::name::ServerName;
use mcparley::model::plan::{Planned, ServerStanding};
use mcparley::{Checked, Checkup, Loaded};

use super::waiting::{Downloads, note_event, waiting_text};
use super::{Done, list, tell_problems};
use crate::args::ReconnectArgs;
use crate::context::Context;
use crate::error::CommandError;
use crate::exit::{self, Code};
use crate::live;
use crate::out::Out;
use crate::report::{HealthReport, ListedReport, effective};

pub(super) fn run(args: &ReconnectArgs, context: &Context, loaded: &Loaded, out: &mut Out) -> Done {
    let server = find_server(&args.name, loaded, out)?;
    let surroundings = context.surroundings(loaded);
    // First: whoever gives up waiting here has still asked the others.
    request_reconnect(&surroundings, server)?;
    let mut downloads = Downloads::new();
    out.waiting(&waiting_text(1, &downloads));
    let checkup = Checkup::of(surroundings.clone());
    let mut found = None;
    let servers = [server];
    let checking = checkup.check_with_events(&servers, |event| match note_event(event, &mut downloads) {
        Some(checked) => found = Some(checked),
        None => out.waiting(&waiting_text(1, &downloads)),
    });
    live::run_with(&surroundings, checking)?;
    out.waited();
    let health = found.as_ref().map(|checked| HealthReport::of(server, checked));
    if out.json {
        out.value(&ListedReport::of(server, health.as_ref()));
    } else {
        if let Some(checked) = &found {
            list::print_checked(server, checked, out);
        }
        out.remark("every running `mcparley serve` that has it connects anew too");
    }
    Ok(code(found.as_ref()))
}

/// The server of this name, if it may run.
fn find_server<'l>(name: &str, loaded: &'l Loaded, out: &mut Out) -> Result<&'l Planned, CommandError> {
    let declared = effective(&loaded.plan).into_iter().find(|server| server.name.as_str() == name);
    match declared {
        Some(server) if server.standing == ServerStanding::Ready => Ok(server),
        Some(server) => {
            let standing = Box::new(server.standing.clone());
            Err(CommandError::ServerStanding { name: ServerName::new(name), standing })
        }
        None => {
            // It may stand in a file that could not be read.
            tell_problems(loaded, out);
            Err(CommandError::NotFound { name: name.to_owned(), similar: loaded.similar(name) })
        }
    }
}

fn code(checked: Option<&Checked>) -> Code {
    match checked {
        Some(checked) if checked.works() => exit::OK,
        Some(checked) if checked.wants_sign_in => exit::NEEDS_AUTH,
        Some(_) | None => exit::UNREACHABLE,
    }
}
