//! `state`: the state of all servers as one JSON document.

use mcparley::config::{LoadedConfig, StartPolicy};

use super::{CommandResult, base_exit_code, usable};
use crate::context::Context;
use crate::out::TerminalOutput;
use crate::runtime;

pub(super) fn run(context: &Context, loaded: LoadedConfig, out: &mut TerminalOutput) -> CommandResult {
    let code = base_exit_code(&loaded);
    let sharing = context.sharing_notes();
    let host =
        context.host_for_user(loaded, out.dialogs()).start_with(StartPolicy::All).skip_known_failures();
    runtime::run_with_host(host, async |host| {
        usable::wait_until_settled(host, out).await;
        let mut state = host.state();
        for server in &mut state.clients {
            server.sharing = sharing.explain_running(&host.loaded_config(), &server.name);
        }
        out.print_json(&state);
        Ok(code)
    })
}
