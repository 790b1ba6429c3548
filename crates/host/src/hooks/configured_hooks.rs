//! The configured hooks: those in the settings, and starting the ones that match an event.

use std::collections::HashMap;
use std::ffi::OsString;
use std::sync::Arc;

use mcparley_model::hook::{Hook, HookEvent};
use mcparley_model::name::ServerName;
use mcparley_model::permission::PermissionMode;
use mcparley_platform::process::ProgramLaunch;
use tokio::sync::Semaphore;

use super::answer::{HookAnswer, HookFailure};
use super::command;
use super::input::HookInputBase;
use mcparley_config::LoadedConfig;
use mcparley_config::Paths;
use mcparley_pool::launch::inherited_variables;
use mcparley_pool::task::AbortOnDropTask;

/// The environment variables that give a command the project's folder: Claude Code's name, and our own.
const PROJECT: [&str; 2] = ["CLAUDE_PROJECT_DIR", "MCPARLEY_PROJECT_DIR"];

/// The hooks in the settings, and the values they run with.
pub(super) struct ConfiguredHooks {
    hooks: Vec<Arc<Hook>>,
    env: Vec<(OsString, OsString)>,
    mode: PermissionMode,
    /// Whether a hook that fails denies the call.
    pub(super) block_on_failure: bool,
    /// The scope that each server was configured in.
    sources: HashMap<ServerName, &'static str>,
    paths: Arc<Paths>,
    /// Semaphore that limits how many hook commands run at once.
    permits: Arc<Semaphore>,
}

/// Running hook commands, each with its hook. Dropping them ends the commands.
pub(super) type RunningHooks = Vec<(Arc<Hook>, AbortOnDropTask<Result<HookAnswer, HookFailure>>)>;

impl ConfiguredHooks {
    /// No configured hooks.
    pub(super) fn empty(paths: Arc<Paths>, permits: Arc<Semaphore>) -> Self {
        let (hooks, env, mode) = (Vec::new(), Vec::new(), PermissionMode::default());
        Self { hooks, env, mode, block_on_failure: false, sources: HashMap::new(), paths, permits }
    }

    pub(super) fn new(loaded: &LoadedConfig, paths: Arc<Paths>, permits: Arc<Semaphore>) -> Self {
        let settings = &loaded.settings;
        let planned = loaded.plan.ready_servers();
        Self {
            hooks: settings.hooks.ready_hooks(loaded.session),
            env: inherited_variables(&loaded.env),
            mode: settings.mode.as_ref().map_or(PermissionMode::Default, |mode| mode.value),
            block_on_failure: settings.hooks.block_on_failure,
            sources: planned.map(|server| (server.name.clone(), server.scope.as_str())).collect(),
            paths,
            permits,
        }
    }

    /// The events that the configured hooks handle.
    pub(super) fn events(&self) -> impl Iterator<Item = HookEvent> {
        self.hooks.iter().map(|hook| hook.event)
    }

    pub(super) fn input_base<'f>(&'f self, session: &'f str) -> HookInputBase<'f> {
        HookInputBase { session, cwd: &self.paths.cwd, mode: self.mode }
    }

    /// The scope of a server; `program` for those inside the program.
    pub(super) fn source(&self, server: Option<&ServerName>) -> &'static str {
        server.and_then(|server| self.sources.get(server)).copied().unwrap_or("program")
    }

    /// Starts every hook command that matches this event and name.
    pub(super) fn start_matching(
        &self,
        event: HookEvent,
        name: &str,
        input: impl Fn() -> Vec<u8>,
    ) -> RunningHooks {
        let wanted = self.hooks.iter().filter(|hook| hook.event == event && hook.matcher.matches(name));
        let mut written: Option<Arc<[u8]>> = None;
        let start = |hook: &Arc<Hook>| {
            let input = Arc::clone(written.get_or_insert_with(|| input().into()));
            let (launch, limit, room) = (self.hook_launch(hook), hook.limit, Arc::clone(&self.permits));
            let work = async move {
                // The semaphore is never closed; if it were, no hook would have to wait.
                let _room = room.acquire().await;
                let ran = command::run_with_limits(&launch, &input, limit).await?;
                HookAnswer::parse(event, &ran)
            };
            (Arc::clone(hook), AbortOnDropTask::start(work))
        };
        wanted.map(start).collect()
    }

    fn hook_launch(&self, hook: &Hook) -> ProgramLaunch {
        let project = self.paths.project.as_os_str();
        let known = self.env.iter().filter(|(name, _)| !PROJECT.iter().any(|ours| name == ours));
        let ours = PROJECT.iter().map(|name| (OsString::from(name), project.to_owned()));
        let env = known.cloned().chain(ours).collect();
        let cwd = Some(self.paths.cwd.clone());
        let command = hook.command.expose();
        match &hook.args {
            None => {
                ProgramLaunch { program: "/bin/sh".into(), args: vec!["-c".into(), command.into()], env, cwd }
            }
            Some(args) => {
                let filled = |text: &str| text.replace("${CLAUDE_PROJECT_DIR}", &project.to_string_lossy());
                let args = args.iter().map(|arg| filled(arg.expose()).into()).collect();
                ProgramLaunch { program: filled(command).into(), args, env, cwd }
            }
        }
    }
}

/// Waits for all running hooks and returns their answers in the order of the hooks.
pub(super) async fn collect_answers(
    running: RunningHooks,
) -> Vec<(Arc<Hook>, Option<Result<HookAnswer, HookFailure>>)> {
    let mut answers = Vec::new();
    for (hook, mut work) in running {
        answers.push((hook, work.join().await));
    }
    answers
}
