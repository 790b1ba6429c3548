//! `serve`: the host as one MCP server on standard input and output (G1).
//!
//! Standard output belongs to the client: nothing else is written there.

mod denials;
mod streams;

use std::time::Duration;

use mcparley::model::limits::FETCH_GRACE;
use mcparley::model::name::ServerName;
use mcparley::model::permission::Mode;
use mcparley::{AgentSpec, Budget, Host, HostBuilder, Loaded, RunOptions, Start};
use mcparley_gateway::{Gateway, serve};

use super::{Done, tell_problems};
use crate::args::{DeferArg, ServeArgs};
use crate::connectors;
use crate::context::{Context, stdin_is_terminal};
use crate::error::CommandError;
use crate::exit;
use crate::live;
use crate::out::Out;
use denials::Denials;

/// How long servers may still hear that calls are cancelled, before they are ended.
const FAREWELL: Duration = Duration::from_millis(50);

pub(super) fn run(args: &ServeArgs, context: &Context, loaded: &Loaded, out: &mut Out) -> Done {
    for name in args.only.iter().chain(&args.no_prefix) {
        if loaded.plan.named(name).is_empty() && name != super::usable::BUILT_IN {
            return Err(CommandError::NotFound { name: name.clone(), similar: loaded.similar(name) });
        }
    }
    tell_problems(loaded, out);
    if stdin_is_terminal() {
        out.remark("waiting for messages of an MCP client on standard input; Ctrl-D ends it");
    }
    let budget = budget(args, loaded, out);
    live::with_host(host(args, context, loaded, out), async |host| {
        let unavailable = |error: std::io::Error| CommandError::Unavailable {
            message: format!("standard input or output cannot be used: {error}"),
            hint: None,
        };
        let input = streams::input().map_err(unavailable)?;
        let (output, written) = streams::output().map_err(unavailable)?;
        let gateway = Gateway::new(view(args, host).await?, budget).with_logs_of(host);
        let mut denials = Denials::of(host);
        tokio::select! {
            () = serve(&gateway, input, output) => {}
            never = denials.tell(out) => match never {},
        }
        denials.tell_rest(out);
        written.wait();
        // A client that leaves early leaves what its servers offer to the next one. A signal ends the wait.
        let _settled = host.ready(FETCH_GRACE).await;
        tokio::time::sleep(FAREWELL).await;
        Ok(exit::OK)
    })
}

/// The host, which follows its files for as long as it serves.
fn host(args: &ServeArgs, context: &Context, loaded: &Loaded, out: &mut Out) -> HostBuilder {
    let organisation = connectors::organisation(context, loaded).unwrap_or_else(|error| {
        out.warn(&error.to_string());
        None
    });
    let run_options = RunOptions { fallback_mode: Some(Mode::Client), ..context.run_options.clone() };
    let host = Host::builder(&context.paths, &run_options).organisation(organisation).door("serve");
    let host = args.no_prefix.iter().fold(host, |host, server| host.no_prefix(server));
    let named = || args.only.iter().map(|name| ServerName::new(name)).collect();
    let host = if args.only.is_empty() { host } else { host.start_with(Start::Among(named())) };
    let is_wanted = args.only.iter().any(|name| name == super::usable::BUILT_IN);
    Gateway::prepare(if is_wanted { host.offer_own_server() } else { host.without_own_server() })
}

fn budget(args: &ServeArgs, loaded: &Loaded, out: &mut Out) -> Budget {
    match args.defer {
        DeferArg::Auto => super::budget::of_settings(None, loaded, out),
        DeferArg::Always => Budget::always_defer(),
        DeferArg::Never => Budget::unlimited(),
    }
}

/// What the client sees of it.
async fn view(args: &ServeArgs, host: &Host) -> Result<Host, CommandError> {
    if args.only.is_empty() {
        return Ok(host.clone());
    }
    let spec = args.only.iter().fold(AgentSpec::new("client"), |spec, server| spec.share(server));
    let agent = host.agent(spec).await?;
    Ok(Host::clone(&agent))
}
