//! Random stimulus for each block, shaped so that it gets everywhere: mostly what the block is made for, with every
//! fault now and then.

mod array;
mod core;
mod frames;
mod job;
mod receive;
mod send;
mod uart;
mod wrapper;

pub use self::core::core;
pub use array::{grid, pe};
pub use job::{collector, feeder, injector, operand_memory, result_buffer};
pub use receive::{command_fifo, crc, executor, frame_decoder};
pub use send::frame_encoder;
pub use uart::{uart_rx, uart_tx};
pub use wrapper::wrapper;

use rand::Rng;
use rand_chacha::ChaCha8Rng;
use systole_hdl::parameters::Parameters;

/// A design whose jobs are over soon and whose banks end soon. Where N is even its widths are other than the default.
pub fn small(n: u32) -> Parameters {
    let d = Parameters { n, k_max: 6, a_depth: 8, b_depth: 16, fifo: 128, ..Parameters::default() };
    if n.is_multiple_of(2) { Parameters { w: 5, aw: 17, k_max: 8, job_bits: 3, ..d } } else { d }
}

/// Operands of two bytes, a wide accumulator, a k_max and depths that are no powers of two.
pub fn wide() -> Parameters {
    Parameters { w: 12, aw: 40, k_max: 5, job_bits: 4, a_depth: 10, b_depth: 20, ..small(3) }
}

/// True once in `n` times.
fn once_in(random: &mut ChaCha8Rng, n: u32) -> bool {
    random.random_ratio(1, n)
}

/// Any number of `bits` bits, its sign included.
fn bits(random: &mut ChaCha8Rng, bits: u32) -> u64 {
    random.random::<u64>() >> (64 - bits)
}

/// A signed operand of `bits` bits; the extremes more often than by chance.
fn operand(random: &mut ChaCha8Rng, bits: u32) -> i64 {
    let limit = 1i64 << (bits - 1);
    match random.random_range(0..8) {
        0 => -limit,
        1 => limit - 1,
        2 => 0,
        _ => random.random_range(-limit..limit),
    }
}
