//! Images whose label says which design they hold.

use systole_firmware::image::ice40::{Die, Image, PREAMBLE, action, command, crc16};
use systole_firmware::label;
use systole_hdl::wire::{Identity, Origin};

/// Who answers when an image runs; `None` for one without a label.
pub(super) fn identity(image: &Image) -> Option<Identity> {
    let (design, design_hash) = label::read(&image.comments)?;
    Some(Identity { design_hash, ..design.identity(Origin::Simulated) })
}

/// An image of the right form and size for a die, with a label and without any logic.
pub fn labelled(die: Die, lines: &[String]) -> Vec<u8> {
    let mut image = vec![0xFF, 0x00];
    for line in lines {
        image.extend(line.bytes());
        image.push(0);
    }
    image.extend([0x00, 0xFF]);
    image.extend(PREAMBLE);
    image.extend([command::CLOCK | 1, 0, command::ACT | 1, action::RESET_CRC]);
    let guarded = image.len();
    let (columns, rows) = die.memory();
    let word = |command: u8, number: usize| [command | 2, (number >> 8) as u8, number as u8];
    image.extend(word(command::OPTIONS, 0));
    image.extend(word(command::WIDTH, columns - 1));
    image.extend(word(command::OFFSET, 0));
    for bank in 0..4u8 {
        // On a 5K the odd quarters are lower.
        let rows = if die == Die::Ice5k && bank % 2 == 1 { rows / 2 + 8 } else { rows };
        image.extend(word(command::HEIGHT, rows));
        image.extend([command::BANK | 1, bank, command::ACT | 1, action::CONFIGURATION]);
        image.resize(image.len() + columns * rows / 8 + 2, 0);
    }
    image.push(command::CRC | 2);
    let crc = image[guarded..].iter().fold(0xFFFF, |crc, &byte| crc16(crc, byte));
    image.extend(crc.to_be_bytes());
    image.extend([command::ACT | 1, action::START, 0]);
    image
}

#[cfg(test)]
mod tests {
    use super::*;
    use systole_firmware::design::Design;
    use systole_hdl::parameters::Parameters;

    #[test]
    fn an_image_says_which_design_it_holds() {
        let design = Design::new(Parameters { n: 2, ..Parameters::default() }).expect("in range");
        let bytes = labelled(Die::Ice384, &label::lines(&design, 0xABCD));
        let image = Image::read(&bytes).expect("right in form");
        assert_eq!((image.die, image.sleeps, image.length), (Die::Ice384, true, bytes.len() - 1));
        let expected = Identity { design_hash: 0xABCD, ..design.identity(Origin::Simulated) };
        assert_eq!(identity(&image), Some(expected));
        let unlabelled = Image::read(&labelled(Die::Ice384, &[])).expect("right in form");
        assert_eq!(identity(&unlabelled), None);
    }
}
