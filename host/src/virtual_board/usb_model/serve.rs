//! Serves a device to the virtual host controller over a socket.

use super::device::Device;
use super::usbip::{self, Message, STALLED};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use std::collections::{BTreeMap, VecDeque};
use std::io::{Error, ErrorKind, Read, Result, Write};
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

/// Bytes read from the socket at once.
const PIECE: usize = 1 << 16;

/// Longest wait: the device may be pulled from another thread.
const LONGEST: Duration = Duration::from_millis(10);

/// A transfer that the device has not done yet.
struct Pending {
    seq: u32,
    /// Bytes to send at most; with `data`, none.
    most: usize,
    /// What was sent to the device.
    data: Option<Vec<u8>>,
}

/// Transfers that wait, by endpoint and direction, in order.
type Queues = BTreeMap<(u8, bool), VecDeque<Pending>>;

/// Serves until the device is unplugged or the controller lets go. `bell` can be read from when the device has news.
pub(super) fn serve(socket: UnixStream, bell: &UnixStream, device: &mut dyn Device) -> Result<()> {
    match exchange(socket, bell, device) {
        // The controller does not wait for what is under way.
        Err(error) if matches!(error.kind(), ErrorKind::BrokenPipe | ErrorKind::ConnectionReset) => Ok(()),
        ended => ended,
    }
}

fn exchange(mut socket: UnixStream, mut bell: &UnixStream, device: &mut dyn Device) -> Result<()> {
    bell.set_nonblocking(true)?;
    let (mut input, mut output, mut queues) = (Vec::new(), Vec::new(), Queues::new());
    let mut piece = vec![0; PIECE];
    loop {
        take_messages(&mut input, &mut output, &mut queues, device)?;
        if !device.work() {
            return Ok(());
        }
        let now = Instant::now();
        for (&(endpoint, input), queue) in &mut queues {
            while let Some(pending) = queue.front() {
                if !try_one(endpoint, input, pending, device, now, &mut output) {
                    break;
                }
                queue.pop_front();
            }
        }
        // Pulled meanwhile, what was about to pass does not.
        if !device.work() {
            return Ok(());
        }
        if !output.is_empty() {
            socket.write_all(&output)?;
            output.clear();
            // What was answered may have been all that another one waited for.
            continue;
        }
        let [news, rings] = wait(&socket, bell, device.wakes_at())?;
        if rings {
            drain(&mut bell, &mut piece)?;
        }
        if news {
            match socket.read(&mut piece)? {
                0 => return Ok(()),
                count => input.extend_from_slice(&piece[..count]),
            }
        }
    }
}

/// Does a transfer if the device can now; says whether it did.
fn try_one(
    endpoint: u8,
    input: bool,
    pending: &Pending,
    device: &mut dyn Device,
    now: Instant,
    output: &mut Vec<u8>,
) -> bool {
    if input {
        match device.read(endpoint, pending.most, now) {
            Ok(None) => return false,
            Ok(Some(data)) => usbip::submitted(output, pending.seq, 0, data.len(), &data),
            Err(_) => usbip::submitted(output, pending.seq, STALLED, 0, &[]),
        }
    } else {
        if !device.has_room(endpoint) {
            return false;
        }
        let data = pending.data.as_deref().unwrap_or_default();
        match device.write(endpoint, data) {
            Ok(()) => usbip::submitted(output, pending.seq, 0, data.len(), &[]),
            Err(_) => usbip::submitted(output, pending.seq, STALLED, 0, &[]),
        }
    }
    true
}

/// Takes all whole messages: answers what can be answered at once, and queues the rest.
fn take_messages(
    input: &mut Vec<u8>,
    output: &mut Vec<u8>,
    queues: &mut Queues,
    device: &mut dyn Device,
) -> Result<()> {
    let mut taken = 0;
    let invalid = |error| Error::new(ErrorKind::InvalidData, error);
    while let Some((message, length)) = usbip::first(&input[taken..]).map_err(invalid)? {
        taken += length;
        match message {
            Message::Submit { seq, endpoint: 0, input, length, setup, .. } => match device.control(&setup) {
                Ok(mut answer) if input => {
                    answer.truncate(length);
                    usbip::submitted(output, seq, 0, answer.len(), &answer);
                }
                Ok(_) => usbip::submitted(output, seq, 0, length, &[]),
                Err(_) => usbip::submitted(output, seq, STALLED, 0, &[]),
            },
            Message::Submit { seq, endpoint, input, length, data, .. } => {
                let data = (!input).then_some(data);
                queues.entry((endpoint, input)).or_default().push_back(Pending { seq, most: length, data });
            }
            Message::Unlink { seq, victim } => {
                let mut was_pending = false;
                for queue in queues.values_mut() {
                    let before = queue.len();
                    queue.retain(|pending| pending.seq != victim);
                    was_pending |= queue.len() != before;
                }
                usbip::unlinked(output, seq, was_pending);
            }
        }
    }
    input.drain(..taken);
    Ok(())
}

/// Waits for the socket, the bell, or a moment; says which of the two it was.
fn wait(socket: &UnixStream, bell: &UnixStream, until: Instant) -> Result<[bool; 2]> {
    let left = until.saturating_duration_since(Instant::now()).min(LONGEST);
    let timeout = Timespec { tv_sec: 0, tv_nsec: i64::from(left.subsec_nanos()) };
    let mut both = [PollFd::new(socket, PollFlags::IN), PollFd::new(bell, PollFlags::IN)];
    match poll(&mut both, Some(&timeout)) {
        Err(rustix::io::Errno::INTR) => Ok([false, false]),
        Err(error) => Err(error.into()),
        Ok(_) => Ok([!both[0].revents().is_empty(), !both[1].revents().is_empty()]),
    }
}

/// Empties the bell.
fn drain(bell: &mut &UnixStream, piece: &mut [u8]) -> Result<()> {
    match bell.read(piece) {
        Ok(_) => Ok(()),
        Err(error) if error.kind() == ErrorKind::WouldBlock => Ok(()),
        Err(error) => Err(error),
    }
}
