//! Model checks of token renewal: `shuttle` decides at every await point which task runs next.
//!
//! The production code runs unchanged; only the authorization server is a few lines here, and the vault is
//! memory. Orders across several processes are tested against real sockets and files.

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::task::Poll;

use mcparley_model::config::{OauthConfig, RemoteConfig};
use mcparley_model::name::ServerName;
use mcparley_model::secret::Secret;
use mcparley_model::text::Untrusted;
use mcparley_wire::authorizer::{
    Authorizer as _, Challenge, ChallengeKind, Credentials, RequestTarget, RetryDecision,
};
use mcparley_wire::transport::http::Network;
use serde_json::json;
use shuttle::future::{block_on, spawn, yield_now};
use shuttle::rand::Rng as _;
use shuttle::scheduler::{PctScheduler, RandomScheduler, Scheduler};
use shuttle::{Config, MaxSteps, Runner};
use url::Url;

use super::{Account, AccountDependencies, AccountOwner};
use crate::sign_in_record::tests::record;
use crate::tokens::Kind;
use crate::vault::ExpectedEntry;
use crate::web::{Web, WebResponse};

/// The number of schedules that each of the two schedulers runs per scenario.
const SCHEDULES: usize = 2_000;

/// The seed of the schedulers, so that a failure can be repeated.
const SEED: u64 = 79;

fn explore_schedules<W: Future<Output = ()> + 'static>(scenario: fn() -> W) {
    run_schedules(RandomScheduler::new_from_seed(SEED, SCHEDULES), scenario);
    run_schedules(PctScheduler::new_from_seed(SEED, 3, SCHEDULES), scenario);
}

fn run_schedules<W: Future<Output = ()> + 'static>(scheduler: impl Scheduler + 'static, scenario: fn() -> W) {
    let mut config = Config::new();
    config.stack_size = 1 << 18;
    config.max_steps = MaxSteps::FailAfter(50_000);
    config.silence_warnings = true;
    Runner::new(scheduler, config).run(move || {
        // Timers need a runtime; its clock is paused.
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build();
        let runtime = runtime.unwrap();
        let _inside = runtime.enter();
        block_on(scenario());
    });
}

/// An authorization server that rotates refresh tokens.
#[derive(Default)]
struct RotatingTokenServer {
    /// The number of the refresh token that is valid.
    good: Mutex<u64>,
    asked: AtomicU64,
    replays: AtomicU64,
    /// The number of requests that fail with a server error first.
    trouble: AtomicU64,
}

impl RotatingTokenServer {
    async fn answer_refresh(self: Arc<Self>, shown: String) -> WebResponse {
        self.asked.fetch_add(1, Ordering::Relaxed);
        yield_now().await;
        if self.trouble.load(Ordering::Relaxed) > 0 {
            self.trouble.fetch_sub(1, Ordering::Relaxed);
            return json_page(500, &json!({}));
        }
        let next = {
            let mut good = self.good.lock().unwrap();
            if shown != format!("refresh-{good}") {
                self.replays.fetch_add(1, Ordering::Relaxed);
                return json_page(400, &json!({ "error": "invalid_grant" }));
            }
            *good += 1;
            *good
        };
        yield_now().await;
        let (access, refresh) = (format!("access-{next}"), format!("refresh-{next}"));
        json_page(200, &json!({ "access_token": access, "refresh_token": refresh, "token_type": "Bearer" }))
    }
}

fn json_page(status: u16, body: &serde_json::Value) -> WebResponse {
    WebResponse { status, headers: Vec::new(), body: body.to_string().into() }
}

/// An account that is signed in with the tokens `access-0` and `refresh-0`.
async fn account_with_tokens() -> (Account, Arc<RotatingTokenServer>) {
    let server = Arc::new(RotatingTokenServer::default());
    let url: Url = "https://mcp.example/mcp".parse().unwrap();
    let answering = Arc::clone(&server);
    let web = Web::new(&Network::default(), &url).with_fake_answers(move |form| {
        let shown = form.get("refresh_token").cloned().unwrap_or_default();
        Box::pin(Arc::clone(&answering).answer_refresh(shown))
    });
    let remote = RemoteConfig {
        url: Secret::new(url),
        headers: Vec::new(),
        headers_helper: None,
        oauth: Some(OauthConfig::default()),
    };
    let ground = AccountDependencies {
        web,
        vault: None,
        identity: None,
        folder: "/".into(),
        owner: AccountOwner::User,
    };
    let account = Account::new(&ServerName::new("s"), &remote, ground);
    let mut record = record();
    if let Some(tokens) = &mut record.tokens {
        tokens.access = Secret::new("access-0".to_owned());
        tokens.refresh = Some(Secret::new("refresh-0".to_owned()));
        (tokens.kind, tokens.expires) = (Kind::Bearer, None);
    }
    assert!(account.write_record(record, ExpectedEntry::Any).await.is_ok());
    (account, server)
}

/// Reports a refused token; returns the token of the retry, if there is one.
async fn token_after_refusal(account: Account, sent: Credentials) -> Option<String> {
    let challenge = Challenge { kind: ChallengeKind::SignIn, www_authenticate: None };
    match account.handle_refusal(&sent, &challenge).await {
        RetryDecision::Retry | RetryDecision::RetryUnverified => {
            current_credentials(&account).await.token.map(|token| token.expose().clone())
        }
        RetryDecision::GiveUp | RetryDecision::Fail(_) => None,
    }
}

async fn current_credentials(account: &Account) -> Credentials {
    let url: Url = "https://mcp.example/mcp".parse().unwrap();
    account.authorize_request(RequestTarget { method: "POST", url: &url }).await.unwrap()
}

/// Drops the future after this many polls.
async fn abandon_after_polls(after: u32, future: impl Future<Output = Option<String>>) -> Option<String> {
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
fn token_is_renewed_once_even_when_callers_are_canceled() {
    explore_schedules(|| async {
        let (account, server) = account_with_tokens().await;
        let sent = current_credentials(&account).await;
        let mut callers = Vec::new();
        for caller in 0..5 {
            let (account, sent) = (account.clone(), sent.clone());
            let polls = shuttle::rand::thread_rng().gen_range(1..8);
            callers.push(spawn(async move {
                match caller {
                    0 | 1 => abandon_after_polls(polls, token_after_refusal(account, sent)).await,
                    _ => Some(token_after_refusal(account, sent).await.unwrap()),
                }
            }));
        }
        for caller in callers {
            let token = caller.await.unwrap();
            assert!(token.is_none_or(|token| token == "access-1"));
        }
        account.finish_pending_writes().await;
        assert_eq!(server.asked.load(Ordering::Relaxed), 1);
        assert_eq!(current_credentials(&account).await.token.unwrap().expose(), "access-1");
    });
}

// A3
#[test]
fn finish_pending_writes_waits_for_renewals_of_canceled_callers() {
    explore_schedules(|| async {
        let (account, server) = account_with_tokens().await;
        let sent = current_credentials(&account).await;
        let draw = || shuttle::rand::thread_rng().gen_range(1..8);
        let callers = [draw(), draw()].map(|polls| {
            let (account, sent) = (account.clone(), sent.clone());
            spawn(abandon_after_polls(polls, token_after_refusal(account, sent)))
        });
        for caller in callers {
            caller.await.unwrap();
        }
        account.finish_pending_writes().await;
        let asked = server.asked.load(Ordering::Relaxed);
        let token = current_credentials(&account).await.token.unwrap();
        assert_eq!((asked, token.expose().as_str()), (1, "access-1"), "a renewal that was begun is torn");
    });
}

// F81
#[test]
fn renewal_failure_is_shared_and_loses_no_token() {
    explore_schedules(|| async {
        let (account, server) = account_with_tokens().await;
        server.trouble.store(1, Ordering::Relaxed);
        let sent = current_credentials(&account).await;
        let callers: Vec<_> =
            (0..4).map(|_| spawn(token_after_refusal(account.clone(), sent.clone()))).collect();
        for caller in callers {
            let token = caller.await.unwrap();
            assert!(token.is_none_or(|token| token == "access-1"));
        }
        assert!(server.asked.load(Ordering::Relaxed) <= 2);
        assert_eq!(token_after_refusal(account, sent).await.unwrap(), "access-1");
        assert_eq!(server.replays.load(Ordering::Relaxed), 0);
    });
}

// A3 K4
#[test]
fn storing_wanted_scopes_during_a_renewal_loses_no_token() {
    explore_schedules(|| async {
        let (account, server) = account_with_tokens().await;
        let sent = current_credentials(&account).await;
        let renewing = spawn(token_after_refusal(account.clone(), sent.clone()));
        let (wanting, wishes) = (account.clone(), sent.clone());
        let wanting = spawn(async move {
            let words = Untrusted::new("Bearer error=\"insufficient_scope\", scope=\"more\"");
            let challenge = Challenge { kind: ChallengeKind::MoreRights, www_authenticate: Some(words) };
            wanting.handle_refusal(&wishes, &challenge).await;
        });
        assert_eq!(renewing.await.unwrap().unwrap(), "access-1");
        wanting.await.unwrap();
        let again = current_credentials(&account).await;
        assert_eq!(token_after_refusal(account, again).await.unwrap(), "access-2");
        assert_eq!(server.replays.load(Ordering::Relaxed), 0);
    });
}

// A3
#[test]
fn renewal_does_not_restore_tokens_after_a_sign_out() {
    explore_schedules(|| async {
        let (account, server) = account_with_tokens().await;
        let sent = current_credentials(&account).await;
        let renewing = spawn(token_after_refusal(account.clone(), sent));
        let leaving = account.clone();
        let leaving = spawn(async move { leaving.sign_out().await.map(drop) });
        renewing.await.unwrap();
        assert!(leaving.await.unwrap().is_ok());
        account.finish_pending_writes().await;
        assert_eq!(current_credentials(&account).await.token, None);
        assert!(server.asked.load(Ordering::Relaxed) <= 3, "a renewal, and two tokens given back");
    });
}
