//! What a job asks of an array, whichever backend it runs on.

use crate::software::array::Side;
use crate::software::machine::{Machine, Signals};
use crate::software::tile::Tile;
use crate::software::token_tile::TokenTile;
use crate::software::trace::Off;
use crate::software::{SoftwareError, Token, TokenPe, TokenState};

/// A square array of token PEs, edge by edge.
pub(super) trait Executor {
    /// An edge with clear; the PEs have these settings from here on.
    fn clear(&mut self, pe: TokenPe) -> Result<(), SoftwareError>;

    /// An edge without advance.
    fn hold(&mut self) -> Result<(), SoftwareError>;

    /// An advancing edge, with what the boundary presents.
    fn advance(&mut self, west: &[Option<Token>], north: &[Option<Token>]) -> Result<(), SoftwareError>;

    /// Whether no link leads an entry into a PE any more.
    fn is_drained(&self) -> bool;

    /// A PE's state.
    fn state(&self, row: usize, column: usize) -> TokenState;
}

/// A tile that is the whole array: what leaves it leaves the array.
impl Executor for TokenTile {
    fn clear(&mut self, pe: TokenPe) -> Result<(), SoftwareError> {
        Tile::clear(self, &pe);
        Ok(())
    }

    /// Holding is what a tile does when it is not asked to step.
    fn hold(&mut self) -> Result<(), SoftwareError> {
        Ok(())
    }

    fn advance(&mut self, west: &[Option<Token>], north: &[Option<Token>]) -> Result<(), SoftwareError> {
        self.read(west, north);
        let pe = self.pe();
        self.step(&pe);
        Ok(())
    }

    fn is_drained(&self) -> bool {
        self.is_drained()
    }

    fn state(&self, row: usize, column: usize) -> TokenState {
        Tile::state(self, row, column)
    }
}

impl Executor for Machine<TokenPe> {
    fn clear(&mut self, pe: TokenPe) -> Result<(), SoftwareError> {
        self.set_pe(pe);
        self.edge(Signals::CLEAR, &mut Off)
    }

    fn hold(&mut self) -> Result<(), SoftwareError> {
        self.edge(Signals::HOLD, &mut Off)
    }

    fn advance(&mut self, west: &[Option<Token>], north: &[Option<Token>]) -> Result<(), SoftwareError> {
        for (side, entries) in [(Side::West, west), (Side::North, north)] {
            for (coordinate, &entry) in entries.iter().enumerate() {
                self.feed(side, coordinate, [entry])?;
            }
        }
        self.edge(Signals::ADVANCE, &mut Off)
    }

    fn is_drained(&self) -> bool {
        self.is_drained()
    }

    fn state(&self, row: usize, column: usize) -> TokenState {
        self.states()[row * self.shape().1 + column]
    }
}
