//! The whole design between two byte streams.

use crate::block;
use crate::codec::{Content, Reply};
use crate::command_fifo::CommandFifo;
use crate::counter::Counter;
use crate::executor::Executor;
use crate::frame_decoder::FrameDecoder;
use crate::frame_encoder::FrameEncoder;
use crate::parameters::{Parameters, STAGES};
use crate::pe::KIND_BITS;
use crate::reply_table::NONCE;
use crate::signal::{Reg, Wire};
use crate::types::{Width, Word};
use crate::wire::{Identity, Origin, PROTOCOL, REPLY_HEAD};
use crate::wrapper::Wrapper;
use rust_hdl::prelude::*;

block! {
    /// Decoder, FIFO, executor, wrapper and encoder. A byte is taken when `rx_valid` and `rx_ready`, at most every other
    /// edge and whether or not the output moves; a byte leaves when `tx_valid` and `tx_ready`.
    pub struct Core {
        /// The clock.
        pub clock: Wire<In, Clock>,
        /// Ends the session and forgets all but the banks' contents.
        pub reset: Wire<In, bool>,
        /// Byte from the host.
        pub rx_data: Wire<In, Word>,
        /// Whether there is one.
        pub rx_valid: Wire<In, bool>,
        /// It is taken at the next edge.
        pub rx_ready: Wire<Out, bool>,
        /// The UART lost a byte to a wrong stop bit (one edge).
        pub rx_framing: Wire<In, bool>,
        /// The UART lost a byte because nobody took it (one edge).
        pub rx_overrun: Wire<In, bool>,
        /// Byte to the host.
        pub tx_data: Wire<Out, Word>,
        /// Whether there is one.
        pub tx_valid: Wire<Out, bool>,
        /// It is taken at the next edge.
        pub tx_ready: Wire<In, bool>,
        /// Nothing is queued, running or on its way out.
        pub idle: Wire<Out, bool>,
        /// A job runs.
        pub busy: Wire<Out, bool>,
        /// Since HELLO a PE erred or a result cannot be trusted.
        pub error: Wire<Out, bool>,
        /// From bytes to commands.
        pub decoder: FrameDecoder,
        /// Commands waiting.
        pub fifo: CommandFifo,
        /// Carries out commands.
        pub executor: Executor,
        /// Runs jobs.
        pub wrapper: Wrapper,
        /// From replies to bytes.
        pub encoder: FrameEncoder,
        refused: Counter,
        poisoned: Reg<bool>,
        // The first error since HELLO.
        kind: Reg<Word>,
        row: Reg<Word>,
        column: Reg<Word>,
        job: Reg<Word>,
        flush: Wire<Local, bool>,
    }
}

/// What IDENT says behind `expected`, `retired` and the nonce.
fn identity_bytes(p: &Parameters, origin: Origin, design_hash: u64) -> Vec<u8> {
    let identity = Identity {
        protocol: PROTOCOL,
        origin,
        parameters: p.clone(),
        stages: STAGES as u8,
        largest_frame: p.largest_frame(),
        design_hash,
    };
    let content = Content::Ident { nonce: 0, identity };
    let frame = Reply { seq: 0, expected: 0, retired: 0, content }.frame();
    frame.body[REPLY_HEAD + NONCE..].to_vec()
}

impl Core {
    /// The core of a design; `origin` and `design_hash` are what IDENT tells of it.
    pub fn new(p: &Parameters, origin: Origin, design_hash: u64) -> Self {
        let byte = Width::unsigned(8);
        let lane = Width::unsigned(p.lane_bits());
        Self {
            clock: Wire::default(),
            reset: Wire::default(),
            rx_data: Wire::new(byte),
            rx_valid: Wire::default(),
            rx_ready: Wire::default(),
            rx_framing: Wire::default(),
            rx_overrun: Wire::default(),
            tx_data: Wire::new(byte),
            tx_valid: Wire::default(),
            tx_ready: Wire::default(),
            idle: Wire::default(),
            busy: Wire::default(),
            error: Wire::default(),
            decoder: FrameDecoder::new(p),
            fifo: CommandFifo::new(p),
            executor: Executor::new(p),
            wrapper: Wrapper::new(p),
            encoder: FrameEncoder::new(p, identity_bytes(p, origin, design_hash)),
            refused: Counter::new(),
            poisoned: Reg::default(),
            kind: Reg::new(Width::unsigned(KIND_BITS)),
            row: Reg::new(lane),
            column: Reg::new(lane),
            job: Reg::new(Width::unsigned(p.job_bits)),
            flush: Wire::default(),
        }
    }
}

impl Logic for Core {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, poisoned, kind, row, column, job);
        clock!(self, clock, decoder, fifo, executor, wrapper, encoder, refused);
        self.decoder.reset.next = self.reset.val();
        self.encoder.reset.next = self.reset.val();
        self.flush.next = self.reset.val() | self.decoder.hello.val();
        self.refused.reset.next = self.flush.val();
        self.fifo.reset.next = self.flush.val();
        self.executor.reset.next = self.flush.val();
        self.wrapper.reset.next = self.flush.val();
        self.encoder.hello.next = self.decoder.hello.val();

        self.decoder.rx_data.next = self.rx_data.val();
        self.decoder.rx_valid.next = self.rx_valid.val();
        self.rx_ready.next = self.decoder.rx_ready.val();
        self.decoder.rx_framing.next = self.rx_framing.val();
        self.decoder.rx_overrun.next = self.rx_overrun.val();
        self.decoder.full.next = self.fifo.full.val();

        self.fifo.write.next = self.decoder.write.val();
        self.fifo.write_data.next = self.decoder.data.val();
        self.fifo.commit.next = self.decoder.commit.val();
        self.fifo.rollback.next = self.decoder.rollback.val();
        self.fifo.take.next = self.executor.take.val();

        // HELLO leaves `expected` one past its own seq.
        self.executor.reset_seq.next = 0.into();
        if !self.reset.val() {
            self.executor.reset_seq.next = self.decoder.expected.val() - 1;
        }
        self.executor.hold.next = self.encoder.greeting.val();
        self.executor.valid.next = self.fifo.valid.val();
        self.executor.data.next = self.fifo.read_data.val();
        self.executor.ready.next = self.wrapper.ready.val();
        self.executor.finished.next = self.wrapper.finished.val();
        self.executor.job_steps.next = self.wrapper.steps.val();
        self.executor.job_edges.next = self.wrapper.edges.val();
        self.executor.opened.next = self.encoder.opened.val();
        self.executor.stream_take.next = self.encoder.stream_take.val();

        self.wrapper.write_enable.next = self.executor.write_enable.val();
        self.wrapper.write_bank.next = self.executor.write_bank.val();
        self.wrapper.write_lane.next = self.executor.write_lane.val();
        self.wrapper.write_address.next = self.executor.write_address.val();
        self.wrapper.write_data.next = self.executor.write_data.val();
        self.wrapper.start.next = self.executor.start.val();
        self.wrapper.a_address.next = self.executor.a_address.val();
        self.wrapper.b_address.next = self.executor.b_address.val();
        self.wrapper.k_len.next = self.executor.k_len.val();
        self.wrapper.job.next = self.executor.job.val();
        self.wrapper.inject_arm.next = self.executor.inject_arm.val();
        self.wrapper.inject_kind.next = self.executor.inject_kind.val();
        self.wrapper.inject_step.next = self.executor.inject_step.val();
        self.wrapper.inject_length.next = self.executor.inject_length.val();
        self.wrapper.inject_never.next = self.executor.inject_never.val();
        self.wrapper.result_next.next = self.encoder.result_next.val();

        if self.executor.poison.val() | self.wrapper.overrun.val() | self.encoder.truncated.val() {
            self.poisoned.d.next = true;
        }
        if self.wrapper.finished.val() & self.wrapper.error.val().any() & !self.kind.q.val().any() {
            self.kind.d.next = self.wrapper.error.val();
            self.row.d.next = self.wrapper.error_row.val();
            self.column.d.next = self.wrapper.error_column.val();
            self.job.d.next = self.wrapper.finished_job.val();
        }
        if self.flush.val() {
            self.poisoned.d.next = false;
            self.kind.d.next = 0.into();
            self.row.d.next = 0.into();
            self.column.d.next = 0.into();
            self.job.d.next = 0.into();
        }
        self.refused.happens.next = self.wrapper.refused.val();

        self.encoder.nonce.next = self.decoder.nonce.val();
        self.encoder.expected.next = self.decoder.expected.val();
        self.encoder.retired.next = self.executor.retired.val();
        self.encoder.open.next = self.executor.open.val();
        self.encoder.opcode.next = self.executor.opcode.val();
        self.encoder.seq.next = self.executor.seq.val();
        self.encoder.length.next = self.executor.length.val();
        self.encoder.result_bytes.next = self.executor.result_bytes.val();
        self.encoder.stream_valid.next = self.executor.stream_valid.val();
        self.encoder.stream_data.next = self.executor.stream_data.val();
        self.encoder.news.next = self.executor.news.val() | self.decoder.duplicate.val();
        self.encoder.quiet.next = self.executor.idle.val() & self.fifo.empty.val();
        self.encoder.nak.next = self.decoder.nak.val();
        self.encoder.reason.next = self.decoder.reason.val();
        self.encoder.status_bytes[0].next = self.kind.q.val();
        self.encoder.status_bytes[1].next = self.row.q.val();
        self.encoder.status_bytes[2].next = self.column.q.val();
        self.encoder.status_bytes[3].next = self.job.q.val();
        self.encoder.status_bytes[4].next = self.decoder.crc_errors.val();
        self.encoder.status_bytes[5].next = self.decoder.framing_errors.val();
        self.encoder.status_bytes[6].next = self.decoder.overruns.val();
        self.encoder.status_bytes[7].next = self.decoder.dropped.val();
        self.encoder.status_bytes[8].next = self.refused.value.val();
        self.encoder.steps.next = self.executor.steps.val();
        self.encoder.edges.next = self.executor.edges.val();
        self.encoder.poison.next = self.poisoned.q.val();
        self.encoder.result_ready.next = self.wrapper.result_ready.val();
        self.encoder.job_status.next = self.wrapper.result_status.val();
        self.encoder.value.next = self.wrapper.result.val();
        self.encoder.tx_ready.next = self.tx_ready.val();
        self.tx_data.next = self.encoder.tx_data.val();
        self.tx_valid.next = self.encoder.tx_valid.val();

        self.idle.next = self.executor.idle.val() & self.fifo.empty.val() & !self.encoder.busy.val();
        self.busy.next = self.wrapper.busy.val();
        self.error.next = self.poisoned.q.val() | self.kind.q.val().any();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sim;

    const GOLDEN: &str = include_str!("../../tests/vectors/frames/frames.txt");

    fn golden(name: &str) -> Vec<u8> {
        let hex = GOLDEN.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' ')).expect(name);
        let digits: Vec<u8> = hex.chars().map(|c| c.to_digit(16).expect("hex") as u8).collect();
        digits.chunks(2).map(|pair| pair[0] << 4 | pair[1]).collect()
    }

    /// The core of the golden frames: N = 2, else the defaults.
    fn core() -> Core {
        let p = Parameters { n: 2, ..Parameters::default() };
        sim::power_up(Core::new(&p, Origin::Simulated, 0x0123_4567_89AB_CDEF))
    }

    /// Sends bytes as fast as they are taken, then waits until all is quiet. Gives what came back.
    fn exchange(core: &mut Core, bytes: &[u8]) -> Vec<u8> {
        let (mut sent, mut received, mut quiet) = (0, Vec::new(), 0);
        core.tx_ready.next = true;
        for _ in 0..100_000 {
            let offered = bytes.get(sent).copied();
            core.rx_valid.next = offered.is_some();
            core.rx_data.next = usize::from(offered.unwrap_or(0)).into();
            sim::settle(core);
            if core.tx_valid.val() {
                received.push(core.tx_data.val().get() as u8);
            }
            sent += usize::from(offered.is_some() && core.rx_ready.val());
            quiet = if sent == bytes.len() && core.idle.val() { quiet + 1 } else { 0 };
            if quiet > 20 {
                return received;
            }
            sim::edge(core);
        }
        panic!("core still busy after {sent} of {} bytes, reply so far {received:02x?}", bytes.len());
    }

    #[test]
    fn the_worked_exchange_of_the_wire() {
        let mut core = core();
        let exchanges = [
            ("hello", "ident"),
            ("write-a", "ack-a"),
            ("write-b", "ack-b"),
            ("multiply", "result"),
            ("write-damaged", "nak-crc"),
        ];
        for (command, reply) in exchanges {
            assert_eq!(exchange(&mut core, &golden(command)), golden(reply), "{command}");
        }
    }

    #[test]
    fn its_verilog_is_a_few_dozen_modules() {
        let p = Parameters { n: 8, ..Parameters::default() };
        let core = sim::power_up(Core::new(&p, Origin::Simulated, 0));
        let text = crate::verilog::emit(&core, "core").expect("sound");
        assert!(text.contains("module core_decoder("));
        let modules = text.lines().filter(|line| line.starts_with("module ")).count();
        assert!((40..=60).contains(&modules), "{modules} modules for 64 PEs");
        assert_eq!(text, crate::verilog::emit(&core, "core").expect("sound"));
    }
}
