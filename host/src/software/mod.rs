//! The array in software: cycle-accurate, bulk-synchronous, for reference results and traces.
//!
//! [`Array`] describes an array (shape, PE, links, boundary streams); [`Machine`] executes it edge by edge,
//! and [`Partitioned`] does so tile by tile on several threads. [`trace`] keeps what happened and [`draw`]
//! shows it; [`direct`] is what a product is held against. [`job`] runs a job of the gateware on an array, with the same schedule, checks and injections.
//!
//! ```
//! use systole::software::{Array, Direction, Mac, Side, trace::Off};
//!
//! let mut machine = Array::new(2, 2)
//!     .fill(Mac::<i32>::new())
//!     .connect(Direction::WestToEast)
//!     .connect(Direction::NorthToSouth)
//!     .input(Side::West, [(0, vec![Some(1), Some(2)]), (1, vec![None, Some(3), Some(4)])])
//!     .input(Side::North, [(0, vec![Some(5), Some(7)]), (1, vec![None, Some(6), Some(8)])])
//!     .build()?;
//! machine.run(4, &mut Off)?;
//! assert_eq!(machine.states(), [19, 22, 43, 50]);
//! # Ok::<(), systole::software::SoftwareError>(())
//! ```

pub mod array;
mod boundary;
pub mod direct;
pub mod draw;
pub mod error;
mod interpreted;
pub mod job;
mod lines;
pub mod mac;
pub mod machine;
pub mod outcome;
pub mod partitioned;
pub mod pe;
pub mod product;
pub mod tile;
pub mod token;
pub mod token_tile;
pub mod trace;

pub use array::{Array, Direction, Side};
pub use error::SoftwareError;
pub use mac::Mac;
pub use machine::{Machine, Signals};
pub use outcome::Outcome;
pub use partitioned::{Dispatch, Options, Partitioned};
pub use pe::{Inputs, Outputs, Pe};
pub use token::{Token, TokenPe, TokenState};
