//! The table of scripts: all faults of the servers, with their words and effects.
//!
//! "On a call" means: on the first `--times` (default: all) requests of the method that `--on` names
//! (default: `tools/call`).

use super::{ArgumentShape, Place, Script};
use ArgumentShape::{Bare, Number, Size, Text, Word};

/// The upper limit of delays, in milliseconds.
const MS: u64 = 120_000;
/// The upper limit of counts.
const COUNT: u64 = 2_000_000;

macro_rules! scripts {
    ($($place:ident $name:ident $word:literal $shape:expr, $what:literal;)*) => {
        /// The name of a script.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Name {
            $(#[doc = $what] $name,)*
        }

        /// All scripts.
        pub const SCRIPTS: &[Script] = &[
            $(Script { name: Name::$name, word: $word, place: Place::$place, shape: $shape, what: $what },)*
        ];
    };
}

scripts! {
    // Process lifecycle.
    Stdio ExitStart "exit-start" Bare, "exits at once with code 3 and a text on stderr";
    Stdio HangStart "hang-start" Bare, "reads all input and answers nothing";
    Stdio CallExit "call-exit" Bare, "exits with code 4 on a call";
    Both CallHang "call-hang" Bare, "never answers a call; other methods still work";
    Stdio PartialExit "partial-exit" Bare, "writes half the line of a reply, then exits with code 6";
    Stdio CloseStdout "close-stdout" Word(&["call", "init"]), "closes stdout on a call or after the handshake's reply, and lives on";
    Stdio CloseStdin "close-stdin" Bare, "closes stdin before its reply to a call of `echo`, and lives on";
    Stdio NoRead "no-read" Bare, "stops reading stdin after the reply to initialize or server/discover";
    Stdio CrashLoop "crash-loop" Bare, "exits with code 5 right after the reply to initialize or server/discover";
    Stdio IgnoreTerm "ignore-term" Bare, "ignores SIGINT, SIGTERM, SIGHUP and the end of stdin";
    Stdio Daemon "daemon" Bare, "starts a double-forked grandchild in a session of its own";
    // Output around the messages.
    Stdio Noise "noise" Size(1), "that much text that is no JSON on stdout before the first message";
    Stdio Banner "banner" Bare, "log lines, blank lines, CRLF, ANSI colors and LSP framing on stdout before the first message";
    Stdio Chatter "chatter" Bare, "log lines that look like JSON on stdout, before the first message and around every other";
    Stdio Bom "bom" Bare, "a byte order mark before the first message";
    Stdio Crlf "crlf" Bare, "ends every line with CR LF";
    Stdio Batch "batch" Bare, "wraps every message in an array";
    Stdio SplitReply "split-reply" Number(200, MS), "the reply to a call in two writes, that many milliseconds apart";
    Stdio StderrFlood "stderr-flood" Size(1), "that much on stderr before the reply to a call";
    // Messages before a reply.
    Both Flood "flood" Number(10_000, COUNT), "that many log notifications before the reply to a call, in one write with it on stdio";
    Both ListChangedStorm "list-changed-storm" Number(100_000, COUNT), "that many tools/list_changed before the reply to a call";
    Both ProgressStorm "progress-storm" Number(100_000, COUNT), "that many progress notifications before the reply to a call";
    Both Notice "notice" Text("notifications/vendor/done"), "sends a notification of that method before the reply to a call, about the task that the call names";
    Both ListenEnd "listen-end" Word(&["result", "cancelled", "cut"]), "a call ends the subscriptions: with a result, a cancelled notification, or (HTTP) the stream alone";
    Both ServerRequest "server-request" Text("roots/list"), "sends a request of its own on a call; its answer is the text of the reply";
    // Requests to the client before a call is answered.
    Both Wants "wants" Word(&["form", "url", "roots", "sampling", "bogus", "state"]), "a call of the new era is answered by wanting that first, or only to be asked again";
    Both Asks "asks" Word(&["form", "url", "sampling", "roots"]), "a call asks its client for that, with a request in mid-call or, in the new era, with a result that requires it; the answer is the text of the reply";
    Both UrlRequired "url-required" Text("https://example.com/visit"), "a call answers -32042 with that address";
    // Tasks, logging and completion.
    Both Task "task" Number(2, COUNT), "a tool `chore` whose calls become tasks that have ended at that look; 0 is never";
    Both TaskWants "task-wants" Bare, "a task wants a form filled in first";
    Both TaskEnd "task-end" Word(&["completed", "failed", "cancelled", "forgotten"]), "how a task ends; a forgotten one is not known any more at the second look";
    Both Logging "logging" Bare, "offers logging; before the reply to a call one message of each level that is wanted";
    Both Completions "completions" Number(3, COUNT), "offers completion, with that many values";
    // Damaged replies.
    Both NotJson "not-json" Bare, "a reply that is no JSON, with a readable id";
    Both BadUtf8 "bad-utf8" Bare, "a reply with invalid UTF-8 in its text";
    Both LoneSurrogate "lone-surrogate" Bare, "a reply with a lone \\ud800 in its text";
    Both WrongShape "wrong-shape" Bare, "a result whose content is a string";
    Both ResultAndError "result-and-error" Bare, "a reply with both a result and an error";
    Both Neither "neither" Bare, "a reply with neither a result nor an error";
    Both NoJsonrpc "no-jsonrpc" Bare, "a reply without jsonrpc";
    Both Jsonrpc1 "jsonrpc-1" Bare, "a reply whose jsonrpc is \"1.0\"";
    Both JsonrpcNumber "jsonrpc-number" Bare, "a reply whose jsonrpc is the number 2";
    Both DuplicateId "duplicate-id" Bare, "a reply with two ids, the right one first";
    Both DuplicateResult "duplicate-result" Bare, "a reply with two results, the right one first";
    Both UnknownId "unknown-id" Bare, "a reply with an id that was never requested";
    Both NullId "null-id" Word(&["error", "result"]), "an error, or a result, whose id is null";
    Both StringId "string-id" Bare, "the id in its string form";
    Both FloatId "float-id" Bare, "the id with .0 behind it";
    Both BoolId "bool-id" Bare, "true as id";
    Both ObjectId "object-id" Bare, "an object as id";
    Both CaseKeys "case-keys" Bare, "the keys `ID` and `Result`";
    Both Deep "deep" Number(100_000, COUNT), "a result nested that deep, the id first";
    Both Huge "huge" Size(32), "one reply of exactly that size, the id first";
    Both HugeIdLast "huge-id-last" Size(32), "one reply of exactly that size, the id last";
    Both NumberBombs "number-bombs" Word(&["valid", "nan"]), "1e999999, an integer of 100,000 digits and -0, or NaN too";
    Both Twice "twice" Bare, "answers the same id twice";
    // Wrong lists.
    Both CursorSame "cursor-same" Bare, "tools/list gives the same cursor for ever";
    Both CursorEndless "cursor-endless" Bare, "tools/list gives a new cursor and a new tool for ever";
    Both ManyTools "many-tools" Number(5_000, COUNT), "tools/list gives that many tools in one page";
    Both AlsoTool "also-tool" Text("authenticate"), "one more tool, of this name; it is only listed";
    Both AppTool "app-tool" Text("panel"), "one more tool, of this name, that is for apps only; it is only listed";
    Both Described "described" Text("file"), "the tool `add` is described by the text of that file, reread for each list";
    Both ChangedBeforeListen "changed-before-listen" Text("changed"), "that text is in the file of `described` just before a subscription begins, which nothing announces";
    Both BadTools "bad-tools" Bare, "tools without or with a wrong inputSchema, name or description among good ones";
    Both ParamHeaders "param-headers" Bare, "a tool `locate` whose arguments must stand in Mcp-Param headers too, and tools marked wrongly";
    Both StaleMarks "stale-marks" Bare, "a list that marks the arguments of `locate` for other headers (aim it with `--on tools/list --times 1`)";
    Both ListError "list-error" Text("tools/list"), "that method answers -32603";
    // Further offers.
    Both Watched "watched" Bare, "resources can be subscribed to, and a call tells that `test://note` has changed";
    Both Offers "offers" Text("offers"), "templates, prompts, resources and their contents as that file has them: a JSON object by method";
    // Wrong handshakes.
    Both Version "version" Text("9999"), "the greeting names this protocol version";
    Both VersionNumber "version-number" Bare, "the greeting names a number as protocol version";
    Both NoCapabilities "no-capabilities" Bare, "the greeting has no capabilities";
    Both NullCapabilities "null-capabilities" Bare, "the greeting's capabilities are null";
    Both NoServerInfo "no-server-info" Bare, "the greeting has no serverInfo";
    Both LongInstructions "long-instructions" Number(10_000_000, 100_000_000), "the greeting's instructions have that many characters";
    Both RefuseVersion "refuse-version" Bare, "-32022 that names the versions it speaks (aim it with `--on server/discover --times 1`)";
    Both Discover "discover" Word(&["-32602", "-32600-no-id", "exit", "silent"]), "how server/discover is answered, whatever the versions";
    // Streamable HTTP.
    Http Expire1 "expire1" Bare, "the first session expires on its first call (404, -32001)";
    Http ExpireAll "expire-all" Bare, "every session expires on its first call";
    Http Expire400 "expire-400" Bare, "as expire1, but 400 with -32000 and a text that names the session";
    Http NotFound "404" Bare, "issues no session, and a call is 404";
    Http Html "html" Bare, "a call is 200 with a web page";
    Http Cut "cut" Bare, "the body ends before its Content-Length";
    Http SseCut "sse-cut" Bare, "the event stream ends without the reply";
    Http SseInf "sse-inf" Size(1024), "one event that does not end within that size";
    Http SseGrammar "sse-grammar" Bare, "a stream with every line end, comments, retry, ids with NUL and data in many lines";
    Http JsonBig "json-big" Size(400), "a JSON body of exactly that size";
    Http ErrBig "err-big" Size(400), "500 with a body of that size";
    Http Status "status" Text("503"), "that status on a call; `:once` behind it for the first call only";
    Http RetryAfter "retry-after" Text("2"), "429 (or the status of `status`) with this Retry-After on a call";
    Http Redirect "redirect" Word(&["same", "other", "downgrade", "loop"]), "307 for every POST to the endpoint and every request for a WebSocket, to there";
    Http ReplyOnGet "reply-on-get" Bare, "202 for a call; its reply comes on the GET stream";
    Http OtherIdOnStream "other-id-on-stream" Bare, "a result for another id on the call's stream, then the reply";
    Http SlowHeaders "slow-headers" Number(200, MS), "the status line of a call's answer, then that many milliseconds nothing";
    Http SlowBody "slow-body" Number(200, MS), "the headers of a call's answer, then that many milliseconds nothing";
    Http JsonAfter "json-after" Number(200, MS), "a plain JSON answer to a call after that many milliseconds of silence";
    Http WwwAuthenticate "www-authenticate" Bare, "401 with a challenge for every request without a token";
    Http TokenFile "token-file" Text("tokens"), "401 for every request whose bearer token is no line of that file";
    Http Connectors "connectors" Text("pages"), "a catalog of connectors at /v1/mcp_servers, its pages the lines of that file, and the endpoint at /v1/mcp/ID too";
    Http Ide "ide" Text("token"), "an editor: its tools, its stream at /sse, 401 without that token, 403 with an Origin";
    Http LegacySseOnly "legacy-sse-only" Word(&["good", "absolute", "late", "no-endpoint", "no-events", "other-origin"]), "POST is 405, GET is a 2024-11-05 event stream with such an endpoint event";
    // WebSocket.
    Http WsHandshake "ws-handshake" Word(&["accept", "upgrade", "extension", "other-protocol", "no-protocol", "page"]), "answers the request for a WebSocket with a wrong key, protocol or extension, or with a web page";
    Http WsStatus "ws-status" Number(403, 599), "answers the request for a WebSocket with that status";
    Http WsReply "ws-reply" Word(&["binary", "masked", "reserved", "continued", "cut"]), "the reply to a call in such a frame";
    Http WsFragments "ws-fragments" Number(1_000_000, COUNT), "the reply to a call in that many fragments, most of them empty";
    Http WsEndless "ws-endless" Bare, "empty fragments without end instead of the reply to a call";
    Http WsClose "ws-close" Number(1011, 4999), "ends the WebSocket with that code instead of the reply to a call; 1006 closes it without a close frame";
    Http WsPing "ws-ping" Bare, "answers a call only when its ping has been answered";
    Http WsDeaf "ws-deaf" Word(&["pings", "close", "everything"]), "answers no ping or no close, or reads nothing more once it was greeted";
}
