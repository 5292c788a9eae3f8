//! Streams matrices to a systolic array on an FPGA, or to its simulation, and checks every result.
//!
//! A product takes this way: [`matrix`] reads the operands, [`plan`] cuts and orders them, [`execute`] carries the
//! plan out over a [`session`] on a [`link`], [`mod@reference`] computes what must come back, [`compare`] holds it against
//! what did and puts C together. [`discover`] finds boards and [`connect`] opens a link to one. [`mod@product`] is all of it, [`selftest`] proves the checks themselves, [`link_bench`]
//! measures a link, [`software`] is
//! the array in software, and [`cli`] is the program.
//!
//! ```
//! use std::sync::atomic::AtomicBool;
//! use systole::link::sim::SimLink;
//! use systole::matrix::Operands;
//! use systole::product::product;
//! use systole_firmware::design::Design;
//! use systole_hdl::{parameters::Parameters, wire::Origin};
//!
//! let design = Design::new(Parameters { n: 2, ..Parameters::default() })?;
//! let mut board = SimLink::new(&design.identity(Origin::Simulated), None);
//! let a = Operands::new(2, 2, vec![1, 2, 3, 4]);
//! let b = Operands::new(2, 2, vec![5, 6, 7, 8]);
//! let result = product(&mut board, &design, &a, &b, &mut (), &AtomicBool::new(false))?;
//! assert!(result.comparison.equal());
//! assert_eq!(result.c.values(), [19, 22, 43, 50]);
//! assert_eq!(result.steps, 4);
//! # Ok::<(), systole::error::Error>(())
//! ```

pub mod cli;
pub mod compare;
pub mod connect;
pub mod discover;
pub mod doctor;
pub mod error;
pub mod execute;
pub mod file;
pub mod flash;
pub mod ftdi;
pub mod link;
pub mod link_bench;
pub mod matrix;
pub mod memory;
pub mod plan;
pub mod product;
pub mod reference;
pub mod selftest;
pub mod session;
pub mod software;
pub mod virtual_board;
