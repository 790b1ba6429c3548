//! Finds the gateway that owns the parked call or the task of a request. A request for another gateway is answered
//! there.

use std::sync::Arc;

use mcparley_cluster::{InstanceId, SharedStoreError, StoreChange};
use mcparley_model::limits::CLUSTER_CALL_TIME;
use mcparley_wire::{INVALID_PARAMS, RawJson, Replies, RpcError};

use crate::cluster_link::ClusterLink;
use crate::cluster_link::forwarding::OwnedRequest;
use crate::cluster_link::unreachable_error;
use crate::session::GatewaySession;
use crate::session::parked::invalid_state_error;
use crate::session::parked_state::{ParkedState, is_parked_state};

impl GatewaySession {
    /// Answers a request that another gateway owns. `None` for all others, and if the owner of a parked call is gone.
    pub(crate) async fn answer_at_owner(
        &self,
        id: &RawJson,
        method: &str,
        params: Option<&RawJson>,
        replies: &Replies,
    ) -> Option<Result<RawJson, RpcError>> {
        let link = self.shared.gateway.cluster()?;
        let http = self.shared.http.get();
        let to_owner = |owner: InstanceId| OwnedRequest {
            owner,
            principal: self.principal_name(),
            view: self.view_name(),
            session: http.map(|http| &*http.id),
            id,
            method,
            params,
            replies,
        };
        if method.starts_with("tasks/") {
            let task = params?.member("taskId")?.decode::<String>().ok()?;
            let owner = self.find_task_gateway(&task).filter(|owner| *owner != link.instance())?;
            return match link.forward_request(to_owner(owner)).await {
                Some(answer) => Some(answer),
                None => Some(Err(lost_task_error(link, owner).await)),
            };
        }
        let state = params?.member("requestState").filter(is_parked_state)?;
        let parked = self.open_parked_state(&state).filter(|parked| parked.owner != link.instance())?;
        match claim_answer(link, &parked).await {
            Ok(true) => {}
            Ok(false) => return Some(Err(invalid_state_error())),
            Err(error) => return Some(Err(error)),
        }
        let answer = link.forward_request(to_owner(parked.owner)).await;
        if matches!(answer, Some(Err(_))) {
            // The owner has refused the answers, so the call still waits for them.
            let key = link.member.keys().answer_claim(&parked.nonce);
            link.member.write_later(StoreChange::Remove { key });
        }
        answer
    }
}

/// Claims the answer to a parked call: of two gateways that get it at once, one passes it on. A claim of this gateway
/// stays its own: its first attempt may have failed after the claim.
async fn claim_answer(link: &Arc<ClusterLink>, parked: &ParkedState) -> Result<bool, RpcError> {
    let (store, claim) = (link.member.store(), link.member.keys().answer_claim(&parked.nonce));
    let ours = link.instance().to_string().into_bytes();
    let claimed = async {
        Ok::<bool, SharedStoreError>(
            store.claim_key(claim.clone(), ours.clone(), Some(CLUSTER_CALL_TIME)).await?
                || store.fetch_value(claim).await? == Some(ours),
        )
    };
    claimed.await.map_err(|_| unreachable_error())
}

/// The error for a task of a dead gateway.
async fn lost_task_error(link: &Arc<ClusterLink>, owner: InstanceId) -> RpcError {
    let name = link.member.find_name(owner).await;
    RpcError::new(INVALID_PARAMS, &format!("the task ran at the gateway `{name}`, which has ended"))
}
