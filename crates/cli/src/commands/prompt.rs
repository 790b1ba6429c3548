//! `prompt`: what a server makes of one of its prompts.

use mcparley::model::name::ServerName;
use mcparley::{Block, Body, Host, Loaded, PromptCall, PromptError, PromptMessages, Start};

use super::{Done, usable};
use crate::args::PromptArgs;
use crate::context::Context;
use crate::error::CommandError;
use crate::exit;
use crate::live;
use crate::out::Out;

pub(super) fn run(args: &PromptArgs, context: &Context, loaded: Loaded, out: &mut Out) -> Done {
    let wanted = Wanted::of(args, &loaded)?;
    let start = wanted.start(&loaded);
    live::with_host(context.host(loaded).start_with(start), async |host| {
        let call = wanted.call(host, out).await?;
        out.waiting(&format!("asking for {} …", call.name()));
        let given = host.prompt(&call).await;
        out.waited();
        let given = given?;
        match out.json {
            true => out.value(&given),
            false => print(&given, out),
        }
        Ok(exit::OK)
    })
}

/// The prompt, and the words behind it.
enum Wanted<'a> {
    Of { server: &'a str, prompt: &'a str, words: &'a [String] },
    Public { name: &'a str, words: &'a [String] },
}

impl<'a> Wanted<'a> {
    fn of(args: &'a PromptArgs, loaded: &Loaded) -> Result<Self, CommandError> {
        let (target, words) = (args.target.as_str(), args.words.as_slice());
        let name = target.strip_prefix('/').unwrap_or(target);
        if usable::is_tool_name(loaded, name) {
            return Ok(Self::Public { name, words });
        }
        let Some((prompt, words)) = words.split_first() else {
            let hint = format!("`mcparley prompts {target}` shows them");
            return Err(CommandError::usage(format!("which prompt of `{target}`?"), hint));
        };
        Ok(Self::Of { server: target, prompt, words })
    }

    fn start(&self, loaded: &Loaded) -> Start {
        match self {
            Self::Of { server, .. } => Start::Only(vec![ServerName::new(server)]),
            Self::Public { name, .. } => usable::owners(loaded, name).map_or(Start::AsNeeded, Start::Only),
        }
    }

    /// Waits for the server and looks the prompt up.
    async fn call(&self, host: &Host, out: &mut Out) -> Result<PromptCall, CommandError> {
        let (name, words) = match self {
            Self::Public { name, words } => {
                usable::settled(host, out).await;
                ((*name).to_owned(), *words)
            }
            Self::Of { server, prompt, words } => {
                let server = usable::named(&host.loaded(), &host.servers(), server, out)?;
                let servers = usable::settled(host, out).await;
                usable::usable(&servers, &server, out)?;
                let prompts = host.prompts();
                let found = prompts.find(&server, prompt).or_else(|| prompts.get(prompt));
                let name = found.map(|prompt| prompt.name.as_str().to_owned());
                (name.ok_or_else(|| no_prompt(&prompts, &server, prompt))?, *words)
            }
        };
        let call = PromptCall::new(&name);
        Ok(words.iter().fold(call, |call, word| call.with_word(word)))
    }
}

fn no_prompt(prompts: &mcparley::Prompts, server: &ServerName, name: &str) -> CommandError {
    let own = prompts.iter().filter(|prompt| prompt.server == *server);
    let names: Vec<&str> = own.map(|prompt| prompt.original.as_str()).collect();
    let similar = crate::arguments::similar(name, names.into_iter());
    let similar = similar.into_iter().map(str::to_owned).collect();
    PromptError::Unknown { name: name.to_owned(), similar }.into()
}

/// Prints what there is to read; whose words they are is talk.
fn print(given: &PromptMessages, out: &mut Out) {
    let is_talk = given.messages.len() > 1;
    for message in &given.messages {
        if is_talk {
            out.remark(&format!("{}:", message.role.as_str()));
        }
        message.content.iter().for_each(|block| print_block(block, out));
    }
    if given.messages.is_empty() {
        out.remark("no messages");
    }
}

fn print_block(block: &Block, out: &mut Out) {
    match block {
        Block::Text(text) => out.foreign(text),
        Block::Resource { uri, body: Body::Text(text), .. } => {
            out.remark(&format!("resource {uri}"));
            out.foreign(text);
        }
        Block::Link { uri, name, title, .. } => {
            out.foreign(&format!("{} <{uri}>", title.as_ref().unwrap_or(name)));
        }
        Block::Note(note) => out.warn(note),
        Block::Image { mime, .. } => out.remark(&format!("an image ({mime}); `--json` has it")),
        Block::Audio { mime, .. } => out.remark(&format!("a sound ({mime}); `--json` has it")),
        Block::Resource { uri, .. } => out.remark(&format!("resource {uri}, no text; `--json` has it")),
        _ => out.warn("a part of an unknown kind; `--json` shows it"),
    }
}
