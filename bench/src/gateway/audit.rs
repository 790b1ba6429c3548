//! Measures what a call costs more with the audit log than without: processor time of the gateway.

use std::io;

use super::running::{GatewayDoor, RunningGateway};
use crate::figure::{BenchFigure, FigureBound, FigureUnit};
use crate::rounds;
use crate::stage::BenchStage;

const NAME: &str = "gateway on stdio, 100 B, audit log, processor";
const BOUND: FigureBound = FigureBound::Within(1e-6);
const SIZE: usize = 100;
const WIDTH: usize = 64;
/// So many that a tick of the clock that counts processor time is a tenth of the promise.
const COUNT: usize = 100_000;

pub(crate) fn measure_audit(
    stage: &BenchStage,
    rounds: usize,
    wanted: &dyn Fn(&str) -> bool,
) -> io::Result<Option<BenchFigure>> {
    if !wanted(NAME) {
        return Ok(None);
    }
    let start = |audit: bool| {
        let settings = format!(r#"{{"audit":{audit}}}"#);
        RunningGateway::start_with(stage, GatewayDoor::Stdio, &["--settings", &settings])
    };
    let mut contenders = [start(false)?, start(true)?];
    let samples = rounds::run_rounds(rounds, contenders.len(), |contender| {
        let gateway = contenders.get_mut(contender).ok_or(io::ErrorKind::NotFound)?;
        let before = gateway.processor_seconds()?;
        gateway.caller().call_concurrently(SIZE, COUNT, WIDTH)?;
        Ok((gateway.processor_seconds()? - before) / COUNT as f64)
    })?;
    let [without, with] = <[_; 2]>::try_from(samples).unwrap_or_default();
    let ours = with.difference_to(&without);
    Ok(Some(BenchFigure::Alone { name: NAME.to_owned(), unit: FigureUnit::Time, ours, bound: BOUND }))
}
