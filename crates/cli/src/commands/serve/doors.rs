//! `serve --http` and `serve --unix`: clients over HTTP, until a signal ends the program.

use std::path::Path;
use std::sync::Arc;

use mcparley::auth::CallbackEndpoint;
use mcparley::config::LoadedConfig;
use mcparley_door::{
    AccessPolicy, DoorListener, DoorOptions, Doors, GeneratedToken, IssuerSettings, TokenFile,
    TokenFileError, TokenPolicy,
};
use mcparley_gateway::control::serve_control;
use mcparley_gateway::{Gateway, Seal};
use mcparley_telemetry::TraceExport;
use mcparley_web::UiPage;
use mcparley_wire::transport::http::{Network, NetworkSettings};

use super::cluster::{has_shared_state, join_cluster, open_seal};
use super::{DenialPrinter, build_host, client_view, tool_budget, with_tasks};
use crate::args::{DoorArgs, ServeArgs};
use crate::commands::{CommandResult, warn_unusable_vectors};
use crate::context::Context;
use crate::error::{CommandError, DoorSetupError};
use crate::exit;
use crate::out::TerminalOutput;
use crate::runtime::{self, CANCEL_FLUSH_TIME};

pub(super) fn run(
    args: &ServeArgs,
    (context, loaded): (&Context, &LoadedConfig),
    traces: &mut TraceExport,
    out: &mut TerminalOutput,
) -> CommandResult {
    let budget = tool_budget(args, loaded, out);
    let host = build_host(args, context, loaded, out);
    runtime::run_server(host, async |host, stop| {
        warn_unusable_vectors(host.check_search_vectors().err(), out);
        if args.tasks && has_shared_state(&args.doors, context) {
            return Err(DoorSetupError::SharedTasks.into());
        }
        let listeners = bind_listeners(&args.doors).await?;
        let issuer = open_issuer(&args.doors, loaded, &listeners, out).await?;
        let cluster = join_cluster(&args.doors, context, &listeners).await?;
        let seal = open_seal(&args.doors, context, cluster.as_ref()).await?;
        let mut options = door_options(&args.doors, context, (seal, issuer), out)?;
        options.cluster = cluster;
        let gateway = Gateway::new(client_view(args, host).await?, budget).with_log_host(host);
        let gateway = with_tasks(gateway.with_mode(args.gateway_mode()), args, context)?;
        options.views = gateway.open_views(&loaded.settings.gateways).await?;
        print_addresses(&listeners, &args.doors, &options, out);
        if args.doors.ui {
            let page_options = super::super::ui::page_options(context);
            options.page = Some(Arc::new(UiPage::new(host, &gateway, page_options)));
        }
        let mut denials = DenialPrinter::subscribe_to(host);
        tokio::select! {
            () = Doors::new(&gateway, options, listeners).serve_until(stop) => {}
            never = denials.print_denials(serve_control(&gateway, context.control_folder()), traces, out) => {
                match never {}
            }
        }
        denials.print_remaining(out);
        tokio::time::sleep(CANCEL_FLUSH_TIME).await;
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

/// The issuer of clients' tokens, if one is named. One that does not answer now may do so later, so it is only
/// warned about.
async fn open_issuer(
    args: &DoorArgs,
    loaded: &LoadedConfig,
    listeners: &[DoorListener],
    out: &mut TerminalOutput,
) -> Result<Option<AccessPolicy>, CommandError> {
    let address = listeners.iter().find_map(DoorListener::address).filter(|_| !args.no_token);
    let Some((address, named)) = address.zip(args.token_issuer(&loaded.settings)) else { return Ok(None) };
    let variable = |name: &str| loaded.env.get(name).map(str::to_owned);
    let network = Network::new(NetworkSettings::from_lookup(variable));
    let settings = IssuerSettings::from_setting(&named, &format!("http://{address}/mcp"));
    let policy = AccessPolicy::new(&settings, &network).map_err(DoorSetupError::Issuer)?;
    if let Err(error) = policy.fetch_keys().await {
        out.warn(&format!("tokens of `{}` are refused until it answers: {error}", named.issuer));
    }
    Ok(Some(policy))
}

fn door_options(
    args: &DoorArgs,
    context: &Context,
    (seal, issuer): (Seal, Option<AccessPolicy>),
    out: &mut TerminalOutput,
) -> Result<DoorOptions, CommandError> {
    let tokens = match (&args.token_file, &issuer) {
        _ if args.no_token || args.http.is_none() => TokenPolicy::Open,
        (None, Some(_)) => TokenPolicy::Issuer,
        (Some(_), _) | (None, None) => {
            let path = args.token_file.clone().unwrap_or_else(|| context.gateway_path("tokens"));
            let (file, generated) = open_token_file(&path, context).map_err(DoorSetupError::Tokens)?;
            if let Some(token) = generated {
                out.print_message(format!("new token, shown only now: {}", token.as_str()));
            }
            TokenPolicy::File(file)
        }
    };
    Ok(DoorOptions {
        hosts: args.host.clone(),
        origins: args.allow_origin.clone(),
        issuer,
        rate: args.rate,
        has_sse: args.sse,
        callback: callback_endpoint(args)?,
        ..DoorOptions::new(tokens, seal)
    })
}

/// Opens the token file, which may be a credential of a service of systemd.
fn open_token_file(
    path: &Path,
    context: &Context,
) -> Result<(TokenFile, Option<GeneratedToken>), TokenFileError> {
    match context.run_options.env.get("CREDENTIALS_DIRECTORY") {
        Some(folder) if !folder.is_empty() && path.starts_with(folder) => {
            TokenFile::open_credential(path).map(|file| (file, None))
        }
        Some(_) | None => TokenFile::open(path),
    }
}

/// The redirect address of sign-ins below `--public-url`.
fn callback_endpoint(args: &DoorArgs) -> Result<Option<CallbackEndpoint>, CommandError> {
    let endpoint = args.public_url.as_ref().map(CallbackEndpoint::new).transpose();
    endpoint.map_err(|error| DoorSetupError::PublicUrl(error).into())
}

/// Prints where clients connect, and where the token is.
fn print_addresses(
    listeners: &[DoorListener],
    args: &DoorArgs,
    options: &DoorOptions,
    out: &mut TerminalOutput,
) {
    for listener in listeners {
        for endpoint in listener.describe_endpoints(options) {
            out.print_message(format!("listening on {endpoint}"));
        }
        let Some(address) = listener.address() else { continue };
        if args.ui {
            out.print_message(format!("web page at http://{address}/ui/"));
        }
        if let Some(issuer) = &options.issuer {
            let (issuer, resource) = (issuer.issuer(), issuer.resource().url_of(None));
            out.print_message(format!("clients send access tokens of `{issuer}` for `{resource}`"));
        }
        match &options.tokens {
            TokenPolicy::Open => {
                let range =
                    if address.ip().is_loopback() { "program on this" } else { "machine that reaches this" };
                out.warn(&format!("every {range} machine can connect: `--no-token` is set"));
            }
            TokenPolicy::File(file) => out.print_message(format!(
                "clients send `Authorization: Bearer TOKEN`; tokens are in `{}`, one `name:token` per line",
                file.path().display()
            )),
            TokenPolicy::Once(_) | TokenPolicy::Issuer => {}
        }
    }
}
