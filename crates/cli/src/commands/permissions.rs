//! `permissions`: permission rules, decisions about calls, and changed tools.

mod list;
mod review;
mod rule;
mod test;

use mcparley::Host;
use mcparley::config::{LoadedConfig, StartPolicy};
use mcparley::model::name::ServerName;
use mcparley::model::permission::KnownServers;

use super::{CommandResult, print_problems};
use crate::args::PermissionsCommand;
use crate::context::Context;
use crate::error::CommandError;
use crate::out::TerminalOutput;
use crate::runtime;

pub(super) fn run(
    command: &PermissionsCommand,
    context: &Context,
    loaded: &LoadedConfig,
    out: &mut TerminalOutput,
) -> CommandResult {
    use mcparley::model::permission::RuleKind::{Ask, Deny};
    match command {
        PermissionsCommand::Test(args) => test::run(args, context, loaded, out),
        PermissionsCommand::List(args) => list::run(args, context, loaded, out),
        PermissionsCommand::Allow(args) if args.as_is => rule::run_allow_as_is(args, context, loaded, out),
        PermissionsCommand::Allow(args) => rule::run_allow(args, context, out),
        PermissionsCommand::Ask(args) => rule::write_rule(Ask, args, context, out),
        PermissionsCommand::Deny(args) => rule::write_rule(Deny, args, context, out),
        PermissionsCommand::Remove(args) => rule::run_remove(args, context, loaded, out),
        PermissionsCommand::Review(args) => review::run(args, context, loaded, out),
    }
}

/// All configured servers, including those that may not run, and the built-in one.
fn known_servers(loaded: &LoadedConfig) -> KnownServers {
    let built_in = ServerName::new(super::usable::BUILT_IN);
    KnownServers::new(loaded.plan.servers.iter().map(|server| server.name.clone()).chain([built_in]))
}

/// Reads the cached catalog without starting a server.
fn read_known_tools<T>(
    context: &Context,
    loaded: &LoadedConfig,
    read: impl FnOnce(&Host) -> T,
) -> Result<T, CommandError> {
    runtime::run_with_idle_host(
        context.host_for_model(loaded.clone(), None).start_with(StartPolicy::OnDemand),
        read,
    )
}
