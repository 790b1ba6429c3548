//! Serves callback connections: reads each request, and replies.
//!
//! Any program on the machine can connect here and stay silent. So connections are served concurrently, and
//! when there are too many the oldest is closed and never the newest: a browser sends its request at once,
//! and a program that holds connections open only loses them. The connection that brought the response is
//! never closed for another.

use std::collections::VecDeque;
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use mcparley_model::limits::{CALLBACK_CONNECTIONS, CALLBACK_TIME};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::task::{AbortHandle, JoinSet, yield_now};
use tokio::time::{sleep, timeout};

use super::listeners::CallbackListeners;
use super::pages::CallbackPage;
use super::receiver::{AnsweringBrowser, CallbackReceiver, RequestDecision};
use super::request::{CallbackRequestError, Request};

/// The pause after an accept error, for instance when there are no file descriptors left.
const PAUSE: Duration = Duration::from_millis(100);

/// Serves connections until the future is dropped, and they with it.
pub(super) async fn serve_callbacks(doors: CallbackListeners, desk: Arc<CallbackReceiver>) {
    let (mut reading, mut replying) = (NewestTasks::default(), NewestTasks::default());
    let mut waiting = JoinSet::new();
    loop {
        tokio::select! {
            // A request that was read goes before a new connection.
            biased;
            Some(read) = reading.next_result() => if let Some((stream, request)) = read {
                match decide_request(&desk, request) {
                    RequestDecision::Refused(reply) => replying.start_task(send_page(stream, reply, None)),
                    RequestDecision::Answered(visitor) => {
                        waiting.spawn(async move {
                            let reply = visitor.final_page().await;
                            send_page(stream, reply, Some(visitor)).await;
                        });
                    }
                }
            },
            Some(_) = replying.next_result() => {}
            Some(_) = waiting.join_next() => {}
            visitor = doors.accept_connection() => match visitor {
                Ok(stream) => {
                    reading.start_task(read_request(stream));
                    // Connected clients are read before the next one is accepted.
                    yield_now().await;
                }
                Err(_) => sleep(PAUSE).await,
            }
        }
    }
}

fn decide_request(
    desk: &Arc<CallbackReceiver>,
    request: Result<Request, CallbackRequestError>,
) -> RequestDecision {
    match request {
        Ok(request) => desk.receive_request(&request),
        Err(CallbackRequestError::Malformed | CallbackRequestError::Closed) => {
            RequestDecision::Refused(CallbackPage::Unexpected)
        }
    }
}

/// Reads the request of a connection; `None` if it was closed or timed out.
async fn read_request(mut stream: TcpStream) -> Option<(TcpStream, Result<Request, CallbackRequestError>)> {
    match timeout(CALLBACK_TIME, Request::read_head(&mut stream)).await {
        Ok(Err(CallbackRequestError::Closed)) | Err(_) => None,
        Ok(request) => Some((stream, request)),
    }
}

/// Sends a reply; `visitor` is dropped when the reply is sent. A client that does not read it loses it.
async fn send_page(mut stream: TcpStream, reply: CallbackPage, visitor: Option<AnsweringBrowser>) {
    let sent = async {
        stream.write_all(&reply.to_bytes()).await?;
        stream.shutdown().await?;
        drop(visitor);
        // Closing a connection with unread input would reset it and lose the reply.
        let mut rest = [0; 4096];
        while stream.read(&mut rest).await? > 0 {}
        Ok::<_, std::io::Error>(())
    };
    let _gone = timeout(CALLBACK_TIME, sent).await;
}

/// A set of tasks with a limit: one too many aborts the oldest.
struct NewestTasks<T> {
    tasks: JoinSet<T>,
    order: VecDeque<AbortHandle>,
}

impl<T> Default for NewestTasks<T> {
    fn default() -> Self {
        Self { tasks: JoinSet::new(), order: VecDeque::new() }
    }
}

impl<T: Send + 'static> NewestTasks<T> {
    fn start_task(&mut self, task: impl Future<Output = T> + Send + 'static) {
        self.order.retain(|task| !task.is_finished());
        if self.order.len() >= CALLBACK_CONNECTIONS
            && let Some(oldest) = self.order.pop_front()
        {
            oldest.abort();
        }
        self.order.push_back(self.tasks.spawn(task));
    }

    /// The result of the next task that finishes; `None` when there are no tasks.
    async fn next_result(&mut self) -> Option<T> {
        loop {
            // A task that was aborted has no result.
            if let Ok(done) = self.tasks.join_next().await? {
                return Some(done);
            }
        }
    }
}
