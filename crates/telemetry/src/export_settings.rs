//! The settings of the exporter, from the standard environment variables of OpenTelemetry.

use mcparley_model::secret::Secret;
use percent_encoding::percent_decode_str;
use url::Url;

use crate::sampler::TraceSampler;

/// The path of traces below `OTEL_EXPORTER_OTLP_ENDPOINT`.
const TRACES_PATH: &str = "v1/traces";
/// The name of the service, unless the user gives another.
const SERVICE_NAME: &str = "mcparley";

/// The settings of the exporter.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ExportSettings {
    pub(crate) endpoint: Url,
    /// Headers of every request, which may be credentials.
    pub(crate) headers: Vec<(String, Secret<String>)>,
    pub(crate) service_name: String,
    pub(crate) sampler: TraceSampler,
}

impl ExportSettings {
    /// Reads the variables `OTEL_…` through `lookup`; `None` without an endpoint. The second value are warnings
    /// about variables that are ignored.
    pub(crate) fn from_lookup(lookup: impl Fn(&str) -> Option<String>) -> (Option<Self>, Vec<String>) {
        let variable =
            |name: &str| lookup(name).map(|value| value.trim().to_owned()).filter(|it| !it.is_empty());
        let mut warnings = Vec::new();
        if variable("OTEL_SDK_DISABLED").is_some_and(|value| value.eq_ignore_ascii_case("true")) {
            return (None, warnings);
        }
        let Some(endpoint) = find_endpoint(&variable, &mut warnings) else { return (None, warnings) };
        let headers = variable("OTEL_EXPORTER_OTLP_HEADERS");
        let settings = Self {
            endpoint,
            headers: headers.map(|text| parse_headers(&text, &mut warnings)).unwrap_or_default(),
            service_name: variable("OTEL_SERVICE_NAME").unwrap_or_else(|| SERVICE_NAME.to_owned()),
            sampler: find_sampler(&variable, &mut warnings),
        };
        (Some(settings), warnings)
    }

    /// The address of the collector, without credentials.
    pub(crate) fn shown_endpoint(&self) -> String {
        let mut shown = self.endpoint.clone();
        // Neither fails for an address with a host.
        let _ = (shown.set_username(""), shown.set_password(None));
        shown.set_query(None);
        shown.to_string()
    }
}

/// The address of the collector: of traces as it is given, or below the one of all signals.
fn find_endpoint(variable: &impl Fn(&str) -> Option<String>, warnings: &mut Vec<String>) -> Option<Url> {
    let name = ["OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT"]
        .into_iter()
        .find(|name| variable(name).is_some())?;
    let url = Url::parse(&variable(name)?).ok();
    let Some(mut url) = url.filter(|url| matches!(url.scheme(), "http" | "https") && url.has_host()) else {
        warnings.push(format!("no traces are exported: `{name}` is not an address of HTTP"));
        return None;
    };
    if name == "OTEL_EXPORTER_OTLP_ENDPOINT"
        && let Ok(mut path) = url.path_segments_mut()
    {
        path.pop_if_empty().extend(TRACES_PATH.split('/'));
    }
    Some(url)
}

/// The headers, as `name=value,name=value` with percent-encoded values.
fn parse_headers(text: &str, warnings: &mut Vec<String>) -> Vec<(String, Secret<String>)> {
    let mut headers = Vec::new();
    for pair in text.split(',').map(str::trim).filter(|pair| !pair.is_empty()) {
        let header = pair.split_once('=').and_then(|(name, value)| {
            let value = percent_decode_str(value.trim()).decode_utf8().ok()?;
            let is_name = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
            let name = Some(name.trim()).filter(|name| !name.is_empty() && name.bytes().all(is_name))?;
            let is_value = value.bytes().all(|byte| byte == b'\t' || (byte >= b' ' && byte != 0x7f));
            is_value.then(|| (name.to_owned(), Secret::new(value.into_owned())))
        });
        match header {
            Some(header) => headers.push(header),
            // The entry is not shown: it may be a token.
            None => warnings.push("an entry of `OTEL_EXPORTER_OTLP_HEADERS` is no `name=value`".to_owned()),
        }
    }
    headers
}

fn find_sampler(variable: &impl Fn(&str) -> Option<String>, warnings: &mut Vec<String>) -> TraceSampler {
    let Some(name) = variable("OTEL_TRACES_SAMPLER") else { return TraceSampler::default() };
    let argument = variable("OTEL_TRACES_SAMPLER_ARG");
    TraceSampler::from_name(&name, argument.as_deref()).unwrap_or_else(|| {
        let both = "`OTEL_TRACES_SAMPLER` and `OTEL_TRACES_SAMPLER_ARG`";
        warnings.push(format!("all traces are exported: {both} name no sampler that is known here"));
        TraceSampler::default()
    })
}

#[cfg(test)]
mod tests {
    //! The variables of the specification.
    use super::*;

    fn read(variables: &[(&str, &str)]) -> (Option<ExportSettings>, Vec<String>) {
        ExportSettings::from_lookup(|name| {
            variables.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned())
        })
    }

    // G6
    #[test]
    fn nothing_is_exported_without_an_endpoint_or_when_it_is_disabled() {
        let endpoint = ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://collector:4318");
        assert_eq!(read(&[("OTEL_SERVICE_NAME", "x")]), (None, vec![]));
        assert_eq!(read(&[("OTEL_EXPORTER_OTLP_ENDPOINT", "  ")]), (None, vec![]));
        assert_eq!(read(&[endpoint, ("OTEL_SDK_DISABLED", "TRUE")]), (None, vec![]));
        assert!(read(&[endpoint, ("OTEL_SDK_DISABLED", "false")]).0.is_some());
    }

    // G6
    #[test]
    fn endpoint_of_traces_is_used_as_it_is_and_wins() {
        let (all, traces) = ("OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT");
        for (variables, expected) in [
            (&[(all, "http://c:4318")][..], "http://c:4318/v1/traces"),
            (&[(all, "https://c/otlp/")], "https://c/otlp/v1/traces"),
            (&[(all, "http://c:4318"), (traces, "http://d/own")], "http://d/own"),
        ] {
            let (settings, warnings) = read(variables);
            assert_eq!((settings.unwrap().endpoint.as_str(), warnings), (expected, vec![]));
        }
        for wrong in ["collector:4317", "grpc://c", "file:///x", "nonsense"] {
            let (settings, warnings) = read(&[(all, wrong)]);
            assert!(settings.is_none() && warnings.len() == 1, "{wrong}: {warnings:?}");
        }
    }

    // G6 N7
    #[test]
    fn headers_are_decoded_and_never_shown() {
        let text = "authorization=Bearer%20s3cret, x-team = a,broken,=no,bad\u{1}=x,v=%0a";
        let (settings, warnings) = read(&[
            ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://u:s3cret@c/?k=s3cret"),
            ("OTEL_EXPORTER_OTLP_HEADERS", text),
        ]);
        let settings = settings.unwrap();
        let headers: Vec<_> =
            settings.headers.iter().map(|(name, value)| (name.as_str(), value.expose().as_str())).collect();
        assert_eq!(headers, [("authorization", "Bearer s3cret"), ("x-team", "a")]);
        assert_eq!(warnings.len(), 4, "{warnings:?}");
        assert!(!format!("{warnings:?} {:?}", settings.headers).contains("s3cret"));
        assert_eq!(settings.shown_endpoint(), "http://c/v1/traces");
    }

    // G6
    #[test]
    fn unknown_sampler_is_warned_about() {
        let endpoint = ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://c");
        let (settings, warnings) = read(&[endpoint, ("OTEL_TRACES_SAMPLER", "xray")]);
        assert_eq!((settings.unwrap().sampler, warnings.len()), (TraceSampler::default(), 1));
        let ratio = [endpoint, ("OTEL_TRACES_SAMPLER", "traceidratio"), ("OTEL_TRACES_SAMPLER_ARG", "0.5")];
        let expected = TraceSampler::from_name("traceidratio", Some("0.5"));
        assert_eq!(read(&ratio).0.map(|settings| settings.sampler), expected);
    }
}
