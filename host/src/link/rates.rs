//! Which rates to try at a port, and whether it has the one it was given.

use crate::discover::Port;
use crate::link::{LinkError, TOLERANCE_PERCENT};
use std::collections::VecDeque;
use systole_boards::Board;
use systole_hdl::parameters::Parameters;

/// Rates that images may have been made for, fastest first.
const LADDER: [u32; 8] = [12_000_000, 6_000_000, 3_000_000, 2_000_000, 1_000_000, 921_600, 460_800, 115_200];

/// The rates to try: those of the boards that have their UART at such a port, then the others that its chip can do. A
/// port that nobody knows, such as a pseudo-terminal, which has every rate at once, is tried at the default alone.
pub(super) fn of(port: Option<&Port>) -> VecDeque<u32> {
    port.map_or_else(|| VecDeque::from([Parameters::DEFAULT.baud]), |port| of_boards(&port.boards))
}

/// The rates to try where one of these boards may be.
pub(super) fn of_boards(boards: &[&Board]) -> VecDeque<u32> {
    let usual = boards.iter().map(|board| board.parameters.baud);
    let most = boards.iter().map(|board| board.usb.max_baud).max().unwrap_or(u32::MAX);
    let mut rates = VecDeque::new();
    for rate in usual.chain([Parameters::DEFAULT.baud]).chain(LADDER) {
        if rate <= most && !rates.contains(&rate) {
            rates.push_back(rate);
        }
    }
    rates
}

/// Refuses a rate that is too far from the one asked for.
pub(super) fn check(port: &str, asked: u32, got: u32) -> Result<(), LinkError> {
    let error = u64::from(asked.abs_diff(got)) * 100;
    if error > u64::from(TOLERANCE_PERCENT) * u64::from(asked) {
        return Err(LinkError::Baud { port: port.to_owned(), asked, got });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn row_08_a_rate_that_the_adapter_does_not_have_is_refused() {
        // What ftdi_sio does with a rate that the chip cannot do, without a word.
        let error = check("/dev/ttyUSB0", 11_000_000, 9600).expect_err("another rate").to_string();
        assert!(
            error.starts_with("/dev/ttyUSB0: 11000000 baud was asked for, and the adapter runs at 9600"),
            "{error}"
        );
        assert!(check("", 1_000_000, 1_020_000).is_ok() && check("", 1_000_000, 980_000).is_ok());
        assert!(check("", 1_000_000, 1_020_001).is_err() && check("", 1_000_000, 979_999).is_err());
    }

    #[test]
    fn a_port_that_nobody_knows_is_tried_at_the_default() {
        assert_eq!(of(None), [3_000_000]);
    }
}
