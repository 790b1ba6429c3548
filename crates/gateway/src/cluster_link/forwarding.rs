//! Hands requests to the gateway that owns them, and waits for its answer.

use std::sync::Arc;

use bytes::Bytes;
use mcparley::auth::CallbackReply;
use mcparley_cluster::{InstanceId, MemberStatus};
use mcparley_model::limits::{CLUSTER_ACCEPT_TIME, CLUSTER_WATCH};
use mcparley_wire::{RawJson, Replies, RpcError};
use tokio::time::Instant;

use super::messages::{
    ClusterMessage, ForwardedRedirect, ForwardedRequest, ForwardedResume, OwnerReply, to_raw_value,
};
use super::{ClusterLink, WaitingRequest, unreachable_error};

/// A request that another gateway owns.
pub(crate) struct OwnedRequest<'r> {
    pub(crate) owner: InstanceId,
    pub(crate) principal: &'r str,
    /// The view that the client uses.
    pub(crate) view: Option<&'r str>,
    pub(crate) session: Option<&'r str>,
    pub(crate) id: &'r RawJson,
    pub(crate) method: &'r str,
    pub(crate) params: Option<&'r RawJson>,
    pub(crate) replies: &'r Replies,
}

/// A stream of another gateway that a client resumes here.
#[derive(Debug)]
pub struct OwnedStream<'r> {
    /// The gateway that owns it.
    pub owner: InstanceId,
    /// The principal of the client.
    pub principal: &'r str,
    /// The view that the client uses.
    pub view: Option<&'r str>,
    /// The id of the session.
    pub session: &'r str,
    /// The number of the stream.
    pub stream: u64,
    /// The last event that the client has.
    pub after: u64,
}

/// The next sign of the owner of a request.
#[derive(Debug)]
pub enum OwnerSign {
    /// A reply.
    Reply(OwnerReply),
    /// The owner is gone.
    Gone,
}

/// A request at its owner; canceled there when it is dropped before its end.
#[derive(Debug)]
pub struct RequestAtOwner {
    waiting: WaitingRequest,
    owner: InstanceId,
    sent: Instant,
    is_accepted: bool,
    is_over: bool,
}

impl ClusterLink {
    /// Hands a request to its owner, and waits for the answer. `None` if the owner is gone.
    ///
    /// # Errors
    /// The error of the request, or that the owner cannot be reached now.
    pub(crate) async fn forward_request(
        self: &Arc<Self>,
        request: OwnedRequest<'_>,
    ) -> Option<Result<RawJson, RpcError>> {
        let mut at_owner = match self.start_request(&request).await {
            Ok(at_owner) => at_owner,
            Err(error) => return Some(Err(error)),
        };
        loop {
            match at_owner.next_sign().await {
                Ok(OwnerSign::Reply(OwnerReply::Message(message))) => {
                    let message = Bytes::copy_from_slice(message.get().as_bytes());
                    let _delivery = request.replies.forward_message(message);
                }
                Ok(OwnerSign::Reply(OwnerReply::Answer(outcome))) => {
                    at_owner.is_over = true;
                    return Some(outcome.into_result());
                }
                Ok(OwnerSign::Reply(_)) => {}
                Ok(OwnerSign::Gone) => return None,
                Err(error) => return Some(Err(error)),
            }
        }
    }

    async fn start_request(self: &Arc<Self>, request: &OwnedRequest<'_>) -> Result<RequestAtOwner, RpcError> {
        let raw = |raw: &RawJson| to_raw_value(raw).ok_or_else(unreachable_error);
        let waiting = self.add_waiting()?;
        let message = ClusterMessage::Request(ForwardedRequest {
            from: self.instance(),
            number: waiting.number,
            principal: request.principal.to_owned(),
            view: request.view.map(str::to_owned),
            session: request.session.map(str::to_owned),
            id: raw(request.id)?,
            method: request.method.to_owned(),
            params: request.params.map(raw).transpose()?,
        });
        RequestAtOwner::send_to_owner(self, request.owner, waiting, &message).await
    }

    /// Hands the redirect of a browser to the gateway that began its sign-in, and waits for the page. `None` if that
    /// gateway is gone, or cannot be reached.
    pub async fn forward_redirect(
        self: &Arc<Self>,
        owner: InstanceId,
        query: String,
    ) -> Option<CallbackReply> {
        // A browser is no verified client, and may come back with an old address.
        if self.member.find_status(owner).await != MemberStatus::Alive {
            return None;
        }
        let waiting = self.add_waiting().ok()?;
        let redirect = ForwardedRedirect { from: self.instance(), number: waiting.number, query };
        let message = ClusterMessage::Redirect(redirect);
        let mut at_owner = RequestAtOwner::send_to_owner(self, owner, waiting, &message).await.ok()?;
        loop {
            match at_owner.next_sign().await.ok()? {
                OwnerSign::Reply(OwnerReply::Page { status, policy, page }) => {
                    return Some(CallbackReply { status, policy, page });
                }
                OwnerSign::Reply(_) => {}
                OwnerSign::Gone => return None,
            }
        }
    }

    /// Resumes a stream at its owner. `None` if the owner is gone.
    ///
    /// # Errors
    /// When the owner cannot be reached now.
    pub async fn resume_at_owner(
        self: &Arc<Self>,
        stream: OwnedStream<'_>,
    ) -> Result<Option<RequestAtOwner>, RpcError> {
        let waiting = self.add_waiting()?;
        let message = ClusterMessage::Resume(ForwardedResume {
            from: self.instance(),
            number: waiting.number,
            principal: stream.principal.to_owned(),
            view: stream.view.map(str::to_owned),
            session: stream.session.to_owned(),
            stream: stream.stream,
            after: stream.after,
        });
        let mut at_owner = RequestAtOwner::send_to_owner(self, stream.owner, waiting, &message).await?;
        match at_owner.next_sign().await? {
            OwnerSign::Reply(OwnerReply::Accepted) => Ok(Some(at_owner)),
            OwnerSign::Reply(_) => {
                at_owner.is_over = true;
                Ok(Some(at_owner))
            }
            OwnerSign::Gone => Ok(None),
        }
    }
}

impl RequestAtOwner {
    async fn send_to_owner(
        link: &Arc<ClusterLink>,
        owner: InstanceId,
        waiting: WaitingRequest,
        message: &ClusterMessage,
    ) -> Result<Self, RpcError> {
        link.send_message(owner, message).await.map_err(|_| unreachable_error())?;
        Ok(Self { waiting, owner, sent: Instant::now(), is_accepted: false, is_over: false })
    }

    /// Whether the owner has ended the request.
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.is_over
    }

    /// Waits for the next reply of the owner, or its end.
    ///
    /// # Errors
    /// When an owner that runs does not receive the request.
    pub async fn next_sign(&mut self) -> Result<OwnerSign, RpcError> {
        loop {
            let reply = match tokio::time::timeout(CLUSTER_WATCH, self.waiting.replies.recv()).await {
                Ok(Some(reply)) => reply,
                Ok(None) => return Err(unreachable_error()),
                Err(_) => match self.waiting.link.member.find_status(self.owner).await {
                    MemberStatus::Gone => {
                        self.is_over = true;
                        return Ok(OwnerSign::Gone);
                    }
                    MemberStatus::Alive | MemberStatus::Unknown => {
                        if !self.is_accepted && self.sent.elapsed() > CLUSTER_ACCEPT_TIME {
                            return Err(unreachable_error());
                        }
                        continue;
                    }
                },
            };
            self.is_accepted = true;
            self.is_over |= match reply {
                OwnerReply::Unknown | OwnerReply::End | OwnerReply::Answer(_) | OwnerReply::Page { .. } => {
                    true
                }
                OwnerReply::Accepted | OwnerReply::Message(_) | OwnerReply::Event(_) => false,
            };
            return Ok(OwnerSign::Reply(reply));
        }
    }
}

impl Drop for RequestAtOwner {
    fn drop(&mut self) {
        if !self.is_over {
            let link = &self.waiting.link;
            let cancel = ClusterMessage::Cancel { from: link.instance(), number: self.waiting.number };
            link.send_later(self.owner, &cancel);
        }
    }
}
