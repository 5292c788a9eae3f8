//! Which tools make an image.

use super::BuildError;
use crate::toolchain::{Found, Tool, Toolchain};
use systole_boards::Board;
use systole_boards::device::Family;

/// Tools of a build.
pub(super) struct Tools {
    pub(super) yosys: Found,
    pub(super) nextpnr: Found,
    pub(super) packer: Found,
    /// Only looked for where it has something to say.
    pub(super) icetime: Option<Found>,
}

impl Tools {
    pub(super) fn find(toolchain: &Toolchain, family: Family) -> Result<Self, BuildError> {
        let [yosys, nextpnr, packer] = tools_of(family);
        Ok(Self {
            yosys: toolchain.find(yosys)?,
            nextpnr: toolchain.find(nextpnr)?,
            packer: toolchain.find(packer)?,
            icetime: (family == Family::Ice40).then(|| toolchain.find(Tool::Icetime).ok()).flatten(),
        })
    }

    /// What has a say in an image's bytes.
    pub(super) fn identity(&self) -> Vec<String> {
        [&self.yosys, &self.nextpnr, &self.packer].map(Found::identity).into()
    }
}

/// The tools without which no image of a family can be made.
pub fn tools_of(family: Family) -> [Tool; 3] {
    match family {
        Family::Ice40 => [Tool::Yosys, Tool::NextpnrIce40, Tool::Icepack],
        Family::Ecp5 => [Tool::Yosys, Tool::NextpnrEcp5, Tool::Ecppack],
        Family::Gowin => [Tool::Yosys, Tool::NextpnrGowin, Tool::GowinPack],
    }
}

/// Identities of the tools that an image of this board is made with.
///
/// # Errors
/// One is missing.
pub fn tools(board: &Board, toolchain: &Toolchain) -> Result<Vec<String>, BuildError> {
    Ok(Tools::find(toolchain, board.fpga.family)?.identity())
}
