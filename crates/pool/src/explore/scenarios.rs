//! The scenarios, each run in thousands of schedules.

use std::time::Duration;

use mcparley_model::config::{ServerConfig, StdioConfig, TransportConfig};
use mcparley_model::limits::RECONNECT_ATTEMPTS;
use shuttle::future::JoinHandle;
use shuttle::scheduler::{RandomScheduler, UncontrolledNondeterminismCheckScheduler};

use super::executor::number;
use super::server::ServerBehavior;
use super::world::{World, config};
use super::{FEWER, SCHEDULES, SEED, explore, run, until};
use crate::connection::{CALLS_GRACE, Connection, Epoch, ServerStatus, Unavailable};

/// The number of concurrent callers.
const CALLERS: usize = 4;

// L4 L7 F67: some callers see the loss, others believe that the session expired, and the actor gets the event
// itself.
#[test]
fn callers_of_a_lost_connection_share_one_reconnect() {
    explore(SCHEDULES, ending);
}

async fn ending() {
    let mut world = World::new(ServerBehavior::Steady);
    let first = world.first().await;
    let killer = world.kill(&first);
    let callers: Vec<_> = (0..CALLERS).map(|_| world.call(first.epoch)).collect();
    killer.await.unwrap();
    drop(first);
    let mut given = Vec::new();
    for caller in callers {
        given.push(caller.await.unwrap().expect("the server is well"));
    }
    assert!(given.iter().all(|epoch| *epoch == given[0]), "they share one: {given:?}");
    world.connected().await;
    assert_eq!(world.server.openings(), 2, "one reopening for all");
    world.end().await;
}

// L7: a call that still runs on the expired session keeps it open until the call has ended.
#[test]
fn expired_session_is_reopened_once_and_closes_after_its_last_call() {
    explore(SCHEDULES, expiring);
}

async fn expiring() {
    let mut world = World::new(ServerBehavior::Steady);
    let first = world.first().await;
    let callers: Vec<_> = (0..CALLERS).map(|_| world.call(first.epoch)).collect();
    for caller in callers {
        caller.await.unwrap().expect("the server is well");
    }
    assert!(!first.session.peer().is_ended(), "a call may still be running");
    assert_eq!(world.server.open(), 2);
    drop(first);
    world.connected().await;
    assert_eq!(world.server.openings(), 2, "one reopening for all");
    world.end().await;
}

// F67
#[test]
fn concurrent_loss_reconnect_and_list_change_leave_one_connection() {
    explore(SCHEDULES, all_at_once);
}

async fn all_at_once() {
    let mut world = World::new(ServerBehavior::Steady);
    let first = world.first().await;
    let killer = world.kill(&first);
    let epoch = first.epoch;
    drop(first);
    let commands = [
        killer,
        world.wish(|connection| async move { connection.reconnect().await }),
        world.change(),
        world.change(),
    ];
    let caller = world.call(epoch);
    for command in commands {
        command.await.unwrap();
    }
    caller.await.unwrap().expect("the server is well");
    world.connected().await;
    assert!((2..=3).contains(&world.server.openings()), "opened {} times", world.server.openings());
    world.end().await;
}

// L1 L4 F67: with any concurrent commands, every caller is answered and the server is usable afterwards.
#[test]
fn every_caller_is_answered_despite_concurrent_commands() {
    explore(SCHEDULES, anything);
}

async fn anything() {
    let mut world = World::new(ServerBehavior::Moody);
    let epoch = world.connection.lease().await.map_or(Epoch::default(), |live| live.epoch);
    let killer = world.live().map(|live| world.kill(&live));
    let callers = [world.call(epoch), world.call(Epoch::default()), world.call(epoch)];
    let commands = [
        world.wish(|connection| async move { connection.reconnect().await }),
        world.wish(|connection| async move {
            connection.set_enabled(false).await;
            connection.set_enabled(true).await;
        }),
        world.wish(move |connection| async move { connection.report_needs_auth(epoch).await }),
        world.wish(|connection| async move {
            let other = ServerConfig { timeout: Some(Duration::from_secs(1)), ..config() };
            connection.with_config(other).start_connecting();
        }),
        world.change(),
    ];
    for command in commands.into_iter().chain(killer) {
        command.await.unwrap();
    }
    for caller in callers {
        // The caller has a connection or an error.
        let _given: Result<Epoch, Unavailable> = caller.await.unwrap();
    }
    world.settled().await;
    while world.live().is_none() {
        world.connection.reconnect().await;
        // The unreliable server answers in the end.
        let _refused: Result<_, Unavailable> = world.connection.lease().await;
        world.settled().await;
    }
    world.connected().await;
    world.end().await;
}

// L8 F69: one caller stops it gracefully, one at once, others still want to use it.
#[test]
fn no_connection_is_open_or_opened_after_a_stop() {
    explore(SCHEDULES, stopping);
}

async fn stopping() {
    let mut world = World::new(ServerBehavior::Steady);
    let first = world.first().await;
    let callers = [world.call(Epoch::default()), world.call(first.epoch)];
    let commands = [
        world.wish(|connection| async move { connection.stop(CALLS_GRACE).await }),
        world.wish(|connection| async move { connection.reconnect().await }),
        world.wish(|connection| async move { connection.set_enabled(true).await }),
        world.wish(|connection| async move { connection.stop(Duration::ZERO).await }),
        world.kill(&first),
    ];
    for command in commands {
        command.await.unwrap();
    }
    for caller in callers {
        match caller.await.unwrap() {
            Ok(_) | Err(Unavailable::Stopped) => {}
            Err(other) => panic!("{other}"),
        }
    }
    assert!(matches!(world.status(), ServerStatus::Stopped));
    world.closed().await;
    let openings = world.server.openings();
    world.connection.reconnect().await;
    world.connection.start_connecting();
    assert!(matches!(world.connection.lease().await, Err(Unavailable::Stopped)));
    assert_eq!(world.server.openings(), openings, "opened after its end");
    drop(first);
    world.end().await;
}

// L8: a stop with grace lets a call end, however late, and waits no longer than that.
#[test]
fn stop_with_grace_waits_for_calls_for_a_bounded_time() {
    explore(SCHEDULES, stopping_in_order);
}

async fn stopping_in_order() {
    let mut world = World::new(ServerBehavior::Steady);
    let first = world.first().await;
    let held = first.clone();
    let holder = world.wish(|_| async move {
        tokio::time::sleep(Duration::from_secs(1)).await;
        drop(held);
    });
    let renewal = world.call(first.epoch);
    let stop = world.wish(|connection| async move { connection.stop(CALLS_GRACE).await });
    drop(first);
    stop.await.unwrap();
    world.closed().await;
    holder.await.unwrap();
    // Before the stop or after it.
    let _given: Result<Epoch, Unavailable> = renewal.await.unwrap();
    world.end().await;
}

// L9: nothing is left when the last handle is dropped, in any phase.
#[test]
fn dropping_the_last_handle_closes_everything() {
    explore(SCHEDULES, giving_back);
}

async fn giving_back() {
    let world = World::new(ServerBehavior::Moody);
    let callers = [world.call(Epoch::default()), world.call(Epoch::default())];
    let reconnect = world.wish(|connection| async move { connection.reconnect().await });
    let killer = world.live().map(|live| world.kill(&live));
    callers.iter().for_each(JoinHandle::abort);
    reconnect.await.unwrap();
    drop(killer);
    world.give_back().await;
}

// L14: a lease keeps the server running, however late the idle check runs.
#[test]
fn idle_server_is_stopped_only_without_leases() {
    explore(SCHEDULES, resting);
}

async fn resting() {
    let mut world = World::new(ServerBehavior::Steady);
    drop(world.first().await);
    // Only local processes have an idle timeout, so from now on it counts as one; it is not connected again
    // here.
    let program = StdioConfig {
        command: String::new(),
        args: Vec::new(),
        env: Vec::new(),
        cwd: None,
        inherit_env: false,
    };
    let idle_timeout = Some(Duration::from_secs(2));
    world.connection.with_config(ServerConfig {
        transport: TransportConfig::Stdio(program),
        idle_timeout,
        ..config()
    });
    let users = [(); 3].map(|()| world.wish(use_twice));
    for user in users {
        user.await.unwrap();
    }
    until(|| matches!(world.status(), ServerStatus::Dormant)).await;
    world.closed().await;
    assert_eq!(world.server.openings(), 1);
    world.end().await;
}

async fn use_twice(connection: Connection) {
    for _ in 0..2 {
        let Some(live) = connection.try_lease(Epoch::default()) else { return };
        tokio::time::sleep(Duration::from_secs(3)).await;
        assert!(!live.session.peer().is_ended(), "it was put to rest under a call");
    }
}

// L6: a server that crashes again and again is tried five more times, and then no more.
#[test]
fn server_that_always_crashes_is_given_up_after_five_attempts() {
    explore(FEWER, crashing);
}

async fn crashing() {
    let mut world = World::new(ServerBehavior::Steady);
    world.connection.start_connecting();
    while !matches!(world.status(), ServerStatus::Failed(_)) {
        if let Some(live) = world.live() {
            world.kill(&live).await.unwrap();
        }
        shuttle::future::yield_now().await;
    }
    world.closed().await;
    assert_eq!(world.server.openings(), 1 + RECONNECT_ATTEMPTS as usize);
    world.end().await;
}

// L6: the same holds if a caller needs it at once each time; only a call after giving up starts again. The
// critical order: the connection is lost, and a caller's command reaches the actor before the event does,
// every time.
#[test]
fn calls_do_not_restart_a_crashing_server_without_end() {
    explore(FEWER, crashing_under_calls);
}

async fn crashing_under_calls() {
    let mut world = World::new(ServerBehavior::Steady);
    world.connection.start_connecting();
    while !matches!(world.status(), ServerStatus::Failed(_)) {
        if let Some(live) = world.live() {
            world.kill(&live).await.unwrap();
            live.session.peer().wait_until_ended().await;
            if number().is_multiple_of(2) {
                live.record_answer();
            }
            let caller = world.call(live.epoch);
            drop(live);
            // The caller got the next connection, or an error that it must wait or that there is none.
            let _given: Result<Epoch, Unavailable> = caller.await.unwrap();
        }
        shuttle::future::yield_now().await;
    }
    world.closed().await;
    for life in world.path().split(|state| *state == "failed") {
        let lives = life.iter().filter(|state| **state == "connected").count();
        assert!(lives <= 1 + RECONNECT_ATTEMPTS as usize, "it was reached {lives} times");
    }
    world.end().await;
}

// F67: a failed schedule can be repeated, because nothing else affects the run.
#[test]
fn schedule_alone_determines_a_run() {
    let random = RandomScheduler::new_from_seed(SEED, 50);
    run(UncontrolledNondeterminismCheckScheduler::new(random), anything);
}
