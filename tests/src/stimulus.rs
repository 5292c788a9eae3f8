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
