//! Cycles a second of the simulated gateware, default parameters: `cargo bench -p systole-hdl`.
//!
//! Throughput counts clock cycles. `grid` and `wrapper` never rest: every cycle advances the array or collects. `core`
//! takes a byte every other cycle, so that operands go in, products are computed and results come out all at once. The
//! reference is `wrapper/toggled`: the same wrapper with its clock toggled as a signal, which is how rust-hdl's
//! `Simulation` evaluates, without the threads.

use criterion::{BatchSize, Criterion, Throughput, criterion_group, criterion_main};
use rust_hdl::prelude::Block;
use systole_hdl::codec::{Command, Content, Decoder, Multiply, Reply};
use systole_hdl::core::Core;
use systole_hdl::grid::Grid;
use systole_hdl::parameters::Parameters;
use systole_hdl::sim;
use systole_hdl::types::{Token, Word};
use systole_hdl::wire::{BANK_A, BANK_B, Origin};
use systole_hdl::wrapper::Wrapper;

/// Cycles of one run.
const CYCLES: u64 = 20_000;

/// Terms of a job.
const K_LEN: usize = 256;

/// Operands that look random and are the same every time.
fn operands() -> impl Iterator<Item = i8> {
    let next = |x: &u32| Some(x.wrapping_mul(1_664_525).wrapping_add(1_013_904_223));
    std::iter::successors(Some(1), next).map(|x| (x >> 24) as i8)
}

fn run_grid(grid: &mut Grid) {
    let mut operand = operands().map(i64::from);
    grid.k_len.next = K_LEN.into();
    grid.advance.next = true;
    for cycle in 0..CYCLES as usize {
        let k = cycle % K_LEN;
        grid.clear.next = k == 0;
        for link in grid.a_in.iter_mut().chain(&mut grid.b_in) {
            link.next = Token::new(operand.next().unwrap_or(0), true, 1, k as u32);
        }
        sim::edge(grid);
    }
}

/// A wrapper with both banks full and the first edges behind it.
fn loaded_wrapper(p: &Parameters) -> Wrapper {
    let mut wrapper = sim::power_up(Wrapper::new(p));
    wrapper.write_enable.next = true;
    for (i, operand) in operands().take(2 * p.n as usize * K_LEN).enumerate() {
        let lane = i / K_LEN;
        wrapper.write_bank.next = lane >= p.n as usize;
        wrapper.write_lane.next = (lane % p.n as usize).into();
        wrapper.write_address.next = (i % K_LEN).into();
        wrapper.write_data.next = Word::of(operand.into());
        sim::edge(&mut wrapper);
    }
    wrapper.write_enable.next = false;
    wrapper.k_len.next = K_LEN.into();
    wrapper
}

/// Starts a job whenever it can and reads results as they come.
fn run_wrapper(wrapper: &mut Wrapper, edge: impl Fn(&mut Wrapper)) {
    for _ in 0..CYCLES {
        wrapper.start.next = wrapper.ready.val();
        wrapper.result_next.next = wrapper.result_ready.val();
        edge(wrapper);
    }
}

fn toggled_edge(wrapper: &mut Wrapper) {
    wrapper.update_all();
    for level in [true, false] {
        wrapper.clock.next = level.into();
        wrapper.update_all();
    }
}

/// A session: HELLO, a panel of A, and panels of B each with a job.
fn session(p: &Parameters) -> Vec<u8> {
    const TERMS: usize = 64;
    let mut operand = operands().map(|x| x as u8);
    let mut panel = |bank| {
        let operands = operand.by_ref().take(p.n as usize * TERMS).collect();
        Command::Write { bank, address: 0, k_len: TERMS as u16, operands }
    };
    let mut commands = vec![Command::Hello { nonce: 1 }, panel(BANK_A)];
    while commands.len() < 70 {
        commands.push(panel(BANK_B));
        let k_len = TERMS as u32;
        let result_bytes = p.result_bytes(k_len) as u8;
        let (a_address, b_address, b_stride) = (0, 0, 0);
        commands.push(Command::Multiply(Multiply {
            a_address,
            b_address,
            b_stride,
            k_len,
            count: 1,
            job: 0,
            result_bytes,
        }));
    }
    commands.iter().zip(0..).flat_map(|(command, seq)| command.frame(seq).to_wire()).collect()
}

/// Feeds the session as fast as the core takes it; gives the number of results.
fn run_core(core: &mut Core, session: &[u8]) -> usize {
    let mut bytes = session.iter();
    let mut decoder = Decoder::new();
    let mut results = 0;
    core.tx_ready.next = true;
    for _ in 0..CYCLES {
        sim::settle(core);
        // A byte is presented when it is sure to be taken, and stays on the wires until the next one is.
        if core.rx_ready.val() {
            let byte = bytes.next();
            core.rx_valid.next = byte.is_some();
            core.rx_data.next = usize::from(byte.copied().unwrap_or(0)).into();
        }
        if core.tx_valid.val() {
            let frame = decoder.push(core.tx_data.val().get() as u8);
            let reply = frame.map(|frame| Reply::parse(&frame.expect("a good frame")).expect("a reply"));
            results +=
                usize::from(reply.is_some_and(|reply| matches!(reply.content, Content::Result { .. })));
        }
        sim::edge(core);
    }
    results
}

fn simulation(criterion: &mut Criterion) {
    let p = Parameters::default();
    let mut group = criterion.benchmark_group("simulation");
    group.throughput(Throughput::Elements(CYCLES)).sample_size(10);
    group.bench_function("grid", |b| {
        b.iter_batched_ref(|| sim::power_up(Grid::new(&p)), run_grid, BatchSize::LargeInput);
    });
    group.bench_function("wrapper", |b| {
        b.iter_batched_ref(|| loaded_wrapper(&p), |w| run_wrapper(w, sim::edge), BatchSize::LargeInput);
    });
    group.bench_function("wrapper/toggled", |b| {
        b.iter_batched_ref(|| loaded_wrapper(&p), |w| run_wrapper(w, toggled_edge), BatchSize::LargeInput);
    });
    let session = session(&p);
    group.bench_function("core", |b| {
        let power_up = || sim::power_up(Core::new(&p, Origin::Simulated, 0));
        let run =
            |core: &mut Core| assert_eq!(run_core(core, &session), 32, "jobs finished in {CYCLES} cycles");
        b.iter_batched_ref(power_up, run, BatchSize::LargeInput);
    });
    group.finish();
}

criterion_group!(benches, simulation);
criterion_main!(benches);
