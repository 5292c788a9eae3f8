//! `systole udev`: the udev rule.

use super::output::print;
use crate::error::exit;
use systole_boards::udev::RULES;

/// Prints the rule; gives the exit code.
///
/// # Errors
/// It cannot be written.
pub fn main() -> anyhow::Result<u8> {
    print(RULES)?;
    Ok(exit::OK)
}
