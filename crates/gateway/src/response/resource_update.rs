//! Updates of resources, as clients get them.

use std::sync::Arc;

use mcparley::model::text::clean_json;
use mcparley::resource::Subscription;
use mcparley_wire::RawJson;
use serde_json::{Value, json};

use crate::json_edit::{JsonEdit, JsonMembers, decode_string, json_string};
use crate::view::View;
use crate::view::address::client_address;

/// The `_meta` member that names the subscription of a notification (new era).
pub(crate) const SUBSCRIPTION: &str = "io.modelcontextprotocol/subscriptionId";

/// The form of the updates of one subscription.
#[derive(Debug)]
pub(crate) struct UpdateForm {
    /// The address that the client has subscribed to.
    client_uri: String,
    /// The same address at the server.
    original: String,
    /// The tag for addresses of the server; none in transparent mode.
    tag: Option<Arc<str>>,
    /// The id of the subscription, as JSON (new era).
    id: Option<String>,
    removes_hidden: bool,
}

impl UpdateForm {
    /// The form of the updates of a subscription to this address of the client.
    pub(crate) fn new(view: &View, uri: &str, of: &Subscription, id: Option<&Value>) -> Self {
        Self {
            client_uri: uri.to_owned(),
            original: of.uri().to_owned(),
            tag: view.tag_of(of.server()).map(Arc::from),
            id: id.map(Value::to_string),
            removes_hidden: view.mode.removes_hidden(),
        }
    }

    /// The parameters of a notification for the client: those of the server, with the client's address and
    /// subscription.
    pub(crate) fn fit_update(&self, update: Option<&RawJson>) -> RawJson {
        let bare = json!({ "uri": self.client_uri }).to_string();
        let text = update.map(|update| match self.removes_hidden {
            true => clean_json(update.as_str()),
            false => update.as_str().into(),
        });
        let fitted = text.and_then(|text| self.fit_members(&text)).or_else(|| self.fit_members(&bare));
        RawJson::from_text(&fitted.unwrap_or(bare))
    }

    fn fit_members(&self, text: &str) -> Option<String> {
        let members = JsonMembers::parse(text)?;
        let mut edit = JsonEdit::new(text);
        let place = members.get("uri")?;
        edit.replace(place, json_string(&self.address_for_client(&decode_string(place)?)));
        let meta = members.get("_meta").and_then(|meta| Some((meta, JsonMembers::parse(meta.get())?)));
        let member = self.id.as_ref().map(|id| format!("\"{SUBSCRIPTION}\":{id}"));
        match (meta, member) {
            (Some((meta, inner)), Some(member)) => match (inner.get(SUBSCRIPTION), &self.id) {
                (Some(theirs), Some(id)) => edit.replace(theirs, id.clone()),
                (Some(_) | None, _) => edit.insert_last(meta.get(), &inner, &member),
            },
            (Some((_, inner)), None) if inner.iter().all(|(name, _)| name == SUBSCRIPTION) => {
                edit.remove_members(text, &members, |name| name == "_meta");
            }
            (Some((meta, inner)), None) => {
                edit.remove_members(meta.get(), &inner, |name| name == SUBSCRIPTION);
            }
            (None, Some(member)) => edit.insert_last(text, &members, &format!("\"_meta\":{{{member}}}")),
            (None, None) => {}
        }
        Some(edit.finish().into_owned())
    }

    /// The address of an updated resource, which may lie below the one of the subscription.
    fn address_for_client(&self, uri: &str) -> String {
        match &self.tag {
            _ if uri == self.original || uri == self.client_uri => self.client_uri.clone(),
            Some(tag) => client_address(tag, uri),
            None => uri.to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // G3 G5 G7
    #[test]
    fn update_keeps_its_members_and_names_the_resource_that_changed() {
        let form = |id: Option<&str>, tag: Option<&str>| UpdateForm {
            client_uri: "one+test://a".to_owned(),
            original: "test://a".to_owned(),
            tag: tag.map(Arc::from),
            id: id.map(str::to_owned),
            removes_hidden: true,
        };
        let fit = |form: &UpdateForm, text: &str| {
            form.fit_update(Some(&RawJson::from_text(text))).as_str().to_owned()
        };
        let below =
            r#"{"uri":"test://a/b","_meta":{"k":1.50,"io.modelcontextprotocol/subscriptionId":9},"own":1e2}"#;
        let old = form(None, Some("one"));
        assert_eq!(fit(&old, below), r#"{"uri":"one+test://a/b","_meta":{"k":1.50},"own":1e2}"#);
        let new = form(Some("\"7\""), Some("one"));
        assert_eq!(fit(&new, below), below.replace("test://a/b", "one+test://a/b").replace(":9", ":\"7\""));
        let itself = r#"{"uri":"test://a"}"#;
        assert_eq!(fit(&old, itself), r#"{"uri":"one+test://a"}"#);
        let named = r#"{"uri":"one+test://a","_meta":{"io.modelcontextprotocol/subscriptionId":"7"}}"#;
        assert_eq!(fit(&new, itself), named);
        assert_eq!(fit(&old, named), r#"{"uri":"one+test://a"}"#);
        assert_eq!(new.fit_update(None).as_str(), named);
        assert_eq!(fit(&form(None, None), r#"{"uri":"test://a/b"}"#), r#"{"uri":"test://a/b"}"#);
    }
}
