//! `pending ID` and `pending answer ID`: answers an open question of a gateway.

use mcparley::PermissionAnswer;
use mcparley::config::change::AlwaysAllowScope;
use mcparley::elicit::{Elicitation, ElicitationReply, Elicitor as _};
use mcparley::model::name::ServerName;
use mcparley_console::dialog::TerminalDialogs;
use mcparley_gateway::control::{ControlError, GatewayConnection, find_gateways};
use mcparley_gateway::{PendingQuestion, QuestionDetails, TerminalAnswer};
use serde_json::{Value, json};

use super::table;
use crate::args::PendingAnswerArgs;
use crate::commands::CommandResult;
use crate::context::Context;
use crate::error::{CommandError, PendingError};
use crate::exit;
use crate::out::{TerminalOutput, bold};
use crate::runtime;

pub(super) fn run(args: &PendingAnswerArgs, context: &Context, out: &mut TerminalOutput) -> CommandResult {
    let answer = parse_answer(args)?;
    let (mut gateway, _) = find_question(&args.id, context)?;
    send_answer(&mut gateway, &args.id, &answer, out)
}

/// Asks the question on the terminal with the dialogs of `call`. Without dialogs it is shown.
pub(super) fn ask_on_terminal(id: &str, context: &Context, out: &mut TerminalOutput) -> CommandResult {
    // The connection is closed while the user thinks: it is limited in time.
    let (_, question) = find_question(id, context)?;
    let answer = match out.dialogs() {
        Some(dialogs) => runtime::run_cancelable(ask_user(&dialogs, &question))?,
        None => None,
    };
    match answer {
        Some(answer) => {
            let (mut gateway, _) = find_question(id, context)?;
            send_answer(&mut gateway, id, &answer, out)
        }
        None if out.json => {
            out.print_json(&question);
            Ok(exit::OK)
        }
        None => {
            table::print_questions(&[question], out);
            out.hint(&format!("run `mcparley pending answer {id}` with an answer; see its `--help`"));
            Ok(exit::OK)
        }
    }
}

/// Asks the user; `None` if there is no dialog for this question.
async fn ask_user(dialogs: &TerminalDialogs, question: &PendingQuestion) -> Option<TerminalAnswer> {
    let details = question.details.as_ref()?;
    if let QuestionDetails::Permission(summary) = details {
        return Some(match dialogs.ask_about_call(summary).await {
            PermissionAnswer::Allow => TerminalAnswer::Allow,
            PermissionAnswer::Always(scope) => TerminalAnswer::AlwaysTool { scope },
            PermissionAnswer::AlwaysServer(scope) => TerminalAnswer::AlwaysServer { scope },
            PermissionAnswer::Deny(message) => TerminalAnswer::Deny { message: Some(message) },
        });
    }
    let asked = details.elicitation()?;
    let server = ServerName::new(question.server.as_deref().unwrap_or_default());
    let elicitation = Elicitation {
        server: &server,
        message: &asked.message,
        request: &asked.request,
        is_call_known: true,
    };
    Some(match dialogs.ask(elicitation).await {
        ElicitationReply::Accept(content) => TerminalAnswer::Accept { content: Some(content) },
        ElicitationReply::Decline => TerminalAnswer::Decline,
        ElicitationReply::Cancel => TerminalAnswer::Cancel,
    })
}

/// The one gateway that has the question.
fn find_question(id: &str, context: &Context) -> Result<(GatewayConnection, PendingQuestion), CommandError> {
    let mut found = None;
    for mut gateway in find_gateways(&context.control_folder()).map_err(PendingError::Gateway)? {
        if let Ok(question) = gateway.find_question(id) {
            if found.is_some() {
                return Err(PendingError::Ambiguous { id: id.to_owned() }.into());
            }
            found = Some((gateway, question));
        }
    }
    found.ok_or_else(|| PendingError::NoQuestion { id: id.to_owned() }.into())
}

fn send_answer(
    gateway: &mut GatewayConnection,
    id: &str,
    answer: &TerminalAnswer,
    out: &mut TerminalOutput,
) -> CommandResult {
    gateway.answer_question(id, answer).map_err(|error| match error {
        ControlError::UnknownQuestion => PendingError::NoQuestion { id: id.to_owned() },
        error => PendingError::Gateway(error),
    })?;
    match out.json {
        true => out.print_json(&json!({ "answered": id })),
        false => out.print_line(format!("Answered {}", bold(id))),
    }
    Ok(exit::OK)
}

fn parse_answer(args: &PendingAnswerArgs) -> Result<TerminalAnswer, PendingError> {
    let PendingAnswerArgs { id: _, allow, always, deny, reason, accept, decline, cancel: _ } = args;
    if let Some(content) = accept {
        let content: Value = serde_json::from_str(content).map_err(PendingError::Content)?;
        return Ok(TerminalAnswer::Accept { content: Some(content) });
    }
    Ok(match () {
        () if *allow => TerminalAnswer::Allow,
        // The scope that the form of the gateway offers, which the repository in use cannot influence.
        () if *always => TerminalAnswer::AlwaysTool { scope: AlwaysAllowScope::Private },
        () if *deny => TerminalAnswer::Deny {
            message: reason.as_ref().map(|reason| format!("the user denied it: {reason}")),
        },
        () if *decline => TerminalAnswer::Decline,
        () => TerminalAnswer::Cancel,
    })
}
