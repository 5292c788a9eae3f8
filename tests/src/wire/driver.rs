//! A host for tests: says any bytes, hears every reply, and never waits without end.

use super::{Fault, WireBench, WireLevel, design_hash, reach};
use std::collections::VecDeque;
use systole_hdl::codec::{Command, Content, Decoder, FrameError, Multiply, Reply, operands_to_bytes};
use systole_hdl::parameters::Parameters;
use systole_hdl::wire::{BANK_A, BANK_B, Nak, WINDOW};

/// Edges without a sign of life after which a wait has failed.
const LIMIT: u64 = 20_000;

/// Edges in a row for which a core says that it is idle before it is believed.
const QUIET: u32 = 8;

/// A core with someone who talks to it.
pub struct Driver {
    bench: Box<dyn WireBench>,
    parameters: Parameters,
    to_board: VecDeque<u8>,
    decoder: Decoder,
    /// Bytes that came, since the driver was made.
    pub heard: Vec<u8>,
    /// Replies that came and were not asked for yet.
    replies: Vec<Reply>,
    /// Seqs of commands of this session that are answered by a frame and have not been.
    unanswered: Vec<u8>,
    /// Frames that came damaged, since the driver was made.
    pub damaged: Vec<FrameError>,
    /// Whether the host takes bytes.
    pub room: bool,
    /// Edges so far.
    pub edges: u64,
    /// Seq of the next command.
    pub seq: u8,
    nonce: u32,
}

impl Driver {
    /// A core after power-up.
    pub fn new(level: &dyn WireLevel, parameters: &Parameters) -> Self {
        Self {
            bench: level.bench(parameters),
            parameters: parameters.clone(),
            to_board: VecDeque::new(),
            decoder: Decoder::new(),
            heard: Vec::new(),
            replies: Vec::new(),
            unanswered: Vec::new(),
            damaged: Vec::new(),
            room: true,
            edges: 0,
            seq: 0,
            nonce: 1,
        }
    }

    /// A core in a session.
    pub fn open(level: &dyn WireLevel, parameters: &Parameters) -> Self {
        let mut driver = Self::new(level, parameters);
        driver.hello();
        driver
    }

    /// The design.
    pub fn parameters(&self) -> &Parameters {
        &self.parameters
    }

    /// Puts bytes behind those that wait to be sent.
    pub fn say(&mut self, bytes: &[u8]) {
        self.to_board.extend(bytes);
    }

    /// Bytes not yet taken.
    pub fn unsent(&self) -> usize {
        self.to_board.len()
    }

    /// One clock edge.
    pub fn edge(&mut self) {
        let edge = self.bench.edge(self.to_board.front().copied(), self.room);
        self.edges += 1;
        if edge.taken {
            self.to_board.pop_front();
        }
        if let Some(byte) = edge.byte {
            self.heard.push(byte);
            match self.decoder.push(byte) {
                None => {}
                Some(Err(error)) => {
                    // It may have been an answer.
                    self.unanswered.clear();
                    self.damaged.push(error);
                }
                Some(Ok(frame)) => {
                    let reply = Reply::parse(&frame).unwrap_or_else(|error| panic!("{error}: {frame:?}"));
                    reach::reply(&reply);
                    self.hear(&reply);
                    self.replies.push(reply);
                }
            }
        }
    }

    /// Checks what holds for every reply: a command that is answered by a frame is not retired before that frame.
    fn hear(&mut self, reply: &Reply) {
        if !matches!(reply.content, Content::Ack | Content::Nak(_)) {
            self.unanswered.retain(|&seq| seq != reply.seq);
        }
        let behind = |seq: u8| reply.retired.wrapping_sub(seq);
        let passed = self.unanswered.iter().find(|&&seq| behind(seq) < WINDOW);
        assert_eq!(passed, None, "retired without its answer: {reply:?}");
    }

    /// A number of clock edges.
    pub fn run(&mut self, edges: u64) {
        (0..edges).for_each(|_| self.edge());
    }

    /// Clock edges until a condition holds.
    pub fn until(&mut self, stage: &str, mut done: impl FnMut(&Self) -> bool) {
        let (mut since, mut sign) = (0, (self.to_board.len(), self.heard.len()));
        while !done(self) {
            self.edge();
            since += 1;
            let now = (self.to_board.len(), self.heard.len());
            if now != sign {
                (since, sign) = (0, now);
            }
            assert!(since < LIMIT, "{stage}: nothing for {LIMIT} edges; {now:?} bytes unsent and heard");
        }
    }

    /// Sends what waits, and gives the replies that came until the core is idle.
    pub fn settle(&mut self, stage: &str) -> Vec<Reply> {
        let mut quiet = 0;
        self.until(stage, |driver| {
            quiet = if driver.to_board.is_empty() && driver.bench.idle() { quiet + 1 } else { 0 };
            quiet > QUIET
        });
        std::mem::take(&mut self.replies)
    }

    /// Says bytes and gives all the replies to them.
    pub fn exchange(&mut self, stage: &str, bytes: &[u8]) -> Vec<Reply> {
        self.say(bytes);
        self.settle(stage)
    }

    /// Throws away what waits to be sent.
    pub fn forget(&mut self) {
        self.to_board.clear();
    }

    /// Whether the core says that nothing is queued, running or on its way out.
    pub fn is_idle(&self) -> bool {
        self.bench.idle()
    }

    /// The replies that came and were not asked for yet.
    pub fn replies(&mut self) -> Vec<Reply> {
        std::mem::take(&mut self.replies)
    }

    /// The bytes of the next command, which takes the next seq.
    pub fn next(&mut self, command: &Command) -> Vec<u8> {
        match command {
            Command::Hello { .. } => self.unanswered.clear(),
            Command::Multiply(_) | Command::Status | Command::Source { .. } | Command::Echo(_) => {
                self.unanswered.push(self.seq);
            }
            Command::Write { .. } | Command::Inject { .. } | Command::Sink(_) => {}
        }
        let bytes = command.frame(self.seq).to_wire();
        self.seq = self.seq.wrapping_add(1);
        bytes
    }

    /// Sends the next command and gives the contents of the replies.
    pub fn command(&mut self, stage: &str, command: &Command) -> Vec<Content> {
        let bytes = self.next(command);
        self.exchange(stage, &bytes).into_iter().map(|reply| reply.content).collect()
    }

    /// Sends a command that is answered by ACK.
    pub fn acknowledged(&mut self, stage: &str, command: &Command) {
        assert_eq!(self.command(stage, command), [Content::Ack], "{stage}");
    }

    /// Sends bytes that are answered by one NAK.
    pub fn refused(&mut self, stage: &str, bytes: &[u8], reason: Nak) {
        let replies = self.exchange(stage, bytes);
        let contents: Vec<_> = replies.iter().map(|reply| &reply.content).collect();
        assert_eq!(contents, [&Content::Nak(reason)], "{stage}");
        assert_eq!((replies[0].seq, replies[0].expected), (self.seq, self.seq), "{stage}");
    }

    /// The bytes of a HELLO with a nonce of its own, which it gives too.
    pub fn hello_bytes(&mut self) -> (Vec<u8>, u32) {
        self.nonce += 1;
        let nonce = self.nonce;
        (self.next(&Command::Hello { nonce }), nonce)
    }

    /// Opens a session; whatever came before the IDENT is thrown away, nothing may come after it.
    pub fn hello(&mut self) {
        let (bytes, nonce) = self.hello_bytes();
        let seq = self.seq.wrapping_sub(1);
        let replies = self.exchange("HELLO", &bytes);
        let last = replies.last().expect("an IDENT");
        assert_eq!((last.seq, last.expected, last.retired), (seq, self.seq, seq));
        let Content::Ident { nonce: answered, identity } = &last.content else { panic!("{last:?}") };
        assert_eq!((*answered, &identity.parameters), (nonce, &self.parameters));
        assert_eq!(identity.design_hash, design_hash(&self.parameters));
        assert_eq!((identity.stages, identity.protocol), (0, 1));
    }

    /// Resets the core, bytes of the host on their way or not.
    pub fn reset(&mut self) {
        self.unanswered.clear();
        self.bench.reset();
    }

    /// An edge at which the UART reports a fault.
    pub fn fault(&mut self, fault: Fault) {
        self.bench.fault(fault);
    }

    /// Writes both panels of a job at address 0 and multiplies them, in the session that is open.
    pub fn job(&mut self, job: &Job) {
        for command in job.writes(&self.parameters) {
            self.acknowledged("WRITE", &command);
        }
        let contents = self.command("MULTIPLY", &Command::Multiply(job.multiply(&self.parameters)));
        assert_eq!(contents, [job.result(&self.parameters)], "MULTIPLY");
    }

    /// What must work after anything: a session and a job with a right result.
    pub fn good_job(&mut self, seed: u64) {
        self.hello();
        let job = Job::random(&self.parameters, seed);
        self.job(&job);
    }
}

/// A product of one block: rows of A and columns of B, `k` operands each.
#[derive(Clone, Debug)]
pub struct Job {
    /// Terms.
    pub k: usize,
    /// Rows of A, one after the other.
    pub a: Vec<i32>,
    /// Columns of B, one after the other.
    pub b: Vec<i32>,
}

impl Job {
    /// Operands of the whole range, from a seed.
    pub fn random(p: &Parameters, seed: u64) -> Self {
        use rand::{Rng, SeedableRng};
        let mut rng = rand_chacha::ChaCha8Rng::seed_from_u64(seed);
        let k = rng.random_range(1..=p.k_limit().min(4)) as usize;
        let half = 1 << (p.w - 1);
        let mut lanes = || (0..p.n as usize * k).map(|_| rng.random_range(-half..half)).collect();
        Self { k, a: lanes(), b: lanes() }
    }

    /// The WRITEs of both panels, to address 0.
    pub fn writes(&self, p: &Parameters) -> [Command; 2] {
        [(BANK_A, &self.a), (BANK_B, &self.b)].map(|(bank, operands)| Command::Write {
            bank,
            address: 0,
            k_len: self.k as u16,
            operands: operands_to_bytes(operands, p.operand_bytes()),
        })
    }

    /// The MULTIPLY of these panels.
    pub fn multiply(&self, p: &Parameters) -> Multiply {
        let k_len = self.k as u32;
        let result_bytes = p.result_bytes(k_len) as u8;
        Multiply { a_address: 0, b_address: 0, b_stride: 0, k_len, count: 1, job: 0, result_bytes }
    }

    /// The product, row-major.
    pub fn values(&self) -> Vec<i64> {
        let dot = |a: &[i32], b: &[i32]| a.iter().zip(b).map(|(a, b)| i64::from(a * b)).sum();
        self.a
            .chunks(self.k)
            .flat_map(|row| self.b.chunks(self.k).map(move |column| dot(row, column)))
            .collect()
    }

    /// What the board must answer.
    pub fn result(&self, p: &Parameters) -> Content {
        let width = p.result_bytes(self.k as u32) as usize;
        let mut jobs = vec![0];
        jobs.extend(self.values().iter().flat_map(|value| value.to_le_bytes().into_iter().take(width)));
        // R5: K + 2N − 2 steps, and none of them paused.
        let steps = self.k as u32 + 2 * p.n - 2;
        Content::Result { jobs, steps, edges: steps }
    }
}
