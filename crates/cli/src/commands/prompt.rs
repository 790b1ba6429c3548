//! `prompt`: prints the messages of one prompt.

use mcparley::config::{LoadedConfig, StartPolicy};
use mcparley::model::name::ServerName;
use mcparley::prompt::{PromptCall, PromptError, PromptMessages};
use mcparley::results::ResourceBody;
use mcparley::{ContentBlock, Host};

use super::{CommandResult, usable};
use crate::args::PromptArgs;
use crate::context::Context;
use crate::error::{CommandError, UsageError};
use crate::exit;
use crate::out::TerminalOutput;
use crate::runtime;

pub(super) fn run(
    args: &PromptArgs,
    context: &Context,
    loaded: LoadedConfig,
    out: &mut TerminalOutput,
) -> CommandResult {
    let wanted = PromptTarget::from_args(args, &loaded)?;
    let start = wanted.servers_to_start(&loaded);
    runtime::run_with_host(context.host_for_model(loaded, out.dialogs()).start_with(start), async |host| {
        let call = wanted.build_call(host, out).await?;
        out.show_waiting(&format!("getting {} …", call.name()));
        let given = host.fetch_prompt(&call).await;
        out.stop_waiting();
        let given = given?;
        match out.json {
            true => out.print_json(&given),
            false => print_messages(&given, out),
        }
        Ok(exit::OK)
    })
}

/// The prompt to fetch, and the words after it.
enum PromptTarget<'a> {
    Of { server: &'a str, prompt: &'a str, words: &'a [String] },
    Public { name: &'a str, words: &'a [String] },
}

impl<'a> PromptTarget<'a> {
    fn from_args(args: &'a PromptArgs, loaded: &LoadedConfig) -> Result<Self, UsageError> {
        let (target, words) = (args.target.as_str(), args.words.as_slice());
        let name = target.strip_prefix('/').unwrap_or(target);
        if usable::is_tool_name(loaded, name) {
            return Ok(Self::Public { name, words });
        }
        let Some((prompt, words)) = words.split_first() else {
            return Err(UsageError::PromptMissing { server: target.to_owned() });
        };
        Ok(Self::Of { server: target, prompt, words })
    }

    fn servers_to_start(&self, loaded: &LoadedConfig) -> StartPolicy {
        match self {
            Self::Of { server, .. } => StartPolicy::Only(vec![ServerName::new(server)]),
            Self::Public { name, .. } => {
                usable::owning_servers(loaded, name).map_or(StartPolicy::AsNeeded, StartPolicy::Only)
            }
        }
    }

    /// Waits for the server and looks up the prompt.
    async fn build_call(&self, host: &Host, out: &mut TerminalOutput) -> Result<PromptCall, CommandError> {
        let (name, words) = match self {
            Self::Public { name, words } => {
                match usable::owning_server(&host.loaded_config(), name) {
                    Some(owner) => usable::settle_with_sign_in(host, &owner, out).await?,
                    None => usable::wait_until_settled(host, out).await,
                };
                ((*name).to_owned(), *words)
            }
            Self::Of { server, prompt, words } => {
                let server = usable::find_server(&host.loaded_config(), &host.servers(), server, out)?;
                usable::wait_until_usable(host, &server, out).await?;
                let prompts = host.prompts();
                let found = prompts.find_on_server(&server, prompt).or_else(|| prompts.get(prompt));
                let name = found.map(|prompt| prompt.name.as_str().to_owned());
                (name.ok_or_else(|| unknown_prompt_error(&prompts, &server, prompt))?, *words)
            }
        };
        let call = PromptCall::new(&name);
        Ok(words.iter().fold(call, |call, word| call.with_word(word)))
    }
}

fn unknown_prompt_error(
    prompts: &mcparley::prompt::Prompts,
    server: &ServerName,
    name: &str,
) -> CommandError {
    let own = prompts.iter().filter(|prompt| prompt.server == *server);
    let names: Vec<&str> = own.map(|prompt| prompt.original.as_str()).collect();
    let similar = mcparley_console::arguments::similar_spellings(name, names.into_iter());
    PromptError::Unknown { name: name.to_owned(), similar }.into()
}

/// Prints the messages; the role of each is a remark on stderr.
fn print_messages(given: &PromptMessages, out: &mut TerminalOutput) {
    let is_talk = given.messages.len() > 1;
    for message in &given.messages {
        if is_talk {
            out.print_remark(&format!("{}:", message.role.as_str()));
        }
        message.content.iter().for_each(|block| print_block(block, out));
    }
    if given.messages.is_empty() {
        out.print_remark("no messages");
    }
}

fn print_block(block: &ContentBlock, out: &mut TerminalOutput) {
    match block {
        ContentBlock::Text(text) => out.print_untrusted(text),
        ContentBlock::Resource { uri, body: ResourceBody::Text(text), .. } => {
            out.print_remark(&format!("resource {uri}"));
            out.print_untrusted(text);
        }
        ContentBlock::Link { uri, name, title, .. } => {
            out.print_untrusted(&format!("{} <{uri}>", title.as_ref().unwrap_or(name)));
        }
        ContentBlock::Note(note) => out.warn(note),
        ContentBlock::Image { mime, .. } => {
            out.print_remark(&format!("image ({mime}); use `--json` to get it"))
        }
        ContentBlock::Audio { mime, .. } => {
            out.print_remark(&format!("audio ({mime}); use `--json` to get it"))
        }
        ContentBlock::Resource { uri, .. } => {
            out.print_remark(&format!("resource {uri} (binary); use `--json` to get it"))
        }
    }
}
