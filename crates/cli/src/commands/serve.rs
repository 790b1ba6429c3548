//! `serve`: serves the host as one MCP server, on standard input and output or over HTTP.
//!
//! Standard output carries MCP messages only.

mod cluster;
mod denials;
mod doors;
mod streams;

use std::sync::Arc;

use mcparley::catalog::Budget;
use mcparley::config::{LoadedConfig, StartPolicy};
use mcparley::model::limits::FETCH_GRACE;
use mcparley::model::name::ServerName;
use mcparley::{AgentSpec, Host, HostBuilder};
use mcparley_gateway::control::serve_control;
use mcparley_gateway::{Gateway, Seal, serve};
use mcparley_telemetry::TraceExport;

use super::{CommandResult, print_problems, warn_unusable_vectors};
use crate::args::{DeferArg, ServeArgs};
use crate::connectors;
use crate::context::{Context, stdin_is_terminal};
use crate::error::{CommandError, DaemonCommandError, DoorSetupError, UnavailableError};
use crate::exit;
use crate::out::TerminalOutput;
use crate::runtime::{self, CANCEL_FLUSH_TIME};
pub(super) use denials::DenialPrinter;

pub(super) fn run(
    args: &ServeArgs,
    context: &Context,
    loaded: &LoadedConfig,
    out: &mut TerminalOutput,
) -> CommandResult {
    let named = args.only.iter().chain(&args.one).map(String::as_str);
    for name in named.chain(args.bare_servers()) {
        if loaded.plan.servers_by_name(name).is_empty() && name != super::usable::BUILT_IN {
            return Err(CommandError::NotFound {
                name: name.to_owned(),
                similar: loaded.similar_server_names(name),
            });
        }
    }
    print_problems(loaded, out);
    let mut traces = start_traces(context, out);
    if args.doors.is_used() {
        return doors::run(args, (context, loaded), &mut traces, out);
    }
    if stdin_is_terminal() {
        out.print_remark("waiting for an MCP client on standard input; press Ctrl-D to stop");
    }
    let budget = tool_budget(args, loaded, out);
    runtime::raise_descriptors();
    runtime::run_with_host(build_host(args, context, loaded, out), async |host| {
        warn_unusable_vectors(host.check_search_vectors().err(), out);
        let input = streams::open_input().map_err(UnavailableError::StandardStreams)?;
        let (output, written) = streams::open_output().map_err(UnavailableError::StandardStreams)?;
        let gateway = Gateway::new(client_view(args, host).await?, budget).with_log_host(host);
        let gateway = with_tasks(gateway.with_mode(args.gateway_mode()), args, context)?;
        let gateway = with_lasting_seal(gateway, args, context)?;
        let mut denials = DenialPrinter::subscribe_to(host);
        tokio::select! {
            () = serve(&gateway, input, output) => {}
            never = denials.print_denials(serve_control(&gateway, context.control_folder()), &mut traces, out) => {
                match never {}
            }
        }
        denials.print_remaining(out);
        written.wait_until_flushed();
        // If the client leaves early, pending lists are still fetched into the cache for the next client. A
        // signal cancels it.
        let _settled = host.wait_until_ready(FETCH_GRACE).await;
        tokio::time::sleep(CANCEL_FLUSH_TIME).await;
        Ok(exit::OK)
    })
}

/// Starts the export of traces, if the environment names a collector. Variables of the project folder do not count:
/// they could send the traces to another address.
fn start_traces(context: &Context, out: &mut TerminalOutput) -> TraceExport {
    let variable = |name: &str| context.run_options.env.get(name).map(str::to_owned);
    let (traces, mistakes) = TraceExport::start(variable);
    mistakes.iter().for_each(|mistake| out.warn(mistake));
    traces
}

/// Builds the host, which reloads its configuration when files change.
fn build_host(
    args: &ServeArgs,
    context: &Context,
    loaded: &LoadedConfig,
    out: &mut TerminalOutput,
) -> HostBuilder {
    let organization = connectors::find_organization(context, loaded).unwrap_or_else(|error| {
        out.warn(&error.to_string());
        None
    });
    let host = HostBuilder::new(&context.paths, loaded.clone()).watch_files(&context.run_options);
    let host = host.organization(organization).entry_point("serve").daemon(context.daemon());
    let has_limit = args.gateway_mode().for_model || has_model_view(args, loaded);
    let host = if has_limit { host } else { host.without_result_limit() };
    // Clients over HTTP may be on other machines, where paths of this one mean nothing.
    let host = if args.doors.http.is_some() { host.hide_result_paths() } else { host };
    let host = if args.doors.ui { host.count_calls() } else { host };
    let chosen: Vec<&String> = args.only.iter().chain(&args.one).collect();
    let named = || chosen.iter().map(|name| ServerName::new(name)).collect();
    let host = match (chosen.is_empty(), &args.one) {
        (true, _) => host,
        // Each client gets a connection that offers its own capabilities.
        (false, Some(_)) => host.start_with(StartPolicy::OnDemand),
        (false, None) => host.start_with(StartPolicy::Among(named())),
    };
    let is_wanted = chosen.iter().any(|name| *name == super::usable::BUILT_IN);
    Gateway::prepare_host(if is_wanted {
        host.offer_built_in_server()
    } else {
        host.without_built_in_server()
    })
}

/// Whether a view of the settings applies the limits for models.
fn has_model_view(args: &ServeArgs, loaded: &LoadedConfig) -> bool {
    args.doors.is_used() && loaded.settings.gateways.iter().any(|view| view.value.for_model == Some(true))
}

fn tool_budget(args: &ServeArgs, loaded: &LoadedConfig, out: &mut TerminalOutput) -> Budget {
    match args.defer {
        DeferArg::Auto => super::budget::budget_from_settings(None, loaded, out),
        DeferArg::Always => Budget::always_defer(),
        DeferArg::Never => Budget::without_limit(),
    }
}

/// The gateway, with durable calls if they are wanted.
fn with_tasks(gateway: Gateway, args: &ServeArgs, context: &Context) -> Result<Gateway, CommandError> {
    if !args.tasks {
        return Ok(gateway);
    }
    let calls = context.daemon_calls().ok_or(DaemonCommandError::NoProgram)?;
    Ok(gateway.with_durable_calls(Arc::new(calls)))
}

/// The gateway of standard streams, with ids of durable calls that stay valid in later processes.
fn with_lasting_seal(gateway: Gateway, args: &ServeArgs, context: &Context) -> Result<Gateway, CommandError> {
    if !args.tasks {
        return Ok(gateway);
    }
    let seal = Seal::from_file(&context.gateway_path("seal.key")).map_err(DoorSetupError::Seal)?;
    Ok(gateway.with_seal(seal))
}

/// The view of the client: all servers, or those of `--only` or `--one`.
async fn client_view(args: &ServeArgs, host: &Host) -> Result<Host, CommandError> {
    let chosen: Vec<&String> = args.only.iter().chain(&args.one).collect();
    if chosen.is_empty() {
        return Ok(host.clone());
    }
    let spec = chosen.into_iter().fold(AgentSpec::new("client"), |spec, server| spec.share_server(server));
    let agent = host.start_agent(spec).await?;
    Ok(Host::clone(&agent))
}
