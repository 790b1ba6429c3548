//! `subscriptions/listen`: how a server of the new era tells that something has changed.
//!
//! One request that stays open. What comes for it goes to the handler like every notification; here is only
//! when it begins and when it ends. Whoever wants to hear on opens it again.

use mcparley_model::limits::REQUEST_LIMIT;
use serde::Deserialize;
use serde_json::json;
use tokio::sync::oneshot;

use super::{Session, Spoken};
use crate::failure::{Failure, Phase};
use crate::json::RawJson;
use crate::params::Params;
use crate::peer::Boxed;

/// What a server is to tell, or tells.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Listen {
    /// That its tools have changed.
    pub tools: bool,
    /// That its prompts have changed.
    pub prompts: bool,
    /// That its resources have changed.
    pub resources: bool,
    /// That the content of one of these resources has changed.
    pub resource_uris: Vec<String>,
}

/// A subscription that the server has taken. Dropping it gives it up.
pub struct Listening {
    acknowledged: Listen,
    request: Boxed<'static, Result<RawJson, Failure>>,
}

impl Session {
    /// Asks the server to tell what changes. Has no limit once the server has taken it.
    ///
    /// # Errors
    /// A [`Failure`], among them [`Failure::TimedOut`] when the server does not say in time that it will, and
    /// [`Failure::Protocol`] in the old era, where servers tell without being asked.
    pub async fn listen(&self, wanted: &Listen) -> Result<Listening, Failure> {
        match self.spoken {
            Spoken::New => {}
            Spoken::Old(_) => return Err(Failure::Protocol("its era has no subscriptions".into())),
        }
        let params = wanted.to_params().render(&self.meta());
        let (sender, acknowledged) = oneshot::channel();
        let request = self.peer.prepare();
        let mut request: Boxed<'static, _> =
            Box::pin(async move { request.subscribe("subscriptions/listen", params.as_ref(), sender).await });
        let begun = async {
            tokio::select! {
                // First, because the two may come at once.
                biased;
                Ok(taken) = acknowledged => Ok(taken),
                outcome = &mut request => Err(match outcome {
                    Ok(_) => Failure::Protocol("it ended the subscription without taking it".into()),
                    Err(failure) => failure,
                }),
            }
        };
        let late = Failure::TimedOut { phase: Phase::Answering, after: REQUEST_LIMIT };
        let taken = tokio::time::timeout(REQUEST_LIMIT, begun).await.unwrap_or(Err(late))?;
        Ok(Listening { acknowledged: Listen::read(&taken), request })
    }
}

impl Listening {
    /// What the server said it will tell; it may be less than was asked for.
    #[must_use]
    pub fn acknowledged(&self) -> &Listen {
        &self.acknowledged
    }

    /// Waits until the server tells no more.
    ///
    /// # Errors
    /// A [`Failure`] when the subscription broke off instead of being ended by the server.
    pub async fn ended(mut self) -> Result<(), Failure> {
        self.end().await
    }

    /// The same for who may give up the waiting and wait again; once it has ended there is nothing to wait for.
    ///
    /// # Errors
    /// As [`Listening::ended`].
    pub async fn end(&mut self) -> Result<(), Failure> {
        (&mut self.request).await.map(drop)
    }
}

impl std::fmt::Debug for Listening {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Listening").field("acknowledged", &self.acknowledged).finish_non_exhaustive()
    }
}

impl Listen {
    /// What is not wanted is not named.
    fn to_params(&self) -> Params {
        let Self { tools, prompts, resources, resource_uris } = self;
        let mut filter = serde_json::Map::new();
        for (name, wanted) in [
            ("toolsListChanged", tools),
            ("promptsListChanged", prompts),
            ("resourcesListChanged", resources),
        ] {
            if *wanted {
                filter.insert(name.to_owned(), json!(true));
            }
        }
        if !resource_uris.is_empty() {
            filter.insert("resourceSubscriptions".to_owned(), json!(resource_uris));
        }
        Params::new().with("notifications", &filter)
    }

    /// Reads what a server says it will tell. What cannot be read it will not.
    fn read(acknowledgement: &RawJson) -> Self {
        #[derive(Default, Deserialize)]
        #[serde(rename_all = "camelCase", default)]
        struct Filter {
            tools_list_changed: bool,
            prompts_list_changed: bool,
            resources_list_changed: bool,
            resource_subscriptions: Vec<String>,
        }
        let filter = acknowledgement.member("notifications");
        let filter: Filter = filter.and_then(|filter| filter.decode().ok()).unwrap_or_default();
        Self {
            tools: filter.tools_list_changed,
            prompts: filter.prompts_list_changed,
            resources: filter.resources_list_changed,
            resource_uris: filter.resource_subscriptions,
        }
    }
}
