//! Log messages of servers, as clients get them.

use mcparley::model::log_level::LogLevel;
use mcparley::model::name::ServerName;
use mcparley::model::text::{clean_json, display_line};
use mcparley_wire::RawJson;

use crate::json_edit::{JsonEdit, JsonMembers, MemberList, decode_string, json_string};
use crate::mode::GatewayMode;

/// The parameters of a log message for a client: as the server wrote them, in transparent mode unchanged. Elsewhere
/// the name of the server stands in front of the logger's, and an unknown level becomes `info`.
pub(crate) fn fit_log_message(mode: &GatewayMode, server: &ServerName, params: &RawJson) -> RawJson {
    if mode.is_transparent() {
        return params.clone();
    }
    let text = if mode.removes_hidden() { clean_json(params.as_str()) } else { params.as_str().into() };
    let Some(members) = JsonMembers::parse(&text).filter(MemberList::has_members) else {
        return params.clone();
    };
    let (mut edit, server) = (JsonEdit::new(&text), display_line(server.as_str()));
    match members.get("logger").map(|logger| (logger, decode_string(logger))) {
        Some((place, Some(logger))) => edit.replace(place, json_string(&format!("{server}/{logger}"))),
        Some((place, None)) => edit.replace(place, json_string(&server)),
        None => edit.insert_last(&text, &members, &format!("\"logger\":{}", json_string(&server))),
    }
    match members.get("level").map(|level| (level, decode_string(level))) {
        Some((_, Some(level))) if level.parse::<LogLevel>().is_ok() => {}
        Some((place, _)) => edit.replace(place, json_string(LogLevel::Info.as_str())),
        None => edit.insert_last(&text, &members, r#""level":"info""#),
    }
    RawJson::from_text(&edit.finish())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fit_text(mode: &GatewayMode, params: &str) -> String {
        fit_log_message(mode, &ServerName::new("one"), &RawJson::from_text(params)).as_str().to_owned()
    }

    // G7 X8
    #[test]
    fn log_message_keeps_everything_but_its_logger() {
        let mode = GatewayMode::default();
        let rich =
            r#"{"data":{"n":1.50,"list":[1e2]},"level":"error","logger":"db","_meta":{"k":1},"own":[]}"#;
        assert_eq!(fit_text(&mode, rich), rich.replace(r#""db""#, r#""one/db""#));
        assert_eq!(
            fit_text(&mode, r#"{"level":"info","data":"x"}"#),
            r#"{"level":"info","data":"x","logger":"one"}"#
        );
        let odd = r#"{"level":7,"logger":null,"data":"a\u200bb"}"#;
        assert_eq!(fit_text(&mode, odd), r#"{"level":"info","logger":"one","data":"ab"}"#);
        assert_eq!(fit_text(&mode, r#"{"data":1}"#), r#"{"data":1,"logger":"one","level":"info"}"#);
        let one = GatewayMode::transparent(ServerName::new("one"));
        assert_eq!(fit_text(&one, odd), odd);
    }
}
