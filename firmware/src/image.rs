//! What stands in an image, read as the FPGA does: whether it is one, for which device, and whether it is whole.
//!
//! The formats are those that the projects IceStorm, Trellis and Apicula found out and their packers write.

pub mod ecp5;
pub mod gowin;
pub mod ice40;
mod reader;

use systole_boards::Fpga;
use systole_boards::device::Family;
use thiserror::Error;

/// Bytes that no image has. The largest are Gowin's, which are text: 3.6 MB for a GW1N-9C.
pub const LIMIT: u64 = 16 << 20;

/// Why a file is no image for a device.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ImageError {
    /// Nothing is in it.
    #[error("is empty")]
    Empty,
    /// It is none, or not a whole one.
    #[error("is no {} image: {fault}", family.title())]
    Fault {
        /// The family of the device.
        family: Family,
        /// What is wrong with it.
        fault: Fault,
    },
    /// It is one for another device.
    #[error("is an image for another FPGA: {is}, not {has}")]
    Other {
        /// The device that it is for.
        is: String,
        /// The one that it should be for.
        has: String,
    },
}

/// What is wrong with an image.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum Fault {
    /// It does not begin like one.
    #[error("it does not begin with FF 00, as every .bit file does")]
    NoHeader,
    /// Nowhere do its commands begin.
    #[error("it has no preamble {0}")]
    NoPreamble(&'static str),
    /// It ends before the FPGA is started.
    #[error("it ends at byte {0}, before the FPGA is started: the rest is missing")]
    Short(usize),
    /// A command that is none.
    #[error("at byte {at} stands {command:02x} {operand:02x}, which is no command")]
    Command {
        /// Where, in bytes.
        at: usize,
        /// The command.
        command: u8,
        /// Its operand.
        operand: u32,
    },
    /// A line that is none.
    #[error("line {0} is not made of bytes written as zeros and ones")]
    Line(usize),
    /// It was damaged.
    #[error("its CRC at byte {0} is wrong: it was damaged")]
    Crc(usize),
    /// It was damaged.
    #[error("the CRC of line {0} is wrong: it was damaged")]
    LineCrc(usize),
    /// It starts the FPGA without a CRC.
    #[error("it has no CRC")]
    NoCrc,
    /// Its configuration memory is that of no iCE40.
    #[error("its memory of {columns}×{rows} bits is that of no iCE40")]
    Die {
        /// Width.
        columns: usize,
        /// Height.
        rows: usize,
    },
    /// It does not say which device it is for.
    #[error("it has no IDCODE ahead of the configuration")]
    NoIdcode,
    /// It is for another device.
    #[error("it is for the IDCODE {0:08x}")]
    Idcode(u32),
}

/// Looks whether a file is a whole image for an FPGA; gives its comments, a line each.
///
/// # Errors
/// It is empty, no image, cut off or damaged, or for another device.
pub fn check(fpga: &Fpga, bytes: &[u8]) -> Result<Vec<String>, ImageError> {
    if bytes.is_empty() {
        return Err(ImageError::Empty);
    }
    let family = fpga.family;
    let idcode = family.device(&fpga.device).and_then(|device| device.idcode);
    let other = |is: String, has: String| Err(ImageError::Other { is, has });
    let read = match family {
        Family::Ice40 => match (ice40::Image::read(bytes), ice40::Die::of_device(&fpga.device)) {
            (Ok(image), Some(die)) if die != image.die => {
                let named = |die: ice40::Die| format!("{} {}", family.title(), die.name());
                return other(named(image.die), named(die));
            }
            (read, _) => read.map(|image| image.comments),
        },
        Family::Ecp5 => ecp5::read(bytes, idcode),
        Family::Gowin => gowin::read(bytes, idcode),
    };
    match (read, family_of(bytes)) {
        (Ok(comments), _) => Ok(comments),
        (Err(Fault::Idcode(is)), _) => {
            let has = idcode.map_or_else(|| format!("{} {}", family.title(), fpga.device), device_of);
            other(device_of(is), has)
        }
        (Err(_), Some(is)) if is != family => {
            other(is.title().to_owned(), format!("{} {}", family.title(), fpga.device))
        }
        (Err(fault), _) => Err(ImageError::Fault { family, fault }),
    }
}

/// The family that an image is for, by how it begins.
fn family_of(bytes: &[u8]) -> Option<Family> {
    let begins = |family: &Family| match family {
        Family::Ice40 => ice40::begins(bytes),
        Family::Ecp5 => ecp5::commands(bytes).is_ok(),
        Family::Gowin => gowin::begins(bytes),
    };
    Family::ALL.into_iter().find(begins)
}

/// The device of that IDCODE, for people.
fn device_of(idcode: u32) -> String {
    let all = Family::ALL.into_iter().flat_map(Family::devices);
    let known = all.into_iter().find(|device| device.idcode == Some(idcode));
    let name = known
        .map_or("one unknown here".to_owned(), |device| format!("{} {}", device.family.title(), device.name));
    format!("{name} (IDCODE {idcode:08x})")
}

#[cfg(test)]
mod tests {
    use super::*;
    use systole_boards::find;

    /// What is said of a file for a board.
    fn said(board: &str, bytes: &[u8]) -> String {
        let board = find(board).expect("known");
        check(&board.fpga, bytes).expect_err("of no use").to_string()
    }

    #[test]
    fn every_board_takes_images_for_its_device_only() {
        let ecp5 = ecp5::tests::image(0x4111_2043);
        assert!(check(&find("ulx3s-45f").expect("known").fpga, &ecp5).is_ok());
        let other =
            "is an image for another FPGA: ECP5 45k (IDCODE 41112043), not ECP5 12k (IDCODE 21111043)";
        assert_eq!(said("ulx3s-12f", &ecp5), other);
        assert_eq!(said("icebreaker", &ecp5), "is an image for another FPGA: ECP5, not iCE40 up5k");
        let ice40 = ice40::tests::image();
        assert_eq!(said("ulx3s-12f", &ice40), "is an image for another FPGA: iCE40, not ECP5 12k");
        assert_eq!(said("icebreaker", &ice40), "is an image for another FPGA: iCE40 384, not iCE40 5k");
        assert!(check(&find("tang-nano-9k").expect("known").fpga, gowin::tests::IMAGE.as_bytes()).is_ok());
        assert_eq!(
            said("hx8k-b-evn", gowin::tests::IMAGE.as_bytes()),
            "is an image for another FPGA: Gowin, not iCE40 hx8k"
        );
        let foreign = ecp5::tests::image(0x012B_2043);
        assert!(said("ecp5-evn", &foreign).contains("one unknown here (IDCODE 012b2043), not ECP5 um5g-85k"));
    }

    #[test]
    fn what_is_no_image_at_all_is_told() {
        let text = b"module systole(input clk);\nendmodule\n";
        for (board, expected) in [
            ("icebreaker", "is no iCE40 image: it has no preamble 7E AA 99 7E"),
            ("ulx3s-85f", "is no ECP5 image: it does not begin with FF 00, as every .bit file does"),
            ("tang-nano-9k", "is no Gowin image: line 1 is not made of bytes written as zeros and ones"),
        ] {
            assert_eq!(said(board, text), expected);
            assert_eq!(said(board, b""), "is empty");
        }
    }
}
