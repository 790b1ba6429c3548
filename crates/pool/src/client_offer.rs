//! The capabilities of one client of a gateway, as far as servers are offered them.

use serde_json::{Value, json};

/// The requests of servers that a client can answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct ClientOffer {
    /// Forms (elicitation).
    pub form: bool,
    /// Pages to visit (URL elicitation).
    pub url: bool,
    /// Requests to its model (sampling).
    pub sampling: bool,
    /// Sampling with tools.
    pub sampling_tools: bool,
    /// The list of its folders (roots).
    pub roots: bool,
    /// User interfaces of servers (MCP Apps).
    pub apps: bool,
}

impl ClientOffer {
    /// Everything that clients can have.
    pub const ALL: Self =
        Self { form: true, url: true, sampling: true, sampling_tools: true, roots: true, apps: true };

    /// The client capabilities for a server, from those that the host supports.
    pub(crate) fn restrict_capabilities(self, mut supported: Value, has_form_hooks: bool) -> Value {
        let Some(members) = supported.as_object_mut() else { return supported };
        let modes = [("form", self.form || has_form_hooks), ("url", self.url)];
        let modes: serde_json::Map<String, Value> = modes
            .into_iter()
            .filter(|(_, is_offered)| *is_offered)
            .map(|(mode, _)| (mode.to_owned(), json!({})))
            .collect();
        if modes.is_empty() {
            drop(members.shift_remove("elicitation"))
        } else {
            drop(members.insert("elicitation".to_owned(), modes.into()))
        }
        if !self.roots {
            members.shift_remove("roots");
        }
        match (self.sampling, self.sampling_tools) {
            (false, _) => drop(members.shift_remove("sampling")),
            (true, false) => drop(members.insert("sampling".to_owned(), json!({}))),
            (true, true) => drop(members.insert("sampling".to_owned(), json!({ "tools": {} }))),
        }
        if self.apps {
            let apps = json!({ "mimeTypes": ["text/html;profile=mcp-app"] });
            supported["extensions"]["io.modelcontextprotocol/ui"] = apps;
        }
        supported
    }
}

#[cfg(test)]
mod tests {
    //! The capabilities of clients.
    use super::*;

    fn supported() -> Value {
        json!({
            "extensions": { "io.modelcontextprotocol/tasks": {} }, "roots": { "listChanged": true },
            "elicitation": { "form": {}, "url": {} }, "sampling": { "tools": {} },
        })
    }

    // G3 X5 X6
    #[test]
    fn servers_are_offered_the_capabilities_of_the_client() {
        let none = ClientOffer::default();
        let tasks = json!({ "io.modelcontextprotocol/tasks": {} });
        assert_eq!(none.restrict_capabilities(supported(), false), json!({ "extensions": tasks }));
        assert_eq!(
            none.restrict_capabilities(supported(), true),
            json!({ "extensions": tasks, "elicitation": { "form": {} } }),
            "hooks answer forms"
        );
        let all = ClientOffer {
            form: true,
            url: true,
            sampling: true,
            sampling_tools: true,
            roots: true,
            apps: false,
        };
        assert_eq!(all.restrict_capabilities(supported(), false), supported());
        let plain = ClientOffer { sampling_tools: false, ..all };
        assert_eq!(plain.restrict_capabilities(supported(), false)["sampling"], json!({}));
        let apps = ClientOffer { apps: true, ..none }.restrict_capabilities(supported(), false);
        assert!(apps["extensions"]["io.modelcontextprotocol/ui"].is_object());
    }
}
