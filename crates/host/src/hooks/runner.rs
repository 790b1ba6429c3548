//! Runs the hooks of a host, those in the settings and those of the program, and merges their answers.
//!
//! A host and its agents share one runner. The configured hooks are replaced as a whole when the settings
//! change. The check for the common case, a host without hooks, is one atomic load.

use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

use mcparley_model::hook::{Hook, HookEvent};
use mcparley_model::limits::HOOKS_AT_ONCE;
use mcparley_model::permission::PermissionVerdict;
use mcparley_model::text::{clean_text, truncate_text};
use tokio::sync::{Semaphore, watch};

use super::answer::{HookAnswer, HookFailure, sanitize_text};
use super::configured_hooks::{ConfiguredHooks, collect_answers};
use super::merge::{self, MergedPreHooks};
use super::notes::{HookNote, HookNotes};
use super::{Hooks, PostHookAnswer, PreHookAnswer, ToolUse, ToolUseResult};
use mcparley_config::LoadedConfig;
use mcparley_config::Paths;
use mcparley_pool::elicit::{Elicitation, ElicitationHooks, ElicitationReply, ElicitationRequest};
use mcparley_pool::task::AbortOnDropTask;
use mcparley_wire::peer::BoxedFuture;

/// The maximum length of a hook's name, which is the start of its command.
const NAME_CHARS: usize = 80;

/// The name for the hooks of an embedding program.
const INSIDE: &str = "of this program";

/// Runs the hooks of a host and its agents.
pub(crate) struct HookRunner {
    program_hooks: Vec<Arc<dyn Hooks>>,
    paths: Arc<Paths>,
    session: String,
    /// Bit mask of the events that some hook handles.
    event_mask: AtomicU8,
    configured: RwLock<Arc<ConfiguredHooks>>,
    /// Semaphore that limits how many hook commands run at once.
    permits: Arc<Semaphore>,
    notes: Arc<HookNotes>,
    /// The context from the session start hooks; `None` while they run.
    session_start: watch::Sender<Option<Vec<String>>>,
}

impl HookRunner {
    pub(crate) fn new(paths: Arc<Paths>, session: String, inside: Vec<Arc<dyn Hooks>>) -> Self {
        let room = Arc::new(Semaphore::new(HOOKS_AT_ONCE));
        let force = ConfiguredHooks::empty(Arc::clone(&paths), Arc::clone(&room));
        let this = Self {
            program_hooks: inside,
            paths,
            session,
            event_mask: AtomicU8::new(0),
            configured: RwLock::new(Arc::new(force)),
            permits: room,
            notes: Arc::default(),
            session_start: watch::Sender::new(Some(Vec::new())),
        };
        this.update_event_mask(std::iter::empty());
        this
    }

    /// Replaces the configured hooks by those of these settings.
    pub(crate) fn replace_configured(&self, loaded: &LoadedConfig) {
        let force =
            Arc::new(ConfiguredHooks::new(loaded, Arc::clone(&self.paths), Arc::clone(&self.permits)));
        *self.configured.write().unwrap_or_else(PoisonError::into_inner) = Arc::clone(&force);
        self.update_event_mask(force.events());
    }

    fn update_event_mask(&self, configured: impl Iterator<Item = HookEvent>) {
        let inside = self.program_hooks.iter().flat_map(|hooks| hooks.events()).copied();
        let events = configured.chain(inside);
        self.event_mask.store(events.fold(0, |bits, event| bits | event_bit(event)), Ordering::Release);
    }

    /// Whether some hook handles this event.
    pub(crate) fn has_hook_for(&self, event: HookEvent) -> bool {
        self.event_mask.load(Ordering::Acquire) & event_bit(event) != 0
    }

    pub(crate) fn notes(&self) -> Vec<HookNote> {
        self.notes.to_vec()
    }

    /// Runs all hooks for a tool that is about to be used.
    pub(crate) async fn run_pre_hooks(&self, about: ToolUse<'_>) -> MergedPreHooks {
        let (event, force) = (HookEvent::PreToolUse, self.configured_hooks());
        let input =
            || force.input_base(&self.session).tool_input(event, about, force.source(about.server), None);
        let running = force.start_matching(event, about.name.as_str(), input);
        let mut answers = Vec::new();
        for hooks in self.program_hooks_for(event) {
            answers.push((INSIDE.to_owned(), sanitize_answer(hooks.before_tool(about).await)));
        }
        for (hook, answered) in collect_answers(running).await {
            let name = hook_name(&hook);
            match self.note_answer(&hook, answered) {
                Ok(HookAnswer { verdict, reason, arguments, context, .. }) => {
                    answers.push((name, PreHookAnswer { verdict, reason, arguments, context }));
                }
                Err(HookFailure(why)) if force.block_on_failure => {
                    let verdict = Some(PermissionVerdict::Deny);
                    let reason = Some(format!("the hook failed, and `blockOnHookFailure` is set: {why}"));
                    answers.push((name, PreHookAnswer { verdict, reason, ..PreHookAnswer::default() }));
                }
                Err(_) => {}
            }
        }
        merge::merge_pre_hooks(answers)
    }

    /// Runs all hooks for a tool that was used. Returns the replacement of the result, and context for the
    /// model.
    pub(crate) async fn run_post_hooks(
        &self,
        event: HookEvent,
        about: ToolUse<'_>,
        ended: ToolUseResult<'_>,
    ) -> (Option<serde_json::Value>, Vec<String>) {
        let force = self.configured_hooks();
        let input = || {
            force.input_base(&self.session).tool_input(event, about, force.source(about.server), Some(ended))
        };
        let running = force.start_matching(event, about.name.as_str(), input);
        let mut answers = Vec::new();
        for hooks in self.program_hooks_for(event) {
            let PostHookAnswer { replacement, context } = hooks.after_tool(about, ended).await;
            answers.push(PostHookAnswer { replacement, context: context.as_deref().and_then(sanitize_text) });
        }
        for (hook, answered) in collect_answers(running).await {
            if let Ok(HookAnswer { verdict: _, reason, context, replacement, .. }) =
                self.note_answer(&hook, answered)
            {
                answers.push(PostHookAnswer { replacement, context: reason });
                answers.push(PostHookAnswer { replacement: None, context });
            }
        }
        merge::merge_post_hooks(answers)
    }

    /// Runs all hooks for an elicitation of a server; `None` leaves the question to the user.
    pub(crate) async fn answer_elicitation(&self, question: Elicitation<'_>) -> Option<ElicitationReply> {
        let (event, force) = (HookEvent::Elicitation, self.configured_hooks());
        let input = || {
            force.input_base(&self.session).elicitation_input(&question, force.source(Some(question.server)))
        };
        let running = force.start_matching(event, question.server.as_str(), input);
        let mut replies = Vec::new();
        for hooks in self.program_hooks_for(event) {
            let reply = hooks.on_elicitation(question).await;
            replies.extend(reply.and_then(|reply| self.validate_reply(INSIDE, &question, reply)));
        }
        for (hook, answered) in collect_answers(running).await {
            if let Ok(HookAnswer { reply: Some(reply), .. }) = self.note_answer(&hook, answered) {
                replies.extend(self.validate_reply(&hook_name(&hook), &question, reply));
            }
        }
        merge::merge_replies(replies)
    }

    /// Validates a reply of a hook: accepted content must match its form. A hook that accepts a page
    /// declares it handled; no page is opened or fetched for it.
    fn validate_reply(
        &self,
        hook: &str,
        question: &Elicitation<'_>,
        reply: ElicitationReply,
    ) -> Option<ElicitationReply> {
        let trouble = match (&reply, question.request) {
            (ElicitationReply::Decline | ElicitationReply::Cancel, _)
            | (ElicitationReply::Accept(_), ElicitationRequest::Page(_)) => return Some(reply),
            (ElicitationReply::Accept(content), ElicitationRequest::Form(form)) => {
                match form.check_content(content) {
                    Ok(()) => return Some(reply),
                    Err(misfits) => {
                        let reasons: Vec<String> = misfits.iter().map(ToString::to_string).collect();
                        format!("its answer does not fit the form: {}", reasons.join("; "))
                    }
                }
            }
        };
        self.note_failure(hook.to_owned(), HookEvent::Elicitation, &trouble);
        None
    }

    /// Starts the session start hooks in the background.
    pub(crate) fn start_session_hooks(self: &Arc<Self>) -> Option<AbortOnDropTask<()>> {
        if !self.has_hook_for(HookEvent::SessionStart) {
            return None;
        }
        self.session_start.send_replace(None);
        let this = Arc::clone(self);
        Some(AbortOnDropTask::start(async move {
            let force = this.configured_hooks();
            let running = force.start_matching(HookEvent::SessionStart, "startup", || {
                force.input_base(&this.session).session_start_input()
            });
            let mut contexts = Vec::new();
            for (hook, answered) in collect_answers(running).await {
                contexts.extend(this.note_answer(&hook, answered).ok().and_then(|answer| answer.context));
            }
            this.session_start.send_replace(Some(contexts));
        }))
    }

    /// The context from the session start hooks; waits until they have finished.
    pub(crate) async fn session_context(&self) -> Vec<String> {
        let mut started = self.session_start.subscribe();
        let contexts = started.wait_for(Option::is_some).await;
        contexts.ok().and_then(|contexts| contexts.clone()).unwrap_or_default()
    }

    fn program_hooks_for(&self, event: HookEvent) -> impl Iterator<Item = &Arc<dyn Hooks>> {
        self.program_hooks.iter().filter(move |hooks| hooks.events().contains(&event))
    }

    fn configured_hooks(&self) -> Arc<ConfiguredHooks> {
        Arc::clone(&self.configured.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Notes a hook's message for the user, or its failure.
    fn note_answer(
        &self,
        hook: &Hook,
        answered: Option<Result<HookAnswer, HookFailure>>,
    ) -> Result<HookAnswer, HookFailure> {
        let answered = answered.unwrap_or_else(|| Err(HookFailure("it was canceled".to_owned())));
        match &answered {
            Ok(HookAnswer { message: Some(text), .. }) => {
                let (text, event) = (text.clone(), hook.event);
                self.notes.push_note(HookNote { hook: hook_name(hook), event, text, is_trouble: false });
            }
            Ok(HookAnswer { message: None, .. }) => {}
            Err(HookFailure(why)) => self.note_failure(hook_name(hook), hook.event, why),
        }
        answered
    }

    fn note_failure(&self, hook: String, event: HookEvent, why: &str) {
        let text = clean_text(why).into_owned();
        self.notes.push_note(HookNote { hook, event, text, is_trouble: true });
    }
}

fn sanitize_answer(answer: PreHookAnswer) -> PreHookAnswer {
    let text = |text: Option<String>| text.as_deref().and_then(sanitize_text);
    PreHookAnswer { reason: text(answer.reason), context: text(answer.context), ..answer }
}

fn hook_name(hook: &Hook) -> String {
    truncate_text(&clean_text(&hook.display_command()), NAME_CHARS).into_owned()
}

fn event_bit(event: HookEvent) -> u8 {
    match event {
        HookEvent::PreToolUse => 1,
        HookEvent::PostToolUse => 2,
        HookEvent::PostToolUseFailure => 4,
        HookEvent::Elicitation => 8,
        HookEvent::SessionStart => 16,
    }
}

impl std::fmt::Debug for HookRunner {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("HookRunner").field("session", &self.session).finish_non_exhaustive()
    }
}

impl ElicitationHooks for HookRunner {
    fn has_elicitation_hooks(&self) -> bool {
        self.has_hook_for(HookEvent::Elicitation)
    }

    fn answer_question<'q>(&'q self, question: Elicitation<'q>) -> BoxedFuture<'q, Option<ElicitationReply>> {
        Box::pin(self.answer_elicitation(question))
    }
}
