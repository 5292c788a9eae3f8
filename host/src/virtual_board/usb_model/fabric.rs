//! What the FPGA does once it runs: the gateware of a design, in a thread of its own, with bytes to and from its UART.

use crate::virtual_board::Device;
use std::collections::VecDeque;
use std::io::Write;
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, TryRecvError, channel};
use systole_hdl::wire::Identity;

/// Makes the gateware that answers with an identity.
pub type Gateware = Arc<dyn Fn(&Identity) -> Box<dyn Device + Send> + Send + Sync>;

/// A running design.
pub(super) struct Fabric {
    identity: Identity,
    input: Sender<Vec<u8>>,
    output: Receiver<Vec<u8>>,
    backlog: Arc<AtomicUsize>,
}

impl Fabric {
    /// Starts a design; `bell` is written to when it has something to say.
    pub(super) fn start(identity: Identity, gateware: &Gateware, bell: UnixStream) -> Self {
        let (input, to_core) = channel();
        let (from_core, output) = channel();
        let backlog = Arc::new(AtomicUsize::new(0));
        let (link, waiting) = (gateware(&identity), Arc::clone(&backlog));
        // It ends when `input` is dropped.
        std::thread::spawn(move || run(link, &to_core, &from_core, &waiting, bell));
        Self { identity, input, output, backlog }
    }

    /// The rate of its UART, in bits a second.
    pub(super) fn baud(&self) -> u32 {
        self.identity.parameters.baud
    }

    /// Bytes that the design has not taken yet.
    pub(super) fn backlog(&self) -> usize {
        self.backlog.load(Ordering::Relaxed)
    }

    /// Sends it bytes.
    pub(super) fn send(&self, bytes: Vec<u8>) {
        self.backlog.fetch_add(bytes.len(), Ordering::Relaxed);
        // One that has failed takes nothing more, and is silent.
        let _failed = self.input.send(bytes);
    }

    /// What it has said since.
    pub(super) fn take(&self) -> Vec<u8> {
        self.output.try_iter().flatten().collect()
    }
}

fn run(
    mut link: Box<dyn Device + Send>,
    input: &Receiver<Vec<u8>>,
    output: &Sender<Vec<u8>>,
    backlog: &AtomicUsize,
    mut bell: UnixStream,
) {
    let mut to_core = VecDeque::new();
    loop {
        let more = if to_core.is_empty() && link.is_idle() {
            input.recv().map_err(|_| TryRecvError::Disconnected)
        } else {
            input.try_recv()
        };
        match more {
            Ok(bytes) => to_core.extend(bytes),
            Err(TryRecvError::Empty) => {}
            Err(TryRecvError::Disconnected) => return,
        }
        let (before, mut said) = (to_core.len(), Vec::new());
        if link.poll(&mut to_core, &mut said).is_err() {
            return;
        }
        let taken = before - to_core.len();
        backlog.fetch_sub(taken, Ordering::Relaxed);
        if taken == 0 && said.is_empty() {
            continue;
        }
        if !said.is_empty() && output.send(said).is_err() {
            return;
        }
        // Room for more is as good a reason to look as something said. A full bell rings already.
        let _rings = bell.write(&[0]);
    }
}
