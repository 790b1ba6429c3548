//! Sampling: decides which traces are exported, as `OTEL_TRACES_SAMPLER` says.

use crate::trace_context::TraceId;

/// The decision which traces are exported. It is made where a trace enters the program; spans below follow it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TraceSampler {
    /// Whether the decision of the client holds, where it has made one.
    follows_parent: bool,
    root: RootSampler,
}

/// The decision for traces without one.
#[derive(Clone, Copy, Debug, PartialEq)]
enum RootSampler {
    Always,
    Never,
    /// This part of all traces, chosen by their ids: every program chooses the same.
    Ratio(f64),
}

impl Default for TraceSampler {
    /// `parentbased_always_on`, the default of OpenTelemetry.
    fn default() -> Self {
        Self { follows_parent: true, root: RootSampler::Always }
    }
}

impl TraceSampler {
    /// The sampler of this name with this argument; `None` for an unknown name or a wrong argument.
    #[must_use]
    pub fn from_name(name: &str, argument: Option<&str>) -> Option<Self> {
        let (follows_parent, root) = match name.strip_prefix("parentbased_") {
            Some(root) => (true, root),
            None => (false, name),
        };
        let root = match (root, argument) {
            ("always_on", _) => RootSampler::Always,
            ("always_off", _) => RootSampler::Never,
            ("traceidratio", None) => RootSampler::Ratio(1.0),
            ("traceidratio", Some(ratio)) => {
                let ratio = ratio.trim().parse().ok().filter(|ratio| (0.0..=1.0).contains(ratio))?;
                RootSampler::Ratio(ratio)
            }
            _ => return None,
        };
        Some(Self { follows_parent, root })
    }

    /// Whether a trace is exported; `parent` is the decision of the client that began it.
    pub(crate) fn is_sampled(&self, trace: TraceId, parent: Option<bool>) -> bool {
        match (parent, self.root) {
            (Some(decision), _) if self.follows_parent => decision,
            (_, RootSampler::Always) => true,
            (_, RootSampler::Never) => false,
            (_, RootSampler::Ratio(ratio)) => is_below(trace, ratio),
        }
    }
}

/// Whether the id, as a number between 0 and 1, is below the ratio.
#[expect(clippy::cast_precision_loss, reason = "a share of traces need not be exact to the last bit")]
fn is_below(trace: TraceId, ratio: f64) -> bool {
    (trace.low_half() >> 11) as f64 / ((1_u64 << 53) as f64) < ratio
}

#[cfg(test)]
mod tests {
    //! The samplers of the specification.
    use super::*;

    fn sampler(name: &str, argument: Option<&str>) -> TraceSampler {
        TraceSampler::from_name(name, argument).unwrap()
    }

    // G6
    #[test]
    fn sampler_follows_its_parent_only_if_it_says_so() {
        let trace = TraceId::random();
        for (name, for_sampled, for_unsampled, for_none) in [
            ("always_on", true, true, true),
            ("always_off", false, false, false),
            ("parentbased_always_on", true, false, true),
            ("parentbased_always_off", true, false, false),
            ("parentbased_traceidratio", true, false, true),
        ] {
            let sampler = sampler(name, None);
            let decisions = [Some(true), Some(false), None].map(|parent| sampler.is_sampled(trace, parent));
            assert_eq!(decisions, [for_sampled, for_unsampled, for_none], "{name}");
        }
        assert_eq!(sampler("parentbased_always_on", None), TraceSampler::default());
    }

    // G6
    #[test]
    fn ratio_exports_its_share_of_traces() {
        for (ratio, least, most) in [("0", 0, 0), ("0.25", 2200, 2800), ("1", 10_000, 10_000)] {
            let sampler = sampler("traceidratio", Some(ratio));
            let count = (0..10_000).filter(|_| sampler.is_sampled(TraceId::random(), None)).count();
            assert!((least..=most).contains(&count), "{count} of 10000 at {ratio}");
        }
    }

    // G6
    #[test]
    fn unknown_sampler_and_wrong_ratio_are_refused() {
        for (name, argument) in [("jaeger_remote", None), ("", None), ("parentbased_", None)] {
            assert_eq!(TraceSampler::from_name(name, argument), None, "{name}");
        }
        for ratio in ["2", "-1", "NaN", "half", ""] {
            assert_eq!(TraceSampler::from_name("traceidratio", Some(ratio)), None, "{ratio}");
        }
    }
}
