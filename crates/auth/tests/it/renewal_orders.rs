//! Random orders of events around one renewal: callers of two processes that wait, cancel, or need more
//! scopes.
//!
//! The account uses real sockets and a real file, so the orders are not enumerated but drawn at random, by a
//! seed that a failure names.

use std::future::Future;
use std::sync::Arc;

use mcparley_auth::Account;
use mcparley_model::text::Untrusted;
use mcparley_wire::authorizer::{Authorizer as _, Challenge, ChallengeKind, Credentials, RetryDecision};

use crate::renewals::{cancelled_after, carried};
use crate::signing::Signing;

/// A pseudo-random number generator, deterministic by its seed.
struct Dice(u64);

impl Dice {
    fn throw(&mut self, sides: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % sides
    }
}

/// The behavior of one caller.
#[derive(Clone, Copy, Debug)]
enum Part {
    Waits,
    GivesUp { polls: usize },
    WantsMore { scope: u64 },
    Settles,
}

impl Part {
    fn drawn(dice: &mut Dice) -> Self {
        match dice.throw(6) {
            0 | 1 => Self::Waits,
            2 | 3 => Self::GivesUp { polls: 1 + usize::try_from(dice.throw(6)).unwrap() },
            4 => Self::WantsMore { scope: dice.throw(3) },
            _ => Self::Settles,
        }
    }

    /// Plays it; returns whether the caller was told to retry with other tokens, or `None` if it was
    /// canceled.
    async fn play(self, account: Account, sent: Arc<Credentials>) -> Option<bool> {
        let refused = Challenge { kind: ChallengeKind::SignIn, www_authenticate: None };
        match self {
            Self::Waits => Some(matches!(
                account.handle_refusal(&sent, &refused).await,
                RetryDecision::Retry | RetryDecision::RetryUnverified
            )),
            Self::GivesUp { polls } => {
                cancelled_after(polls, account.handle_refusal(&sent, &refused)).await;
                None
            }
            Self::WantsMore { scope } => {
                let words = format!("Bearer error=\"insufficient_scope\", scope=\"more-{scope}\"");
                let refused = Challenge {
                    kind: ChallengeKind::MoreRights,
                    www_authenticate: Some(Untrusted::new(words)),
                };
                account.handle_refusal(&sent, &refused).await;
                None
            }
            Self::Settles => {
                account.finish_pending_writes().await;
                None
            }
        }
    }
}

async fn all(parts: Vec<impl Future<Output = Option<bool>> + Send + 'static>) -> Vec<Option<bool>> {
    let running: Vec<_> = parts.into_iter().map(tokio::spawn).collect();
    let mut told = Vec::new();
    for part in running {
        told.push(part.await.unwrap());
    }
    told
}

// A3 F45 F79
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn heavy_token_is_renewed_once_in_every_order_of_events() {
    const ROUNDS: u64 = 300;
    let signing = Signing::start(&["refresh:rotate"]);
    let processes = [signing.signed_in().await, signing.account()];
    let (mut renewed, mut waited) = (0, 0);
    for seed in 0..ROUNDS {
        let mut dice = Dice(seed);
        let mut sent = Vec::new();
        for process in &processes {
            // An account that reads the vault has the tokens of the other.
            assert!(process.has_tokens().await);
            sent.push(carried(process).await);
        }
        assert_eq!(sent[0], sent[1], "seed {seed}");
        let sent = Arc::new(sent.swap_remove(0));
        let parts: Vec<Part> = (0..2 + dice.throw(6)).map(|_| Part::drawn(&mut dice)).collect();
        let played = parts.iter().map(|part| {
            let account = &processes[usize::try_from(dice.throw(2)).unwrap()];
            part.play(account.clone(), Arc::clone(&sent))
        });
        let told = all(played.collect()).await;
        for process in &processes {
            process.finish_pending_writes().await;
        }
        let now = signing.grants("refresh_token");
        assert!(now <= renewed + 1, "seed {seed}: {} renewals of one token: {parts:?}", now - renewed);
        assert!(told.iter().flatten().all(|goes_on| *goes_on), "seed {seed}: {parts:?} {told:?}");
        let is_renewed = now > renewed;
        waited += told.iter().flatten().count();
        assert!(is_renewed || told.iter().flatten().count() == 0, "seed {seed}: nobody renewed: {parts:?}");
        renewed = now;
    }
    let stats = signing.server.stats();
    println!("{ROUNDS} orders: {renewed} renewals, {waited} callers waited, replays {}", stats["replays"]);
    assert_eq!((stats["replays"].as_u64(), stats["errors"].as_object().unwrap().len()), (Some(0), 0));
    signing.server.expire_access_tokens();
    assert_eq!(signing.request(&signing.account()).await.unwrap(), "hi");
}
