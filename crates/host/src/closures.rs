//! Closures in the place of handler traits that have one method.
//!
//! Functions of the builder rather than blanket implementations: only a bound on the function itself lets the
//! compiler infer the lifetimes of a closure's argument.

use mcparley_model::name::ServerName;
use mcparley_wire::peer::BoxedFuture;

use crate::builder::HostBuilder;
use crate::page_opener::PageOpener;
use crate::permission::{Approver, PermissionAnswer, PermissionQuestion};
use mcparley_pool::auth::BrowserPage;
use mcparley_pool::elicit::{Elicitation, ElicitationReply, Elicitor};
use mcparley_pool::sample::{Sampler, SamplingRefusal, SamplingRequest, SamplingResult};

/// A handler made of a closure.
struct ClosureHandler<F>(F);

impl HostBuilder {
    /// Sets the approver by a closure: `approver_fn(|question| Box::pin(async move { … }))`.
    #[must_use]
    pub fn approver_fn<F>(self, ask: F) -> Self
    where
        F: for<'q> Fn(PermissionQuestion<'q>) -> BoxedFuture<'q, PermissionAnswer> + Send + Sync + 'static,
    {
        self.approver(ClosureHandler(ask))
    }

    /// Sets the elicitor by a closure.
    #[must_use]
    pub fn elicitor_fn<F>(self, ask: F) -> Self
    where
        F: for<'q> Fn(Elicitation<'q>) -> BoxedFuture<'q, ElicitationReply> + Send + Sync + 'static,
    {
        self.elicitor(ClosureHandler(ask))
    }

    /// Sets the sampler by a closure.
    #[must_use]
    pub fn sampler_fn<F>(self, sample: F) -> Self
    where
        F: for<'s> Fn(&'s SamplingRequest) -> BoxedFuture<'s, Result<SamplingResult, SamplingRefusal>>
            + Send
            + Sync
            + 'static,
    {
        self.sampler(ClosureHandler(sample))
    }

    /// Sets the page opener by a closure, which returns whether the page was shown.
    #[must_use]
    pub fn page_opener_fn<F>(self, open: F) -> Self
    where
        F: for<'p> Fn(&'p ServerName, &'p BrowserPage) -> BoxedFuture<'p, bool> + Send + Sync + 'static,
    {
        self.page_opener(ClosureHandler(open))
    }
}

impl<F> Approver for ClosureHandler<F>
where
    F: for<'q> Fn(PermissionQuestion<'q>) -> BoxedFuture<'q, PermissionAnswer> + Send + Sync + 'static,
{
    fn ask_permission<'q>(&'q self, question: PermissionQuestion<'q>) -> BoxedFuture<'q, PermissionAnswer> {
        (self.0)(question)
    }
}

impl<F> Elicitor for ClosureHandler<F>
where
    F: for<'q> Fn(Elicitation<'q>) -> BoxedFuture<'q, ElicitationReply> + Send + Sync + 'static,
{
    fn ask<'q>(&'q self, question: Elicitation<'q>) -> BoxedFuture<'q, ElicitationReply> {
        (self.0)(question)
    }
}

impl<F> Sampler for ClosureHandler<F>
where
    F: for<'s> Fn(&'s SamplingRequest) -> BoxedFuture<'s, Result<SamplingResult, SamplingRefusal>>
        + Send
        + Sync
        + 'static,
{
    fn sample<'s>(
        &'s self,
        request: &'s SamplingRequest,
    ) -> BoxedFuture<'s, Result<SamplingResult, SamplingRefusal>> {
        (self.0)(request)
    }
}

impl<F> PageOpener for ClosureHandler<F>
where
    F: for<'p> Fn(&'p ServerName, &'p BrowserPage) -> BoxedFuture<'p, bool> + Send + Sync + 'static,
{
    fn open_page<'p>(&'p self, server: &'p ServerName, page: &'p BrowserPage) -> BoxedFuture<'p, bool> {
        (self.0)(server, page)
    }
}
