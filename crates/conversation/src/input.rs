//! A message of the user: text, and the resources that it mentions.

use mcparley::resource::MentionedResources;
use mcparley::{ContentBlock, Host};

/// A message of the user.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct UserInput {
    pub(crate) blocks: Vec<ContentBlock>,
}

impl UserInput {
    /// The text, with the resources that it mentions as `@server:uri`.
    pub async fn with_mentions(host: &Host, text: &str) -> Self {
        let mentioned = host.read_mentions(text).await;
        Self::from(text).with_resources(&mentioned)
    }

    /// Adds resources that the text mentions.
    #[must_use]
    pub fn with_resources(mut self, mentioned: &MentionedResources) -> Self {
        self.blocks.extend(mentioned.resources.iter().flat_map(|resource| resource.to_blocks()));
        self
    }

    /// Adds content, such as the messages of a prompt.
    #[must_use]
    pub fn with_blocks(mut self, blocks: impl IntoIterator<Item = ContentBlock>) -> Self {
        self.blocks.extend(blocks);
        self
    }
}

impl From<&str> for UserInput {
    fn from(text: &str) -> Self {
        Self { blocks: vec![ContentBlock::Text(text.to_owned())] }
    }
}

impl From<String> for UserInput {
    fn from(text: String) -> Self {
        Self { blocks: vec![ContentBlock::Text(text)] }
    }
}
