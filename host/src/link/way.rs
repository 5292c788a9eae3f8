//! What a link to a UART leads through: how real what answers can be, and how long it may take.

use super::{Level, TimeBase, Unit};
use systole_hdl::parameters::UART_BITS;
use systole_hdl::wire::Origin;

/// Time that the system may take on the way there or back, in nanoseconds: USB, and a computer that is busy.
const SYSTEM: u64 = 10_000_000;

/// The same where the other end is a process that has to get its turn first.
const PROCESS: u64 = 50_000_000;

/// Time that a simulation may take to answer HELLO, in nanoseconds.
const PATIENCE: u64 = 1_000_000_000;

/// What a link leads through.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Way {
    /// A pseudo-terminal.
    Terminal,
    /// A USB device served by software.
    Model,
    /// A USB device.
    Usb,
    /// A UART of the computer, or what nobody knows.
    Other,
}

impl Way {
    /// How real what is at the end of this way can be.
    pub(super) fn level(self, origin: Origin) -> Level {
        match (self, origin) {
            (Self::Terminal, Origin::Simulated) => Level::VirtualBoard,
            (Self::Model, Origin::Simulated) => Level::UsbStack,
            (Self::Usb, Origin::Image) => Level::RealBoard,
            _ => Level::Unverified,
        }
    }

    /// The time of a UART on this way, at a rate in bits a second, whose chip keeps answers back for `timer` milliseconds.
    pub(super) fn time(self, baud: u32, timer: u32) -> TimeBase {
        // A simulation answers, whose speed nobody knows.
        let (turn, patience) = match self {
            Self::Terminal | Self::Model => (PROCESS, PATIENCE),
            Self::Usb | Self::Other => (SYSTEM, 0),
        };
        TimeBase {
            unit: Unit::Nanoseconds,
            byte: u64::from(UART_BITS) * 1_000_000_000 / u64::from(baud),
            latency: u64::from(timer) * 1_000_000 + turn,
            patience,
            slowness: 1,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn real_board_means_an_image_on_a_usb_device() {
        let levels = |way: Way| [Origin::Image, Origin::Simulated].map(|origin| way.level(origin).name());
        assert_eq!(levels(Way::Usb), ["real-board", "unverified"]);
        assert_eq!(levels(Way::Model), ["unverified", "usb-stack"]);
        assert_eq!(levels(Way::Terminal), ["unverified", "virtual-board"]);
        assert_eq!(levels(Way::Other), ["unverified", "unverified"]);
    }
}
