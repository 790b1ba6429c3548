//! Tries out orders of events around a renewal: `shuttle` decides at every point where a task waits which one goes on.
//!
//! What ships runs unchanged; only the authorization server is a few lines here, and the vault is memory. Orders of
//! several processes are drawn in the tests against real sockets and files.

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::task::Poll;

use mcparley_model::config::{Oauth, Remote};
use mcparley_model::name::ServerName;
use mcparley_model::secret::Secret;
use mcparley_model::text::Untrusted;
use mcparley_wire::authorizer::{Asking, Authorizer as _, Challenge, Credentials, Next, Wants};
use mcparley_wire::transport::http::Network;
use serde_json::json;
use shuttle::future::{block_on, spawn, yield_now};
use shuttle::rand::Rng as _;
use shuttle::scheduler::{PctScheduler, RandomScheduler, Scheduler};
use shuttle::{Config, MaxSteps, Runner};
use url::Url;

use super::{Account, Ground};
use crate::record::tests::record;
use crate::tokens::Kind;
use crate::vault::Expected;
use crate::web::{Page, Web};

/// How many schedules a scenario is run in by each of the two schedulers.
const SCHEDULES: usize = 2_000;

/// Where the schedulers begin, so that a run finds what the run before found.
const SEED: u64 = 79;

fn explore<W: Future<Output = ()> + 'static>(scenario: fn() -> W) {
    run(RandomScheduler::new_from_seed(SEED, SCHEDULES), scenario);
    run(PctScheduler::new_from_seed(SEED, 3, SCHEDULES), scenario);
}

fn run<W: Future<Output = ()> + 'static>(scheduler: impl Scheduler + 'static, scenario: fn() -> W) {
    let mut config = Config::new();
    config.stack_size = 1 << 18;
    config.max_steps = MaxSteps::FailAfter(50_000);
    config.silence_warnings = true;
    Runner::new(scheduler, config).run(move || {
        // Timers want a runtime; its clock stands still.
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build();
        let runtime = runtime.unwrap();
        let _inside = runtime.enter();
        block_on(scenario());
    });
}

/// An authorization server that rotates.
#[derive(Default)]
struct Rotating {
    /// The refresh token that is good.
    good: Mutex<u64>,
    asked: AtomicU64,
    replays: AtomicU64,
    /// How many requests are met with trouble first.
    trouble: AtomicU64,
}

impl Rotating {
    async fn answer(self: Arc<Self>, shown: String) -> Page {
        self.asked.fetch_add(1, Ordering::Relaxed);
        yield_now().await;
        if self.trouble.load(Ordering::Relaxed) > 0 {
            self.trouble.fetch_sub(1, Ordering::Relaxed);
            return page(500, &json!({}));
        }
        let next = {
            let mut good = self.good.lock().unwrap();
            if shown != format!("refresh-{good}") {
                self.replays.fetch_add(1, Ordering::Relaxed);
                return page(400, &json!({ "error": "invalid_grant" }));
            }
            *good += 1;
            *good
        };
        yield_now().await;
        let (access, refresh) = (format!("access-{next}"), format!("refresh-{next}"));
        page(200, &json!({ "access_token": access, "refresh_token": refresh, "token_type": "Bearer" }))
    }
}

fn page(status: u16, body: &serde_json::Value) -> Page {
    Page { status, headers: Vec::new(), body: body.to_string().into() }
}

/// A sign-in with the tokens `access-0` and `refresh-0`.
async fn signed_in() -> (Account, Arc<Rotating>) {
    let server = Arc::new(Rotating::default());
    let url: Url = "https://mcp.example/mcp".parse().unwrap();
    let answering = Arc::clone(&server);
    let web = Web::new(&Network::default(), &url).answered_by(move |form| {
        let shown = form.get("refresh_token").cloned().unwrap_or_default();
        Box::pin(Arc::clone(&answering).answer(shown))
    });
    let remote = Remote {
        url: Secret::new(url),
        headers: Vec::new(),
        headers_helper: None,
        oauth: Some(Oauth::default()),
    };
    let ground = Ground { web, vault: None, identity: None, folder: "/".into() };
    let account = Account::new(&ServerName::new("s"), &remote, ground);
    let mut record = record();
    if let Some(tokens) = &mut record.tokens {
        tokens.access = Secret::new("access-0".to_owned());
        tokens.refresh = Some(Secret::new("refresh-0".to_owned()));
        (tokens.kind, tokens.expires) = (Kind::Bearer, None);
    }
    assert!(account.write(record, Expected::Anything).await.is_ok());
    (account, server)
}

/// A caller whose token was refused; the token it goes on with, if it goes on.
async fn refused(account: Account, sent: Credentials) -> Option<String> {
    let challenge = Challenge { wants: Wants::SignIn, words: None };
    match account.refused(&sent, &challenge).await {
        Next::Again | Next::Try => carried(&account).await.token.map(|token| token.expose().clone()),
        Next::GiveUp | Next::Fail(_) => None,
    }
}

async fn carried(account: &Account) -> Credentials {
    let url: Url = "https://mcp.example/mcp".parse().unwrap();
    account.headers(Asking { method: "POST", url: &url }).await.unwrap()
}

/// Gives the future up after so many polls.
async fn given_up(after: u32, future: impl Future<Output = Option<String>>) -> Option<String> {
    let (mut future, mut left) = (pin!(future), after);
    poll_fn(|context| match left {
        0 => Poll::Ready(None),
        _ => {
            left -= 1;
            let polled = future.as_mut().poll(context);
            if left == 0 && polled.is_pending() { Poll::Ready(None) } else { polled }
        }
    })
    .await
}

// A3 F45 F79
#[test]
fn however_callers_come_and_go_a_token_is_renewed_once() {
    explore(|| async {
        let (account, server) = signed_in().await;
        let sent = carried(&account).await;
        let mut callers = Vec::new();
        for caller in 0..5 {
            let (account, sent) = (account.clone(), sent.clone());
            let polls = shuttle::rand::thread_rng().gen_range(1..8);
            callers.push(spawn(async move {
                match caller {
                    0 | 1 => given_up(polls, refused(account, sent)).await,
                    _ => Some(refused(account, sent).await.unwrap()),
                }
            }));
        }
        for caller in callers {
            let token = caller.await.unwrap();
            assert!(token.is_none_or(|token| token == "access-1"));
        }
        account.settle().await;
        assert_eq!(server.asked.load(Ordering::Relaxed), 1);
        assert_eq!(carried(&account).await.token.unwrap().expose(), "access-1");
    });
}

// A3
#[test]
fn who_settles_has_what_every_caller_left_behind() {
    explore(|| async {
        let (account, server) = signed_in().await;
        let sent = carried(&account).await;
        let draw = || shuttle::rand::thread_rng().gen_range(1..8);
        let callers = [draw(), draw()].map(|polls| {
            let (account, sent) = (account.clone(), sent.clone());
            spawn(given_up(polls, refused(account, sent)))
        });
        for caller in callers {
            caller.await.unwrap();
        }
        account.settle().await;
        let asked = server.asked.load(Ordering::Relaxed);
        let token = carried(&account).await.token.unwrap();
        assert_eq!((asked, token.expose().as_str()), (1, "access-1"), "a renewal that was begun is torn");
    });
}

// F81
#[test]
fn trouble_is_shared_by_those_who_wait_and_costs_no_token() {
    explore(|| async {
        let (account, server) = signed_in().await;
        server.trouble.store(1, Ordering::Relaxed);
        let sent = carried(&account).await;
        let callers: Vec<_> = (0..4).map(|_| spawn(refused(account.clone(), sent.clone()))).collect();
        for caller in callers {
            let token = caller.await.unwrap();
            assert!(token.is_none_or(|token| token == "access-1"));
        }
        assert!(server.asked.load(Ordering::Relaxed) <= 2);
        assert_eq!(refused(account, sent).await.unwrap(), "access-1");
        assert_eq!(server.replays.load(Ordering::Relaxed), 0);
    });
}

// A3 K4
#[test]
fn rights_that_are_wanted_meanwhile_cost_no_token() {
    explore(|| async {
        let (account, server) = signed_in().await;
        let sent = carried(&account).await;
        let renewing = spawn(refused(account.clone(), sent.clone()));
        let (wanting, wishes) = (account.clone(), sent.clone());
        let wanting = spawn(async move {
            let words = Untrusted::new("Bearer error=\"insufficient_scope\", scope=\"more\"");
            let challenge = Challenge { wants: Wants::MoreRights, words: Some(words) };
            wanting.refused(&wishes, &challenge).await;
        });
        assert_eq!(renewing.await.unwrap().unwrap(), "access-1");
        wanting.await.unwrap();
        let again = carried(&account).await;
        assert_eq!(refused(account, again).await.unwrap(), "access-2");
        assert_eq!(server.replays.load(Ordering::Relaxed), 0);
    });
}

// A3
#[test]
fn after_a_sign_out_no_renewal_brings_the_tokens_back() {
    explore(|| async {
        let (account, server) = signed_in().await;
        let sent = carried(&account).await;
        let renewing = spawn(refused(account.clone(), sent));
        let leaving = account.clone();
        let leaving = spawn(async move { leaving.sign_out().await.map(drop) });
        renewing.await.unwrap();
        assert!(leaving.await.unwrap().is_ok());
        account.settle().await;
        assert_eq!(carried(&account).await.token, None);
        assert!(server.asked.load(Ordering::Relaxed) <= 3, "a renewal, and two tokens given back");
    });
}
