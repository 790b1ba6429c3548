//! The hooks that settings configure, and starting those that an event is for.

use std::collections::HashMap;
use std::ffi::OsString;
use std::sync::Arc;

use mcparley_model::hook::{Event, Hook};
use mcparley_model::name::ServerName;
use mcparley_model::permission::Mode;
use mcparley_platform::process::Launch;
use tokio::sync::Semaphore;

use super::answer::{Answer, Mute};
use super::command;
use super::input::Common;
use crate::launch::passed_on;
use crate::paths::Paths;
use crate::sources::Loaded;
use crate::task::Owned;

/// The names under which a command finds the project: as in Claude Code, and our own.
const PROJECT: [&str; 2] = ["CLAUDE_PROJECT_DIR", "MCPARLEY_PROJECT_DIR"];

/// What settings say about hooks.
pub(super) struct Force {
    hooks: Vec<Arc<Hook>>,
    env: Vec<(OsString, OsString)>,
    mode: Mode,
    /// Whether a hook that fails denies a call.
    pub(super) block_on_failure: bool,
    /// The scopes that servers are from.
    sources: HashMap<ServerName, &'static str>,
    paths: Arc<Paths>,
    /// Room for so many commands at once.
    room: Arc<Semaphore>,
}

/// Commands that run, each with its hook. They end when they are let go of.
pub(super) type Running = Vec<(Arc<Hook>, Owned<Result<Answer, Mute>>)>;

impl Force {
    /// No hooks at all.
    pub(super) fn none(paths: Arc<Paths>, room: Arc<Semaphore>) -> Self {
        let (hooks, env, mode) = (Vec::new(), Vec::new(), Mode::default());
        Self { hooks, env, mode, block_on_failure: false, sources: HashMap::new(), paths, room }
    }

    pub(super) fn new(loaded: &Loaded, paths: Arc<Paths>, room: Arc<Semaphore>) -> Self {
        let settings = &loaded.settings;
        let planned = loaded.plan.ready();
        Self {
            hooks: settings.hooks.ready(loaded.session),
            env: passed_on(&loaded.env),
            mode: settings.mode.as_ref().map_or(Mode::Default, |mode| mode.value),
            block_on_failure: settings.hooks.block_on_failure,
            sources: planned.map(|server| (server.name.clone(), server.scope.as_str())).collect(),
            paths,
            room,
        }
    }

    /// The events there are hooks for.
    pub(super) fn events(&self) -> impl Iterator<Item = Event> {
        self.hooks.iter().map(|hook| hook.event)
    }

    pub(super) fn common<'f>(&'f self, session: &'f str) -> Common<'f> {
        Common { session, cwd: &self.paths.cwd, mode: self.mode }
    }

    /// Where a server is from; those inside the program are from nowhere.
    pub(super) fn source(&self, server: Option<&ServerName>) -> &'static str {
        server.and_then(|server| self.sources.get(server)).copied().unwrap_or("program")
    }

    /// Starts every command that is for this event and name.
    pub(super) fn run(&self, event: Event, name: &str, input: impl Fn() -> Vec<u8>) -> Running {
        let wanted = self.hooks.iter().filter(|hook| hook.event == event && hook.matcher.fits(name));
        let mut written: Option<Arc<[u8]>> = None;
        let start = |hook: &Arc<Hook>| {
            let input = Arc::clone(written.get_or_insert_with(|| input().into()));
            let (launch, limit, room) = (self.launch(hook), hook.limit, Arc::clone(&self.room));
            let work = async move {
                // It is never closed; were it so, nobody would have to wait.
                let _room = room.acquire().await;
                let ran = command::run(&launch, &input, limit).await?;
                Answer::read(event, &ran)
            };
            (Arc::clone(hook), Owned::start(work))
        };
        wanted.map(start).collect()
    }

    fn launch(&self, hook: &Hook) -> Launch {
        let project = self.paths.project.as_os_str();
        let known = self.env.iter().filter(|(name, _)| !PROJECT.iter().any(|ours| name == ours));
        let ours = PROJECT.iter().map(|name| (OsString::from(name), project.to_owned()));
        let env = known.cloned().chain(ours).collect();
        let cwd = Some(self.paths.cwd.clone());
        let command = hook.command.expose();
        match &hook.args {
            None => Launch { program: "/bin/sh".into(), args: vec!["-c".into(), command.into()], env, cwd },
            Some(args) => {
                let filled = |text: &str| text.replace("${CLAUDE_PROJECT_DIR}", &project.to_string_lossy());
                let args = args.iter().map(|arg| filled(arg.expose()).into()).collect();
                Launch { program: filled(command).into(), args, env, cwd }
            }
        }
    }
}

/// What they say, in the order of their hooks.
pub(super) async fn answers(running: Running) -> Vec<(Arc<Hook>, Option<Result<Answer, Mute>>)> {
    let mut answers = Vec::new();
    for (hook, mut work) in running {
        answers.push((hook, work.done().await));
    }
    answers
}
