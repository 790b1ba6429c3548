//! `serve --http` and `serve --unix`: clients over HTTP, until a signal ends the program.

use std::path::PathBuf;
use std::sync::Arc;

use mcparley::auth::CallbackEndpoint;
use mcparley::config::LoadedConfig;
use mcparley_gateway::control::serve_control;
use mcparley_gateway::{DoorListener, DoorOptions, Doors, Gateway, Seal, TokenFile, TokenPolicy};
use mcparley_web::UiPage;

use super::cluster::{join_cluster, open_seal};
use super::{DenialPrinter, FAREWELL, build_host, client_view, tool_budget, with_tasks};
use crate::args::{DoorArgs, ServeArgs};
use crate::commands::CommandResult;
use crate::context::Context;
use crate::error::{CommandError, DoorSetupError};
use crate::exit;
use crate::out::TerminalOutput;
use crate::runtime;

pub(super) fn run(
    args: &ServeArgs,
    context: &Context,
    loaded: &LoadedConfig,
    out: &mut TerminalOutput,
) -> CommandResult {
    let budget = tool_budget(args, loaded, out);
    let host = build_host(args, context, loaded, out);
    runtime::run_server(host, async |host, stop| {
        let listeners = bind_listeners(&args.doors).await?;
        let cluster = join_cluster(&args.doors, context, &listeners).await?;
        let seal = open_seal(&args.doors, context, cluster.as_ref()).await?;
        let mut options = door_options(&args.doors, context, seal, out)?;
        options.cluster = cluster;
        print_addresses(&listeners, &args.doors, context, out);
        let gateway = Gateway::new(client_view(args, host).await?, budget).with_log_host(host);
        let gateway = with_tasks(gateway.with_mode(args.gateway_mode()), args, context)?;
        if args.doors.ui {
            let page_options = super::super::ui::page_options(context);
            options.page = Some(Arc::new(UiPage::new(host, &gateway, page_options)));
        }
        let mut denials = DenialPrinter::subscribe_to(host);
        tokio::select! {
            () = Doors::new(&gateway, options, listeners).serve_until(stop) => {}
            never = denials.print_denials(serve_control(&gateway, context.control_folder()), out) => {
                match never {}
            }
        }
        denials.print_remaining(out);
        tokio::time::sleep(FAREWELL).await;
        Ok(exit::OK)
    })
}

async fn bind_listeners(args: &DoorArgs) -> Result<Vec<DoorListener>, CommandError> {
    let mut listeners = Vec::new();
    if let Some(address) = args.http {
        let listener = DoorListener::bind_tcp(address, args.any_address).await;
        listeners.push(listener.map_err(DoorSetupError::Listener)?);
    }
    if let Some(path) = &args.unix {
        listeners.push(DoorListener::bind_unix(path).await.map_err(DoorSetupError::Listener)?);
    }
    Ok(listeners)
}

fn door_options(
    args: &DoorArgs,
    context: &Context,
    seal: Seal,
    out: &mut TerminalOutput,
) -> Result<DoorOptions, CommandError> {
    let tokens = match args.no_token || args.http.is_none() {
        true => TokenPolicy::Open,
        false => {
            let path = token_path(args, context);
            let (file, generated) = TokenFile::open(&path).map_err(DoorSetupError::Tokens)?;
            if let Some(token) = generated {
                out.print_message(format!("new token, shown only now: {}", token.as_str()));
            }
            TokenPolicy::File(file)
        }
    };
    Ok(DoorOptions {
        hosts: args.host.clone(),
        origins: args.allow_origin.clone(),
        tokens,
        rate: args.rate,
        has_sse: args.sse,
        callback: callback_endpoint(args)?,
        seal,
        has_mcp: true,
        cluster: None,
        page: None,
    })
}

/// The redirect address of sign-ins below `--public-url`.
fn callback_endpoint(args: &DoorArgs) -> Result<Option<CallbackEndpoint>, CommandError> {
    let endpoint = args.public_url.as_ref().map(CallbackEndpoint::new).transpose();
    endpoint.map_err(|error| DoorSetupError::PublicUrl(error).into())
}

/// Prints where clients connect, and where the token is.
fn print_addresses(listeners: &[DoorListener], args: &DoorArgs, context: &Context, out: &mut TerminalOutput) {
    for listener in listeners {
        if let Some(address) = listener.address() {
            out.print_message(format!("listening on http://{address}/mcp"));
            if args.sse {
                out.print_message(format!("listening on http://{address}/sse (HTTP+SSE)"));
            }
            if args.ui {
                out.print_message(format!("web page at http://{address}/ui/"));
            }
            match args.no_token {
                true => out.warn("every program on this machine can connect: `--no-token` is set"),
                false => {
                    let path = token_path(args, context);
                    out.print_message(format!(
                        "clients send `Authorization: Bearer TOKEN`; tokens are in `{}`, one `name:token` per line",
                        path.display()
                    ));
                }
            }
        }
        if let Some(path) = listener.socket_path() {
            out.print_message(format!("listening on {}", path.display()));
        }
    }
}

fn token_path(args: &DoorArgs, context: &Context) -> PathBuf {
    args.token_file.clone().unwrap_or_else(|| context.gateway_path("tokens"))
}
