//! Tries out orders of events on the real connection actor: `shuttle` decides at every point where a task waits
//! which one goes on, what chance gives and how time passes.
//!
//! What ships runs unchanged: the actor and everything it starts are tasks of `shuttle` (see [`executor`]); below
//! them, the linked peers and the timers are those of a `tokio` runtime with a clock that stands still, which one
//! task of `shuttle` drives in small steps. A failing schedule is printed; [`replay`] repeats it.
//!
//! | what | where |
//! |---|---|
//! | what is behind `crate::task` | `executor` |
//! | a server that does as it is told | `server` |
//! | one connection to it, and what must hold at the end | `world` |
//! | which states may follow each other | `path` |
//! | what is tried out | `scenarios` |

pub(crate) mod executor;
mod path;
mod scenarios;
mod server;
mod world;

use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use shuttle::scheduler::{PctScheduler, RandomScheduler, ReplayScheduler, Scheduler};
use shuttle::{Config, MaxSteps, Runner};
use tokio::runtime::{Builder, Runtime};

/// How many schedules a scenario is run in by each of the two schedulers.
const SCHEDULES: usize = 1_000;

/// The same for a scenario in which much happens.
const FEWER: usize = SCHEDULES / 4;

/// Where the schedulers begin, so that a run finds what the run before found. `SHUTTLE_RANDOM_SEED` begins elsewhere.
const SEED: u64 = 67;

/// How often the scheduler that looks for rare orders changes its mind in one schedule.
const CHANGES: usize = 3;

/// More steps than any schedule needs that comes to its end; who still waits then would wait for ever.
const STEPS: usize = 50_000;

/// Room for one task; the largest is a handshake in a build without optimisation.
const STACK: usize = 1 << 18;

/// Runs a scenario in twice so many schedules.
fn explore<W: Future<Output = ()> + 'static>(schedules: usize, scenario: fn() -> W) {
    run(RandomScheduler::new_from_seed(SEED, schedules), scenario);
    run(PctScheduler::new_from_seed(SEED, CHANGES, schedules), scenario);
}

/// Runs a scenario in the one schedule that a failed test has printed.
#[expect(dead_code, reason = "for whoever looks at a failure")]
fn replay<W: Future<Output = ()> + 'static>(scenario: fn() -> W, schedule: &str) {
    run(ReplayScheduler::new_from_encoded(schedule), scenario);
}

fn run<W: Future<Output = ()> + 'static>(scheduler: impl Scheduler + 'static, scenario: fn() -> W) {
    let mut config = Config::new();
    config.stack_size = STACK;
    config.max_steps = MaxSteps::FailAfter(STEPS);
    config.silence_warnings = true;
    Runner::new(scheduler, config).run(move || one_schedule(scenario));
}

fn one_schedule<W: Future<Output = ()> + 'static>(scenario: fn() -> W) {
    let runtime = Builder::new_current_thread().enable_time().start_paused(true).event_interval(1).build();
    let runtime = Arc::new(runtime.unwrap());
    let _inside = runtime.enter();
    let over = Arc::new(AtomicBool::new(false));
    let weather = shuttle::future::spawn_local(weather(Arc::clone(&runtime), Arc::clone(&over)));
    shuttle::future::block_on(async {
        scenario().await;
        over.store(true, Ordering::Relaxed);
        weather.await.unwrap();
    });
}

/// Carries messages on and lets time pass, now and then and never by much.
async fn weather(runtime: Arc<Runtime>, over: Arc<AtomicBool>) {
    while !over.load(Ordering::Relaxed) {
        match executor::number() % 8 {
            0 => runtime.block_on(tokio::time::advance(Duration::from_millis(1))),
            1 => runtime.block_on(tokio::time::advance(Duration::from_millis(100))),
            2 => runtime.block_on(tokio::time::advance(Duration::from_secs(1))),
            _ => runtime.block_on(tokio::task::yield_now()),
        }
        shuttle::future::yield_now().await;
    }
}

/// Waits until something holds; a schedule in which it never does is too long.
async fn until(mut holds: impl FnMut() -> bool) {
    while !holds() {
        shuttle::future::yield_now().await;
    }
}
