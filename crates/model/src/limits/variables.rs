//! The environment variables that the program reads; the reference page is generated from this table.

/// An environment variable that the program reads.
#[derive(Clone, Copy, Debug)]
pub struct EnvVariable {
    /// The variable's name.
    pub name: &'static str,
    /// The value that applies when it is not set.
    pub default: &'static str,
    /// The description for the reference page.
    pub meaning: &'static str,
}

/// All environment variables that the program reads.
pub const VARIABLES: &[EnvVariable] = &[
    EnvVariable {
        name: "CLAUDE_CONFIG_DIR",
        default: "`~/.claude`",
        meaning: "The folder of the user's settings. When it is set, `.claude.json` is looked for inside it instead of in the home directory. `--config-dir` wins over it.",
    },
    EnvVariable {
        name: "MCPARLEY_MANAGED_DIR",
        default: "none",
        meaning: "A folder to read `managed-mcp.json` and `managed-settings.json` from, to try a policy before it is rolled out. It counts only on a machine without managed files of its own, so it can never weaken a policy.",
    },
    EnvVariable {
        name: "HOME",
        default: "required",
        meaning: "The home directory: where user files are and where the search for `.mcp.json` ends.",
    },
    EnvVariable {
        name: "XDG_CONFIG_HOME",
        default: "`~/.config`",
        meaning: "Where `import` looks for the files of other programs.",
    },
    EnvVariable {
        name: "XDG_DATA_HOME",
        default: "`~/.local/share`",
        meaning: "Plugins find their own data folder below `mcparley/plugins` there (`${CLAUDE_PLUGIN_DATA}`); your sign-ins are kept, sealed, in `mcparley/secrets`.",
    },
    EnvVariable {
        name: "XDG_STATE_HOME",
        default: "`~/.local/state`",
        meaning: "Server logs are kept below `mcparley/logs` there (`mcparley logs`), and the audit log below `mcparley/audit`.",
    },
    EnvVariable {
        name: "XDG_CACHE_HOME",
        default: "`~/.cache`",
        meaning: "The tools, prompts and resources of servers are cached below `mcparley/surfaces` there, failed starts below `mcparley/failures`, and servers that require a sign-in in `mcparley/mcp-needs-auth-cache.json`; results too long for a model are kept in `mcparley/results`. The folder may be deleted at any time.",
    },
    EnvVariable {
        name: "MCPARLEY_ANCESTRY",
        default: "none",
        meaning: "Set by mcparley for every local server: the signatures of the entries above it. An entry in this list is not started again, and below the third level no server is started.",
    },
    EnvVariable {
        name: "MCPARLEY_STATE",
        default: "none",
        meaning: "The address of the Redis server of `serve --state`, for an address with a password: command lines are visible to other users. `--state` wins over it.",
    },
    EnvVariable {
        name: "OTEL_EXPORTER_OTLP_ENDPOINT",
        default: "none",
        meaning: "The address of an OpenTelemetry collector, such as `http://localhost:4318`. `serve` sends the traces of requests to `/v1/traces` below it, by OTLP over HTTP in JSON. Without an endpoint nothing is collected or sent.",
    },
    EnvVariable {
        name: "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT",
        default: "none",
        meaning: "The address for traces, as it is. It wins over `OTEL_EXPORTER_OTLP_ENDPOINT`.",
    },
    EnvVariable {
        name: "OTEL_EXPORTER_OTLP_HEADERS",
        default: "none",
        meaning: "Headers of each request to the collector, as `name=value,name=value` with percent-encoded values, such as `authorization=Bearer%20TOKEN`. They are never shown.",
    },
    EnvVariable {
        name: "OTEL_SERVICE_NAME",
        default: "`mcparley`",
        meaning: "The name of the gateway in traces.",
    },
    EnvVariable {
        name: "OTEL_TRACES_SAMPLER",
        default: "`parentbased_always_on`",
        meaning: "Which traces are exported: `always_on`, `always_off`, `traceidratio`, or one of them after `parentbased_`, which follows the client where it has decided.",
    },
    EnvVariable {
        name: "OTEL_TRACES_SAMPLER_ARG",
        default: "`1`",
        meaning: "The part of all traces that `traceidratio` exports, from 0 to 1.",
    },
    EnvVariable {
        name: "OTEL_SDK_DISABLED",
        default: "`false`",
        meaning: "With `true` no traces are collected, whatever the other variables say.",
    },
    EnvVariable {
        name: "MCP_TIMEOUT",
        default: "30000",
        meaning: "How many milliseconds connecting to a server may take. Unless it is set, a package runner (`npx`, `bunx`, `uvx`, `pipx`, `docker` and others) that is still downloading gets 120 seconds, which do not count.",
    },
    EnvVariable {
        name: "MCP_TOOL_TIMEOUT",
        default: "100000000",
        meaning: "How many milliseconds one tool call may take without a message from the server. `timeout` in a server's entry wins over it.",
    },
    EnvVariable {
        name: "MAX_MCP_OUTPUT_TOKENS",
        default: "25000",
        meaning: "How many tokens, by estimate, one result may give a model. A longer one is stored, and the model is told how to read on.",
    },
    EnvVariable {
        name: "MCPARLEY_MAX_RESULT_CHARS",
        default: "100000",
        meaning: "The same in characters. A tool that claims more for its results, up to 500,000, gets them, and its tokens are not counted.",
    },
    EnvVariable {
        name: "MCPARLEY_MAX_MESSAGE_BYTES",
        default: "16777216",
        meaning: "How many bytes one message of a server may have: from 1 MiB to 1 GiB. A result within a longer one fails.",
    },
    EnvVariable {
        name: "MCP_SERVER_CONNECTION_BATCH_SIZE",
        default: "3",
        meaning: "How many local servers may be busy starting at the same time. One that only waits gives its place to the next.",
    },
    EnvVariable {
        name: "MCP_REMOTE_SERVER_CONNECTION_BATCH_SIZE",
        default: "20",
        meaning: "How many remote servers are connected to at the same time.",
    },
    EnvVariable {
        name: "ENABLE_TOOL_SEARCH",
        default: "`auto`",
        meaning: "When tools are left out of a model's list until it searches for them: `true` always, `false` never, `auto` when their definitions take more than 10 percent of the context (10,000 tokens if its size is not known), `auto:N` when they take more than N percent.",
    },
    EnvVariable {
        name: "MCPARLEY_SEARCH_VECTORS",
        default: "none",
        meaning: "The folder of static word vectors in model2vec's form, with which tool search also finds tools that say the same in other words. `--search-vectors` wins over it, and it wins over `search.vectors` in the settings. A project folder cannot set it.",
    },
    EnvVariable {
        name: "HTTP_PROXY",
        default: "unset",
        meaning: "The proxy to `http` and `ws` servers, such as `http://name:password@proxy.example:8080`; SOCKS works too. Small letters work for this and the next three, and win.",
    },
    EnvVariable { name: "HTTPS_PROXY", default: "unset", meaning: "The proxy to `https` and `wss` servers." },
    EnvVariable {
        name: "ALL_PROXY",
        default: "unset",
        meaning: "The proxy to servers that have none of the two above.",
    },
    EnvVariable {
        name: "NO_PROXY",
        default: "unset",
        meaning: "Servers that are reached without a proxy: hosts with all below them, `host:port`, address ranges such as `10.0.0.0/8`, or `*`; commas between them. This machine is never reached through a proxy.",
    },
    EnvVariable {
        name: "SSL_CERT_FILE",
        default: "unset",
        meaning: "A file with certificates, in PEM, that are trusted besides the system's.",
    },
    EnvVariable { name: "NODE_EXTRA_CA_CERTS", default: "unset", meaning: "Another such file." },
    EnvVariable {
        name: "CLAUDE_CODE_CLIENT_CERT",
        default: "unset",
        meaning: "A file with the certificate, in PEM, that is shown to servers that want one.",
    },
    EnvVariable {
        name: "CLAUDE_CODE_CLIENT_KEY",
        default: "unset",
        meaning: "The file with the key of that certificate, in PEM; not needed when it stands in the same file.",
    },
    EnvVariable {
        name: "MCPARLEY_CONNECTORS_URL",
        default: "unset",
        meaning: "The URL that lists the organization's connectors; wins over `connectors.url` in user settings, not over that in managed settings. `https`, or `http` on this machine.",
    },
    EnvVariable {
        name: "MCPARLEY_CONNECTORS_TOKEN",
        default: "unset",
        meaning: "The bearer token for the connectors. Without it the one in `~/.claude/.credentials.json` is used, if only you can read that file.",
    },
    EnvVariable {
        name: "CLAUDE_CODE_SSE_PORT",
        default: "unset",
        meaning: "Set by editors in their terminals: the port of the editor's server, which is then connected to as with `--ide`, unless `--strict-mcp-config` is given.",
    },
    EnvVariable {
        name: "MCPARLEY_NO_DAEMON",
        default: "unset",
        meaning: "Any value but `0` starts local servers here, even if the daemon is enabled, as `--no-daemon` does.",
    },
    EnvVariable {
        name: "MCPARLEY_VAULT_KEY",
        default: "unset",
        meaning: "The key of the vault with your sign-ins, 32 bytes in base64 (`head -c 32 /dev/urandom | base64`), for machines that have no keychain and keep no files. No keychain is asked then.",
    },
    EnvVariable {
        name: "MCPARLEY_VAULT_STORAGE",
        default: "`auto`",
        meaning: "Where the key of the vault is kept: `auto` (the system's keychain, failing that a file beside the vault), `keyring` (only a keychain), `file`.",
    },
    EnvVariable {
        name: "DBUS_SESSION_BUS_ADDRESS",
        default: "unset",
        meaning: "The D-Bus address of the desktop's keychain, which may hold the key of the vault.",
    },
    EnvVariable {
        name: "BROWSER",
        default: "unset",
        meaning: "Programs that open sign-in pages, tried before those of the system; `:` between them, and `%s` for the address.",
    },
    EnvVariable {
        name: "MCP_CLIENT_SECRET",
        default: "unset",
        meaning: "The secret for `add --client-secret` and `auth idp setup --client-secret`; without it, it is asked for or read from standard input.",
    },
    EnvVariable {
        name: "MCP_XAA_IDP_CLIENT_SECRET",
        default: "unset",
        meaning: "The secret for `auth idp setup --client-secret`; it wins over `MCP_CLIENT_SECRET`.",
    },
    EnvVariable {
        name: "CLAUDE_AGENT_SDK_MCP_NO_PREFIX",
        default: "unset",
        meaning: "Set to `1`, tools of in-process servers (`type: sdk`) keep their names without the prefix `mcp__server__`, unless the name is taken. For one server of any kind see `serve --no-prefix`.",
    },
    EnvVariable {
        name: "MCPARLEY_ENABLE_XAA",
        default: "unset",
        meaning: "Set to `1`, servers whose entries say `xaa` are signed in to through the identity provider of the settings (`xaaIdp`).",
    },
    EnvVariable { name: "CLAUDE_CODE_ENABLE_XAA", default: "unset", meaning: "The same." },
    EnvVariable {
        name: "MCPARLEY_MODEL",
        default: "the first provider with a key",
        meaning: "The model of `ask` and of the console: `provider:model`, a provider (`anthropic`, `openai`, `gemini`) or a model name. `--model` wins over it. A project folder cannot set the variables of models.",
    },
    EnvVariable { name: "ANTHROPIC_API_KEY", default: "unset", meaning: "The key for Anthropic's API." },
    EnvVariable {
        name: "ANTHROPIC_AUTH_TOKEN",
        default: "unset",
        meaning: "A bearer token for Anthropic's API, sent in place of the key.",
    },
    EnvVariable {
        name: "ANTHROPIC_BASE_URL",
        default: "`https://api.anthropic.com`",
        meaning: "The address of Anthropic's API, or of a service that is compatible with it.",
    },
    EnvVariable {
        name: "ANTHROPIC_MODEL",
        default: "`claude-sonnet-5-5`",
        meaning: "The model of Anthropic's API.",
    },
    EnvVariable { name: "OPENAI_API_KEY", default: "unset", meaning: "The key for OpenAI's API." },
    EnvVariable {
        name: "OPENAI_BASE_URL",
        default: "`https://api.openai.com/v1`",
        meaning: "The address of OpenAI's API, or of a service with the same chat completions, such as Ollama or vLLM, which need no key.",
    },
    EnvVariable { name: "OPENAI_MODEL", default: "`gpt-5.4`", meaning: "The model of OpenAI's API." },
    EnvVariable { name: "GEMINI_API_KEY", default: "unset", meaning: "The key for Gemini's API." },
    EnvVariable {
        name: "GOOGLE_API_KEY",
        default: "unset",
        meaning: "The same, if `GEMINI_API_KEY` is not set.",
    },
    EnvVariable {
        name: "GEMINI_BASE_URL",
        default: "`https://generativelanguage.googleapis.com`",
        meaning: "The address of Gemini's API.",
    },
    EnvVariable {
        name: "GEMINI_MODEL",
        default: "`gemini-flash-latest`",
        meaning: "The model of Gemini's API.",
    },
    EnvVariable {
        name: "NO_COLOR",
        default: "unset",
        meaning: "Turns colors off when it is set to any value.",
    },
];
