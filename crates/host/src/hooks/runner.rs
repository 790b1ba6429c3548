//! Runs the hooks of a host, those of the settings and those of the program, and combines their answers.
//!
//! One for a host and its agents. The configured hooks are replaced whole when the settings change. Who asks in vain, as
//! every call of a host without hooks does, reads one number.

use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

use mcparley_model::hook::{Event, Hook};
use mcparley_model::limits::HOOKS_AT_ONCE;
use mcparley_model::permission::Verdict;
use mcparley_model::text::{clean, cut};
use tokio::sync::{Semaphore, watch};

use super::answer::{Answer, Mute, told};
use super::force::{Force, answers};
use super::merge::{self, Said};
use super::notes::{HookNote, Notes};
use super::{After, Before, Ended, Hooks, ToolUse};
use crate::elicit::{Ask, Elicitation, Reply};
use crate::paths::Paths;
use crate::sources::Loaded;
use crate::task::Owned;

/// How many characters of a command name it.
const NAME_CHARS: usize = 80;

/// What the hooks of an embedding program are called.
const INSIDE: &str = "of this program";

/// Runs the hooks of a host and its agents.
pub(crate) struct HookRunner {
    inside: Vec<Arc<dyn Hooks>>,
    paths: Arc<Paths>,
    session: String,
    /// The events that a hook is for, one bit each.
    heard: AtomicU8,
    force: RwLock<Arc<Force>>,
    /// Room for so many commands at once.
    room: Arc<Semaphore>,
    notes: Arc<Notes>,
    /// What the hooks of the start have told; nothing while they run.
    began: watch::Sender<Option<Vec<String>>>,
}

impl HookRunner {
    pub(crate) fn new(paths: Arc<Paths>, session: String, inside: Vec<Arc<dyn Hooks>>) -> Self {
        let room = Arc::new(Semaphore::new(HOOKS_AT_ONCE));
        let force = Force::none(Arc::clone(&paths), Arc::clone(&room));
        let this = Self {
            inside,
            paths,
            session,
            heard: AtomicU8::new(0),
            force: RwLock::new(Arc::new(force)),
            room,
            notes: Arc::default(),
            began: watch::Sender::new(Some(Vec::new())),
        };
        this.note_heard(std::iter::empty());
        this
    }

    /// From now on the hooks of these settings run.
    pub(crate) fn put(&self, loaded: &Loaded) {
        let force = Arc::new(Force::new(loaded, Arc::clone(&self.paths), Arc::clone(&self.room)));
        *self.force.write().unwrap_or_else(PoisonError::into_inner) = Arc::clone(&force);
        self.note_heard(force.events());
    }

    fn note_heard(&self, configured: impl Iterator<Item = Event>) {
        let inside = self.inside.iter().flat_map(|hooks| hooks.events()).copied();
        let events = configured.chain(inside);
        self.heard.store(events.fold(0, |bits, event| bits | bit(event)), Ordering::Release);
    }

    /// Whether there is a hook for this event.
    pub(crate) fn hears(&self, event: Event) -> bool {
        self.heard.load(Ordering::Acquire) & bit(event) != 0
    }

    pub(crate) fn notes(&self) -> Vec<HookNote> {
        self.notes.all()
    }

    /// What all hooks say about a tool that is about to be used.
    pub(crate) async fn before(&self, about: ToolUse<'_>) -> Said {
        let (event, force) = (Event::PreToolUse, self.force());
        let input = || force.common(&self.session).tool(event, about, force.source(about.server), None);
        let running = force.run(event, about.name.as_str(), input);
        let mut said = Vec::new();
        for hooks in self.inside_for(event) {
            said.push((INSIDE.to_owned(), cleaned(hooks.before(about).await)));
        }
        for (hook, answered) in answers(running).await {
            let name = name(&hook);
            match self.heard(&hook, answered) {
                Ok(Answer { verdict, reason, arguments, context, .. }) => {
                    said.push((name, Before { verdict, reason, arguments, context }));
                }
                Err(Mute(why)) if force.block_on_failure => {
                    let verdict = Some(Verdict::Deny);
                    let reason = Some(format!("the hook failed, and such hooks block: {why}"));
                    said.push((name, Before { verdict, reason, ..Before::default() }));
                }
                Err(_) => {}
            }
        }
        merge::before(said)
    }

    /// What all hooks say about a tool that was used: another result, and what a model is to be told besides.
    pub(crate) async fn after(
        &self,
        event: Event,
        about: ToolUse<'_>,
        ended: Ended<'_>,
    ) -> (Option<serde_json::Value>, Vec<String>) {
        let force = self.force();
        let input =
            || force.common(&self.session).tool(event, about, force.source(about.server), Some(ended));
        let running = force.run(event, about.name.as_str(), input);
        let mut said = Vec::new();
        for hooks in self.inside_for(event) {
            let After { replacement, context } = hooks.after(about, ended).await;
            said.push(After { replacement, context: context.as_deref().and_then(told) });
        }
        for (hook, answered) in answers(running).await {
            if let Ok(Answer { verdict: _, reason, context, replacement, .. }) = self.heard(&hook, answered) {
                said.push(After { replacement, context: reason });
                said.push(After { replacement: None, context });
            }
        }
        merge::after(said)
    }

    /// What hooks answer to a question of a server; nothing leaves it to the person.
    pub(crate) async fn elicited(&self, question: Elicitation<'_>) -> Option<Reply> {
        let (event, force) = (Event::Elicitation, self.force());
        let input = || force.common(&self.session).question(&question, force.source(Some(question.server)));
        let running = force.run(event, question.server.as_str(), input);
        let mut replies = Vec::new();
        for hooks in self.inside_for(event) {
            let reply = hooks.elicitation(question).await;
            replies.extend(reply.and_then(|reply| self.fitting(INSIDE, &question, reply)));
        }
        for (hook, answered) in answers(running).await {
            if let Ok(Answer { reply: Some(reply), .. }) = self.heard(&hook, answered) {
                replies.extend(self.fitting(&name(&hook), &question, reply));
            }
        }
        merge::replies(replies)
    }

    /// The reply, if it is one that may be passed on: content fits its form. A hook that accepts a page says that the page
    /// is dealt with; nothing is opened or fetched for it.
    fn fitting(&self, hook: &str, question: &Elicitation<'_>, reply: Reply) -> Option<Reply> {
        let trouble = match (&reply, question.ask) {
            (Reply::Decline | Reply::Cancel, _) | (Reply::Accept(_), Ask::Page(_)) => return Some(reply),
            (Reply::Accept(content), Ask::Form(form)) => match form.check(content) {
                Ok(()) => return Some(reply),
                Err(misfits) => {
                    let reasons: Vec<String> = misfits.iter().map(ToString::to_string).collect();
                    format!("its answer does not fit the form: {}", reasons.join("; "))
                }
            },
        };
        self.trouble(hook.to_owned(), Event::Elicitation, &trouble);
        None
    }

    /// Runs the hooks of the start, beside everything else.
    pub(crate) fn begin(self: &Arc<Self>) -> Option<Owned<()>> {
        if !self.hears(Event::SessionStart) {
            return None;
        }
        self.began.send_replace(None);
        let this = Arc::clone(self);
        Some(Owned::start(async move {
            let force = this.force();
            let running = force.run(Event::SessionStart, "startup", || force.common(&this.session).start());
            let mut contexts = Vec::new();
            for (hook, answered) in answers(running).await {
                contexts.extend(this.heard(&hook, answered).ok().and_then(|answer| answer.context));
            }
            this.began.send_replace(Some(contexts));
        }))
    }

    /// What the hooks of the start have told a model; waits for them.
    pub(crate) async fn context(&self) -> Vec<String> {
        let mut began = self.began.subscribe();
        let told = began.wait_for(Option::is_some).await;
        told.ok().and_then(|told| told.clone()).unwrap_or_default()
    }

    fn inside_for(&self, event: Event) -> impl Iterator<Item = &Arc<dyn Hooks>> {
        self.inside.iter().filter(move |hooks| hooks.events().contains(&event))
    }

    fn force(&self) -> Arc<Force> {
        Arc::clone(&self.force.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Notes what a hook tells the person, and what went wrong with it.
    fn heard(&self, hook: &Hook, answered: Option<Result<Answer, Mute>>) -> Result<Answer, Mute> {
        let answered = answered.unwrap_or_else(|| Err(Mute("it was given up".to_owned())));
        match &answered {
            Ok(Answer { message: Some(text), .. }) => {
                let (text, event) = (text.clone(), hook.event);
                self.notes.push(HookNote { hook: name(hook), event, text, is_trouble: false });
            }
            Ok(Answer { message: None, .. }) => {}
            Err(Mute(why)) => self.trouble(name(hook), hook.event, why),
        }
        answered
    }

    fn trouble(&self, hook: String, event: Event, why: &str) {
        let text = clean(why).into_owned();
        self.notes.push(HookNote { hook, event, text, is_trouble: true });
    }
}

fn cleaned(said: Before) -> Before {
    let text = |text: Option<String>| text.as_deref().and_then(told);
    Before { reason: text(said.reason), context: text(said.context), ..said }
}

fn name(hook: &Hook) -> String {
    cut(&clean(&hook.shown()), NAME_CHARS).into_owned()
}

fn bit(event: Event) -> u8 {
    match event {
        Event::PreToolUse => 1,
        Event::PostToolUse => 2,
        Event::PostToolUseFailure => 4,
        Event::Elicitation => 8,
        Event::SessionStart => 16,
    }
}

impl std::fmt::Debug for HookRunner {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("HookRunner").field("session", &self.session).finish_non_exhaustive()
    }
}
