//! Schedule exploration of the real connection actor: at every point where a task waits, `shuttle` decides
//! which task continues, the random numbers and the passing of time.
//!
//! The production code runs unchanged: the actor and all its tasks are tasks of `shuttle` (see [`executor`]).
//! Below them, the linked peers and the timers belong to a `tokio` runtime with a paused clock, which one
//! task of `shuttle` drives in small steps. A failing schedule is printed; [`replay`] repeats it.
//!
//! | topic | module |
//! |---|---|
//! | the executor behind `crate::task` | `executor` |
//! | a scripted server | `server` |
//! | one connection to it, and the conditions at the end | `world` |
//! | the allowed state transitions | `path` |
//! | the scenarios | `scenarios` |

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

/// The number of schedules per scenario, for each of the two schedulers.
const SCHEDULES: usize = 1_000;

/// The number of schedules for a long scenario.
const FEWER: usize = SCHEDULES / 4;

/// The seed of the schedulers, so that runs are reproducible. `SHUTTLE_RANDOM_SEED` sets another.
const SEED: u64 = 67;

/// The number of priority changes per schedule in the scheduler that looks for rare orders.
const CHANGES: usize = 3;

/// More steps than any finished schedule needs; a task that still waits then would wait forever.
const STEPS: usize = 50_000;

/// The stack size of one task; the largest is a handshake in a build without optimization.
const STACK: usize = 1 << 18;

/// Explores a scenario with both schedulers.
fn explore<W: Future<Output = ()> + 'static>(schedules: usize, scenario: fn() -> W) {
    run(RandomScheduler::new_from_seed(SEED, schedules), scenario);
    run(PctScheduler::new_from_seed(SEED, CHANGES, schedules), scenario);
}

/// Runs a scenario with the schedule that a failed test has printed.
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

/// Drives the `tokio` runtime: delivers messages and advances the clock in small random steps.
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

/// Waits until a condition holds; a schedule in which it never does exceeds the step limit.
async fn until(mut holds: impl FnMut() -> bool) {
    while !holds() {
        shuttle::future::yield_now().await;
    }
}
