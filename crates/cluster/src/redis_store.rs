//! A store in Redis: one connection for commands, and one that waits for messages.
//!
//! While Redis is away every command fails at once. A command that gets no answer in time counts as a lost
//! connection: so a request waits for a slow server only once, and the ones after it do not wait at all. A task
//! reconnects with exponential backoff, and publishes whether Redis can be reached. A replica that takes no writes
//! counts as unreachable: the address may lead to the new primary soon.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use mcparley_model::limits::{CLUSTER_COMMAND_TIME, CLUSTER_READ_ENTRIES, CLUSTER_RECONNECT_MOST};
use mcparley_model::time::whole_milliseconds;
use redis::aio::MultiplexedConnection;
use redis::streams::StreamReadReply;
use redis::{AsyncConnectionConfig, Client, Cmd, FromRedisValue, Pipeline, RedisError, RedisResult, Value};
use tokio::sync::{Mutex, watch};
use tokio::task::AbortHandle;
use tokio::time::Instant;

use crate::store::{LogEntry, LogPosition, SharedStore, SharedStoreError, StoreChange, StoreFuture};
use crate::store_address::{StoreAddress, StoreAddressError};

/// The pause before the first attempt to reconnect; it doubles with each further one.
const RECONNECT_LEAST: Duration = Duration::from_millis(100);
/// The interval at which an idle connection is checked.
const CHECK_INTERVAL: Duration = Duration::from_secs(1);
/// The key that no gateway sets: a write that needs it changes nothing, but is refused where writes are.
const PROBE_KEY: &str = "mp:probe";
/// The name of the field of a log entry.
const FIELD: &str = "m";

/// A store in Redis.
#[derive(Debug)]
pub struct RedisStore {
    link: Arc<RedisLink>,
    /// The connection that waits for messages, which must not delay commands.
    reader: Mutex<Option<MultiplexedConnection>>,
    supervisor: AbortHandle,
}

/// The connection for commands, replaced when it is lost.
struct RedisLink {
    client: Client,
    connection: watch::Sender<Option<CommandConnection>>,
    availability: watch::Sender<bool>,
}

/// A connection for commands. A failure is reported with its generation, so that a late report about an earlier
/// connection does not end the one that has replaced it.
#[derive(Clone)]
struct CommandConnection {
    generation: u64,
    connection: MultiplexedConnection,
}

impl RedisStore {
    /// A store at this address. Connects in the background.
    ///
    /// # Errors
    /// When the address is invalid.
    pub fn connect(address: &StoreAddress) -> Result<Self, StoreAddressError> {
        let client = Client::open(address.expose_url()).map_err(|_| StoreAddressError)?;
        let link = Arc::new(RedisLink {
            client,
            connection: watch::Sender::new(None),
            availability: watch::Sender::new(false),
        });
        let supervised = Arc::clone(&link);
        let supervisor = tokio::spawn(async move { supervised.keep_connected().await }).abort_handle();
        Ok(Self { link, reader: Mutex::new(None), supervisor })
    }

    /// Reads logs on the connection that may wait.
    async fn wait_for_entries(
        &self,
        command: Cmd,
        wait: Duration,
    ) -> Result<StreamReadReply, SharedStoreError> {
        let mut reader = self.reader.lock().await;
        let mut connection = match reader.take() {
            Some(connection) => connection,
            None => self.link.open_connection().await?,
        };
        let limit = wait + CLUSTER_COMMAND_TIME;
        let answer = tokio::time::timeout(limit, command.query_async(&mut connection)).await;
        match answer {
            Ok(Ok(entries)) => {
                *reader = Some(connection);
                Ok(entries)
            }
            // The connection for commands has checks of its own.
            Ok(Err(error)) => Err(classify_error(&error)),
            Err(_) => Err(SharedStoreError::Unavailable),
        }
    }
}

impl Drop for RedisStore {
    fn drop(&mut self) {
        self.supervisor.abort();
    }
}

impl RedisLink {
    /// Connects and reconnects. Never returns.
    async fn keep_connected(&self) {
        let (mut pause, mut generation) = (RECONNECT_LEAST, 0);
        loop {
            let opened = async {
                let mut connection = self.open_connection().await?;
                check_writes(&mut connection).await.map(|()| connection)
            };
            match opened.await {
                Ok(connection) => {
                    generation += 1;
                    let begun = Instant::now();
                    self.publish_connection(CommandConnection { generation, connection: connection.clone() });
                    self.watch_connection(connection).await;
                    self.lose_connection(generation);
                    if begun.elapsed() > CHECK_INTERVAL {
                        pause = RECONNECT_LEAST;
                        continue;
                    }
                }
                Err(error) => tracing::debug!(%error, "the shared state cannot be reached"),
            }
            tokio::time::sleep(pause).await;
            pause = (2 * pause).min(CLUSTER_RECONNECT_MOST);
        }
    }

    async fn open_connection(&self) -> Result<MultiplexedConnection, SharedStoreError> {
        // Each command has a timeout of its own, see `run_on`.
        let config = AsyncConnectionConfig::new()
            .set_connection_timeout(Some(CLUSTER_COMMAND_TIME))
            .set_response_timeout(None);
        let opening = async {
            let mut connection = self.client.get_multiplexed_async_connection_with_config(&config).await?;
            let _pong: String = redis::cmd("PING").query_async(&mut connection).await?;
            Ok::<_, RedisError>(connection)
        };
        match tokio::time::timeout(2 * CLUSTER_COMMAND_TIME, opening).await {
            Ok(Ok(connection)) => Ok(connection),
            Ok(Err(error)) => Err(classify_error(&error)),
            Err(_) => Err(SharedStoreError::Unavailable),
        }
    }

    /// Returns when the connection is lost.
    async fn watch_connection(&self, mut connection: MultiplexedConnection) {
        let mut current = self.connection.subscribe();
        loop {
            tokio::select! {
                // A command has lost it; the sender lives as long as this value.
                lost = current.wait_for(Option::is_none) => {
                    drop(lost);
                    return;
                }
                () = tokio::time::sleep(CHECK_INTERVAL) => {}
            }
            let ping = redis::cmd("PING");
            let ping = ping.query_async::<String>(&mut connection);
            if !matches!(tokio::time::timeout(CLUSTER_COMMAND_TIME, ping).await, Ok(Ok(_))) {
                return;
            }
        }
    }

    fn publish_connection(&self, connection: CommandConnection) {
        self.connection.send_modify(|current| {
            *current = Some(connection);
            self.availability.send_replace(true);
        });
    }

    /// Gives up the connection of this generation, unless another has replaced it.
    fn lose_connection(&self, generation: u64) {
        self.connection.send_if_modified(|current| {
            let is_current = current.as_ref().is_some_and(|current| current.generation == generation);
            if is_current {
                *current = None;
                self.availability.send_replace(false);
            }
            is_current
        });
    }

    async fn run_command<T: FromRedisValue>(&self, command: &Cmd) -> Result<T, SharedStoreError> {
        self.run_on(async |connection| command.query_async(connection).await).await
    }

    /// Runs the changes of a pipeline, which has one answer for each of them.
    async fn run_changes(&self, pipeline: &Pipeline) -> Result<(), SharedStoreError> {
        let run = async |connection: &mut MultiplexedConnection| {
            let answers: Vec<RedisResult<Value>> = pipeline.query_async(connection).await?;
            let mut refused = answers.into_iter().filter_map(Result::err);
            let Some(first) = refused.next() else { return Ok(None) };
            match is_refusal(&first) {
                true => Ok(Some((first.to_string(), refused.count() + 1))),
                false => Err(first),
            }
        };
        match self.run_on(run).await? {
            None => Ok(()),
            Some((reason, changes)) => Err(SharedStoreError::Refused { reason, changes }),
        }
    }

    async fn run_on<T>(
        &self,
        run: impl AsyncFnOnce(&mut MultiplexedConnection) -> Result<T, RedisError>,
    ) -> Result<T, SharedStoreError> {
        let current = self.connection.borrow().clone();
        let CommandConnection { generation, mut connection } =
            current.ok_or(SharedStoreError::Unavailable)?;
        let answer = tokio::time::timeout(CLUSTER_COMMAND_TIME, run(&mut connection)).await;
        let error = match answer {
            Ok(Ok(answer)) => return Ok(answer),
            Ok(Err(error)) => classify_error(&error),
            Err(_) => SharedStoreError::Unavailable,
        };
        if matches!(error, SharedStoreError::Unavailable) {
            self.lose_connection(generation);
        }
        Err(error)
    }
}

/// Checks that the server takes writes.
async fn check_writes(connection: &mut MultiplexedConnection) -> Result<(), SharedStoreError> {
    let mut probe = redis::cmd("SET");
    probe.arg(PROBE_KEY).arg(1).arg("XX");
    let probe = probe.query_async::<Option<String>>(connection);
    match tokio::time::timeout(CLUSTER_COMMAND_TIME, probe).await {
        Ok(Ok(_)) => Ok(()),
        Ok(Err(error)) => match classify_error(&error) {
            // Reads go on; the heartbeat notices the rest.
            SharedStoreError::Refused { reason, .. } => {
                tracing::warn!(reason, "the shared state refuses writes");
                Ok(())
            }
            SharedStoreError::Unavailable => Err(SharedStoreError::Unavailable),
        },
        Err(_) => Err(SharedStoreError::Unavailable),
    }
}

/// Tells a lost connection from a refused command.
fn classify_error(error: &RedisError) -> SharedStoreError {
    match is_refusal(error) {
        true => SharedStoreError::refuse_command(error.to_string()),
        false => SharedStoreError::Unavailable,
    }
}

/// Whether the server has refused a command, and is neither starting nor a replica.
fn is_refusal(error: &RedisError) -> bool {
    let is_away = matches!(error.code(), Some("LOADING" | "MASTERDOWN" | "TRYAGAIN" | "READONLY"));
    error.code().is_some() && !error.is_unrecoverable_error() && !is_away
}

impl std::fmt::Debug for RedisLink {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("RedisLink")
            .field("is_available", &*self.availability.borrow())
            .finish_non_exhaustive()
    }
}

impl SharedStore for RedisStore {
    fn fetch_value(&self, key: String) -> StoreFuture<'_, Option<Vec<u8>>> {
        Box::pin(async move { self.link.run_command(redis::cmd("GET").arg(key)).await })
    }

    fn fetch_fields(&self, key: String) -> StoreFuture<'_, HashMap<String, Vec<u8>>> {
        Box::pin(async move { self.link.run_command(redis::cmd("HGETALL").arg(key)).await })
    }

    fn claim_key(&self, key: String, value: Vec<u8>, ttl: Option<Duration>) -> StoreFuture<'_, bool> {
        Box::pin(async move {
            let mut command = redis::cmd("SET");
            command.arg(key).arg(value).arg("NX");
            if let Some(ttl) = ttl {
                command.arg("PX").arg(whole_milliseconds(ttl));
            }
            let set: Option<String> = self.link.run_command(&command).await?;
            Ok(set.is_some())
        })
    }

    fn add_to_counters(
        &self,
        counters: Vec<(String, u64)>,
        ttl: Option<Duration>,
    ) -> StoreFuture<'_, Vec<u64>> {
        Box::pin(async move {
            let mut pipeline = redis::pipe();
            for (key, amount) in &counters {
                pipeline.cmd("INCRBY").arg(key).arg(amount);
                if let Some(ttl) = ttl {
                    pipeline.cmd("PEXPIRE").arg(key).arg(whole_milliseconds(ttl)).ignore();
                }
            }
            self.link.run_on(async |link| pipeline.query_async(link).await).await
        })
    }

    fn apply_changes(&self, changes: Vec<StoreChange>) -> StoreFuture<'_, ()> {
        Box::pin(async move {
            let mut pipeline = redis::pipe();
            pipeline.ignore_errors();
            changes.into_iter().for_each(|change| add_change(&mut pipeline, change));
            self.link.run_changes(&pipeline).await
        })
    }

    fn read_logs(
        &self,
        logs: Vec<(String, LogPosition)>,
        wait: Option<Duration>,
    ) -> StoreFuture<'_, Vec<LogEntry>> {
        Box::pin(async move {
            let mut command = redis::cmd("XREAD");
            command.arg("COUNT").arg(CLUSTER_READ_ENTRIES);
            if let Some(wait) = wait {
                command.arg("BLOCK").arg(whole_milliseconds(wait).max(1));
            }
            command.arg("STREAMS");
            for (log, _) in &logs {
                command.arg(log);
            }
            for (_, after) in &logs {
                command.arg(&after.0);
            }
            let answer = match wait {
                Some(wait) => self.wait_for_entries(command, wait).await?,
                None => self.link.run_command(&command).await?,
            };
            Ok(entries_of(answer))
        })
    }

    fn end_of_log(&self, log: String) -> StoreFuture<'_, LogPosition> {
        Box::pin(async move {
            let mut command = redis::cmd("XREVRANGE");
            command.arg(log).arg("+").arg("-").arg("COUNT").arg(1);
            let answer: redis::streams::StreamRangeReply = self.link.run_command(&command).await?;
            Ok(answer.ids.into_iter().next().map_or_else(LogPosition::start, |last| LogPosition(last.id)))
        })
    }

    fn availability(&self) -> watch::Receiver<bool> {
        self.link.availability.subscribe()
    }
}

/// Adds the commands of a change; only the first has an answer.
fn add_change(pipeline: &mut Pipeline, change: StoreChange) {
    match change {
        StoreChange::Put { key, value, ttl } => {
            let command = pipeline.cmd("SET").arg(key).arg(value);
            if let Some(ttl) = ttl {
                command.arg("PX").arg(whole_milliseconds(ttl));
            }
        }
        StoreChange::PutFields { key, fields, ttl } => {
            let command = pipeline.cmd("HSET").arg(&key);
            for (name, value) in fields {
                command.arg(name).arg(value);
            }
            pipeline.cmd("PEXPIRE").arg(key).arg(whole_milliseconds(ttl)).ignore();
        }
        StoreChange::RemoveFields { key, fields } => {
            pipeline.cmd("HDEL").arg(key).arg(fields);
        }
        StoreChange::Remove { key } => {
            pipeline.cmd("DEL").arg(key);
        }
        StoreChange::Append { log, entry, most, ttl } => {
            let command = pipeline.cmd("XADD").arg(&log).arg("MAXLEN").arg("~").arg(most);
            command.arg("*").arg(FIELD).arg(entry);
            pipeline.cmd("PEXPIRE").arg(log).arg(whole_milliseconds(ttl)).ignore();
        }
        StoreChange::Forget { log, entries } => {
            let command = pipeline.cmd("XDEL").arg(log);
            for position in entries {
                command.arg(position.0);
            }
        }
    }
}

fn entries_of(answer: StreamReadReply) -> Vec<LogEntry> {
    let logs = answer.keys.into_iter();
    let entries = logs.flat_map(|log| log.ids.into_iter().map(move |entry| (log.key.clone(), entry)));
    let entry = |(log, entry): (String, redis::streams::StreamId)| {
        // An entry without our field is no message; its position counts all the same.
        let content = entry.get::<Vec<u8>>(FIELD).unwrap_or_default();
        LogEntry { log, position: LogPosition(entry.id), content }
    };
    entries.map(entry).collect()
}

#[cfg(test)]
mod tests;
