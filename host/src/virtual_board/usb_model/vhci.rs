//! Plugs a board into the kernel's virtual host controller, and pulls it out again.

use super::flash::Flash;
use super::ft2232h::{Board, Ft2232h, Handle};
use super::serve::serve;
use std::fs;
use std::os::fd::AsRawFd;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use thiserror::Error;

/// Where the controller is.
const CONTROLLER: &str = "/sys/devices/platform/vhci_hcd.0";

/// Speed of the device, as the controller counts: high.
const HIGH_SPEED: u32 = 3;

/// State of a port that nothing is plugged into.
const FREE: &str = "004";

/// Time that a model takes to end once it was pulled.
const ENDS: Duration = Duration::from_secs(1);

/// Why a board could not be plugged in.
#[derive(Debug, Error)]
pub enum ModelError {
    /// There is no virtual host controller.
    #[error("this system has no virtual USB host controller: as root, `modprobe vhci-hcd` (Linux only)")]
    NoController,
    /// All its ports are taken.
    #[error("every port of the virtual USB host controller is taken: unplug a board, or `rmmod vhci-hcd`")]
    NoPort,
    /// It refused.
    #[error("the virtual USB host controller cannot be used: {0}; it takes root")]
    Io(#[from] std::io::Error),
    /// The thread that served a board died.
    #[error("the board's model failed")]
    Failed,
}

/// A board that is plugged in; dropped, it is pulled out.
pub struct Plugged {
    board: Board,
    handle: Handle,
    port: u32,
    /// Taken when it is pulled out.
    thread: Option<JoinHandle<std::io::Result<Flash>>>,
}

/// Plugs a board in, with what its flash holds.
///
/// # Errors
/// There is no virtual host controller, it has no free port, or this user may not use it.
pub fn plug(board: Board, flash: Flash) -> Result<Plugged, ModelError> {
    let controller = Path::new(CONTROLLER);
    let status = fs::read_to_string(controller.join("status")).map_err(|_| ModelError::NoController)?;
    let port = free_port(&status).ok_or(ModelError::NoPort)?;
    let (ours, kernels) = UnixStream::pair()?;
    let (bell, rings) = UnixStream::pair()?;
    rings.set_nonblocking(true)?;
    let handle = Handle::default();
    let mut device = Ft2232h::new(board.clone(), flash, handle.clone(), rings);
    let thread = std::thread::spawn(move || {
        serve(ours, &bell, &mut device)?;
        Ok(device.into_flash())
    });
    let attach = format!("{port} {} {} {HIGH_SPEED}", kernels.as_raw_fd(), 0x1_0000 + port);
    // The kernel takes a reference of its own; ours goes, and with it the last one when the board is pulled.
    fs::write(controller.join("attach"), attach)?;
    Ok(Plugged { board, handle, port, thread: Some(thread) })
}

/// The first free port for a high-speed device in the controller's table.
fn free_port(status: &str) -> Option<u32> {
    status.lines().find_map(|line| {
        let mut words = line.split_whitespace();
        let (hub, port, state) = (words.next()?, words.next()?, words.next()?);
        if hub == "hs" && state == FREE { port.parse().ok() } else { None }
    })
}

impl Plugged {
    /// What can be done to it.
    pub fn handle(&self) -> &Handle {
        &self.handle
    }

    /// Whether it is still plugged in.
    pub fn is_served(&self) -> bool {
        self.thread.as_ref().is_some_and(|thread| !thread.is_finished())
    }

    /// Pulls it out, if that has not happened, and gives the board and its flash, to be plugged in again.
    ///
    /// # Errors
    /// The controller refuses, or the model has failed.
    pub fn unplug(mut self) -> Result<(Board, Flash), ModelError> {
        Ok((self.board.clone(), self.pull()?))
    }

    fn pull(&mut self) -> Result<Flash, ModelError> {
        if self.is_served() {
            let detached = fs::write(Path::new(CONTROLLER).join("detach"), self.port.to_string());
            // Refused when it has been pulled just now; then the model is about to end by itself.
            let begun = Instant::now();
            while detached.is_err() && self.is_served() && begun.elapsed() < ENDS {
                std::thread::sleep(Duration::from_millis(1));
            }
            if self.is_served() {
                detached?;
            }
        }
        let thread = self.thread.take().ok_or(ModelError::Failed)?;
        let served = thread.join().map_err(|_| ModelError::Failed)?;
        Ok(served?)
    }
}

impl Drop for Plugged {
    fn drop(&mut self) {
        if self.thread.is_some() {
            // Whoever drops it does not ask how it went.
            let _pulled = self.pull();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_free_port_is_found() {
        let status = "hub port sta spd dev      sockfd local_busid\n\
                      hs  0000 006 003 00010000 000003 1-1\n\
                      hs  0001 004 000 00000000 000000 0-0\n\
                      ss  0008 004 000 00000000 000000 0-0\n";
        assert_eq!(free_port(status), Some(1));
        assert_eq!(free_port("hub port sta\nss  0008 004\n"), None);
    }
}
