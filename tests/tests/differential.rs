//! Every block in rust-hdl's simulation against its own Verilog, on random stimulus, cycle by cycle.

use libtest_mimic::{Arguments, Trial};
use systole_hdl::parameters::Parameters;
use systole_hdl::signal::Clocked;
use systole_tests::level::{Level, Present, Rule};
use systole_tests::stimulus::{small, wide};
use systole_tests::verilog::Engine;
use systole_tests::verilog::differential::Case;
use systole_tests::{cycles, level, stimulus};

fn main() {
    let arguments = Arguments::from_args();
    let blocks: Present<()> = Engine::Icarus.available().map(Into::into).map_err(|error| error.to_string());
    let core: Present<()> = Engine::Verilator.available().map(Into::into).map_err(|error| error.to_string());
    let mut trials: Vec<Trial> = level::trials(BLOCKS, Level::Verilog, &blocks);
    trials.extend(level::trials(CORE, Level::Verilog, &core));
    libtest_mimic::run(&arguments, trials).exit();
}

const BLOCKS: &[Rule<()>] = &[
    rule("pe", |()| {
        for p in array_parameters(1) {
            hold(stimulus::pe(&p), 6_000);
        }
    }),
    rule("grid_of_1", |()| hold_grids(1, 3_000)),
    rule("grid_of_2", |()| hold_grids(2, 4_000)),
    rule("grid_of_3", |()| hold_grids(3, 4_000)),
    rule("operand_memory", |()| {
        hold(stimulus::operand_memory(&small(3), 4), 3_000);
        hold(stimulus::operand_memory(&small(1), 1), 1_000);
    }),
    rule("feeder", |()| on_small(stimulus::feeder, 6_000)),
    rule("collector", |()| on_small(stimulus::collector, 6_000)),
    rule("result_buffer", |()| on_small(stimulus::result_buffer, 6_000)),
    rule("injector", |()| hold(stimulus::injector(&small(2)), 6_000)),
    rule("wrapper", |()| on_small(stimulus::wrapper, 15_000)),
    rule("crc", |()| hold(stimulus::crc(), 4_000)),
    rule("command_fifo", |()| hold(stimulus::command_fifo(&small(2)), 8_000)),
    rule("frame_decoder", |()| {
        hold(stimulus::frame_decoder(&small(2)), 40_000);
        // Sixteen lanes and results of six bytes: a RESULT may be too long.
        hold(stimulus::frame_decoder(&Parameters { n: 16, aw: 48, ..wide() }), 40_000);
    }),
    rule("executor", |()| {
        hold(stimulus::executor(&small(2)), 15_000);
        hold(stimulus::executor(&wide()), 15_000);
    }),
    rule("frame_encoder", |()| {
        hold(stimulus::frame_encoder(&small(2)), 15_000);
        hold(stimulus::frame_encoder(&wide()), 15_000);
    }),
    rule("uart_rx", |()| {
        for p in uarts() {
            hold(stimulus::uart_rx(&p), 20_000);
        }
    }),
    rule("uart_tx", |()| {
        for p in uarts() {
            hold(stimulus::uart_tx(&p), 3_000);
        }
    }),
];

/// Under Verilator: the core is much, and a build takes seconds whatever its size.
const CORE: &[Rule<()>] = &[
    rule("core", |()| hold_in(Engine::Verilator, stimulus::core(&small(2)), 60_000)),
    rule("core_of_other_widths", |()| hold_in(Engine::Verilator, stimulus::core(&wide()), 150_000)),
];

const fn rule(name: &'static str, check: fn(&())) -> Rule<()> {
    Rule { name, only: None, check }
}

fn hold_grids(n: u32, cycles: u64) {
    for p in array_parameters(n) {
        hold(stimulus::grid(&p), cycles);
    }
}

/// The default widths, the least and the greatest of each, a k_max that is a power of two and one that is not.
fn array_parameters(n: u32) -> [Parameters; 4] {
    let d = Parameters { n, ..Parameters::default() };
    [
        d.clone(),
        Parameters { w: 2, aw: 4, k_max: 4, job_bits: 1, ..d.clone() },
        Parameters { w: 16, aw: 48, k_max: 5, job_bits: 8, ..d.clone() },
        Parameters { w: 5, aw: 19, k_max: 16, job_bits: 3, ..d },
    ]
}

fn on_small<B: Clocked>(case: fn(&Parameters) -> Case<B>, cycles: u64) {
    for n in 1..=3 {
        hold(case(&small(n)), cycles);
    }
}

/// The fewest clocks a bit, and enough for a majority of samples.
fn uarts() -> [Parameters; 2] {
    let d = Parameters::default();
    [Parameters { baud: d.clock_hz / 4, ..d.clone() }, Parameters { baud: d.clock_hz / 9, ..d }]
}

fn hold<B: Clocked>(case: Case<B>, cycles: u64) {
    hold_in(Engine::Icarus, case, cycles);
}

fn hold_in<B: Clocked>(engine: Engine, case: Case<B>, cycles: u64) {
    let design = case.design(engine, None).unwrap_or_else(|error| panic!("{error}"));
    let report = case.hold(&design, cycles).unwrap_or_else(|error| panic!("{error}"));
    cycles::report("differential", report.cycles);
}
