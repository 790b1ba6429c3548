//! Limits of prompts, resources and skills.

/// The maximum number of arguments of a prompt; users do not type more.
pub const PROMPT_ARGUMENTS: usize = 64;

/// The maximum number of messages of a prompt; the rest is omitted with a note.
pub const PROMPT_MESSAGES: usize = 256;

/// The maximum size of a resource URI, also of one made from a template: servers accept no longer one.
pub const URI_BYTES: usize = 64 * 1024;

/// The maximum number of variables in a URI template.
pub const TEMPLATE_VARIABLES: usize = 64;

/// The maximum number of resources and templates in one result of `ListMcpResources`.
pub const RESOURCES_SHOWN: usize = 100;

/// The number of characters shown of a resource's description; `ReadMcpResource` shows more.
pub const RESOURCE_LINE_CHARS: usize = 300;

/// The maximum number of resource mentions in one text that are looked up.
pub const MENTIONS: usize = 32;

/// The number of characters of a mentioned resource that a model sees; `ReadMcpResource` reads the rest.
pub const MENTION_CHARS: usize = 100_000;

/// The maximum number of files in one skill, `SKILL.md` included: the number that the extension guarantees
/// to servers.
pub const SKILL_FILES: usize = 512;

/// The maximum size of all files of one skill together.
pub const SKILL_BYTES: u64 = 16 * 1024 * 1024;

/// The maximum number of watched resources of one server.
pub const WATCHED_RESOURCES: usize = 256;
