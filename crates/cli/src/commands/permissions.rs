//! `permissions`: what is decided about calls, the rules behind it, and tools that have changed.

mod list;
mod review;
mod rule;
mod test;

use mcparley::model::name::ServerName;
use mcparley::model::permission::KnownServers;
use mcparley::{Loaded, Remembered, Start};

use super::{Done, tell_problems};
use crate::args::PermissionsCommand;
use crate::context::Context;
use crate::out::Out;

pub(super) fn run(command: &PermissionsCommand, context: &Context, loaded: &Loaded, out: &mut Out) -> Done {
    use mcparley::model::permission::RuleKind::{Ask, Deny};
    match command {
        PermissionsCommand::Test(args) => test::run(args, context, loaded, out),
        PermissionsCommand::List(args) => list::run(args, context, loaded, out),
        PermissionsCommand::Allow(args) if args.as_is => rule::allow_as_is(args, context, loaded, out),
        PermissionsCommand::Allow(args) => rule::allow(args, context, out),
        PermissionsCommand::Ask(args) => rule::write(Ask, args, context, out),
        PermissionsCommand::Deny(args) => rule::write(Deny, args, context, out),
        PermissionsCommand::Remove(args) => rule::remove(args, context, loaded, out),
        PermissionsCommand::Review(args) => review::run(args, context, loaded, out),
    }
}

/// Every configured server, also those that do not run.
fn known(loaded: &Loaded) -> KnownServers {
    let built_in = ServerName::new(super::usable::BUILT_IN);
    KnownServers::new(loaded.plan.servers.iter().map(|server| server.name.clone()).chain([built_in]))
}

/// What is known of every tool without reaching a server.
fn remembered(context: &Context, loaded: &Loaded) -> Option<Remembered> {
    context.host(loaded.clone()).start_with(Start::OnDemand).remembered()
}
