//! `ui`: serves the web page of the servers on this machine, and opens it in the browser.

use mcparley::auth::BrowserPage;
use mcparley::auth::browser::BrowserOutcome;
use mcparley::config::{LoadedConfig, StartPolicy};
use mcparley::model::limits::PAGE_IDLE;
use mcparley_gateway::Gateway;
use mcparley_web::{LocalPage, PageOptions};
use serde_json::json;

use super::{CommandResult, print_problems};
use crate::args::UiArgs;
use crate::connectors;
use crate::context::{self, Context};
use crate::error::DoorSetupError;
use crate::exit;
use crate::out::TerminalOutput;
use crate::runtime;

pub(super) fn run(
    args: &UiArgs,
    context: &Context,
    loaded: LoadedConfig,
    out: &mut TerminalOutput,
) -> CommandResult {
    print_problems(&loaded, out);
    let organization = connectors::find_organization(context, &loaded).unwrap_or_default();
    let host = context
        .host_for_user(loaded, None)
        .watch_files(&context.run_options)
        .organization(organization)
        .start_with(StartPolicy::All)
        .without_built_in_server()
        .count_calls()
        .entry_point("ui");
    runtime::run_server(Gateway::offer_questions(host), async |host, stop| {
        let page = LocalPage::open(host, page_options(context), args.port);
        let page = page.await.map_err(DoorSetupError::from)?;
        let address = page.address();
        if out.json {
            out.print_json_line(&json!({ "address": address }));
        } else {
            out.print_line(&address);
            out.print_remark("press Ctrl-C to stop");
        }
        let open = async {
            if !args.no_open {
                open_browser(&address, out).await;
            }
        };
        tokio::join!(page.serve_until(stop, PAGE_IDLE), open);
        Ok(exit::OK)
    })
}

/// The options of the page, also for `serve --ui`.
pub(super) fn page_options(context: &Context) -> PageOptions {
    PageOptions { run_options: context.run_options.clone(), control_folder: context.control_folder() }
}

async fn open_browser(address: &str, out: &mut TerminalOutput) {
    let Ok(page) = BrowserPage::parse(address) else { return };
    match context::user_browser().open_page(&page).await {
        BrowserOutcome::Opened { .. } => {}
        BrowserOutcome::NoBrowser(reason) => out.hint(&format!("open the address yourself: {reason}")),
    }
}
