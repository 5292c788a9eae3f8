//! Why a link cannot be opened, or is of no more use.

use crate::discover::{Access, Holder};
use crate::software::SoftwareError;
use std::io;
use thiserror::Error;

/// Why a link cannot be opened, or is of no more use. Every port is named as the user named it.
#[derive(Debug, Error)]
pub enum LinkError {
    /// The other end is gone.
    #[error(
        "{port}: the board is gone: the link was closed by the other end; check cable and power and start again"
    )]
    Closed {
        /// The port.
        port: String,
    },
    /// The system failed to move bytes.
    #[error("{port}: {doing} failed: {source}; plug the board in again, or use another port of the computer")]
    Io {
        /// The port.
        port: String,
        /// What was being done.
        doing: &'static str,
        /// What the system said.
        source: io::Error,
    },
    /// There is no such port.
    #[error("{port}: there is no such port; plug the board in, and look at `systole list`")]
    Missing {
        /// The port.
        port: String,
    },
    /// The user may not open the port.
    #[error("{port}: permission denied: {access}")]
    Permission {
        /// The port.
        port: String,
        /// Why, and what to do.
        access: Access,
    },
    /// Somebody else has the port.
    #[error("{port}: is in use by {}; end that first", who_holds(.holders))]
    Busy {
        /// The port.
        port: String,
        /// Who, as far as this user may see.
        holders: Vec<Holder>,
    },
    /// The file is there and is no serial port.
    #[error("{port}: is no serial port ({reason}); look at `systole list`")]
    NotSerial {
        /// The file.
        port: String,
        /// What the system said.
        reason: String,
    },
    /// The program runs in that terminal.
    #[error("{port}: is the terminal that this program runs in, and no board; look at `systole list`")]
    OwnTerminal {
        /// The terminal.
        port: String,
    },
    /// The adapter cannot do the rate.
    #[error(
        "{port}: {asked} baud was asked for, and the adapter runs at {got}: more than {TOLERANCE_PERCENT} % off; \
         give a rate that it can do, --link serial:{port}@BAUD, and an image with the same --baud"
    )]
    Baud {
        /// The port.
        port: String,
        /// The rate asked for.
        asked: u32,
        /// The rate it has.
        got: u32,
    },
    /// `auto` found nothing.
    #[error(
        "no board is attached that this program knows; plug one in and look at `systole list`, or name its port: \
         --link serial:PATH"
    )]
    NoBoard,
    /// More than one thing is meant.
    #[error("several boards fit; name one of them:{}", list(.candidates))]
    Ambiguous {
        /// What to give to `--link`, and what that is.
        candidates: Vec<(String, String)>,
    },
    /// This build or system has no such link.
    #[error("{link}: {why}")]
    Unsupported {
        /// The link.
        link: String,
        /// Why not, and what to do instead.
        why: String,
    },
    /// The model behind the link cannot do what the wire allows.
    #[error("the simulated board failed: {0}")]
    Model(#[from] SoftwareError),
}

/// How far the rate of an adapter may be from the one asked for, in percent.
pub const TOLERANCE_PERCENT: u32 = systole_hdl::parameters::BAUD_TOLERANCE_PERCENT;

fn who_holds(holders: &[Holder]) -> String {
    match holders {
        [] => "another program, of another user".to_owned(),
        some => some.iter().map(ToString::to_string).collect::<Vec<_>>().join(", "),
    }
}

fn list(candidates: &[(String, String)]) -> String {
    candidates.iter().map(|(link, what)| format!("\n  --link {link}  {what}")).collect()
}
