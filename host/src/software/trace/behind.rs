//! A writer on a thread of its own, so that the array runs on while the system takes what was written.

use std::io::{self, Write};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::{self, JoinHandle};

/// Blocks that may be under way. A file that cannot keep up holds up the array rather than fill the memory.
const WAITING: usize = 4;

/// Passes blocks on to another writer, which takes them on a thread of its own, in the same order.
///
/// Made for large blocks, such as [`JsonLines`](super::JsonLines) and [`Vcd`](super::Vcd) write. An error of the other
/// writer is told by one of the next writes, a flush, or the end.
#[derive(Debug)]
pub struct Behind<W> {
    /// `None` once the thread is to end. An empty block asks for a flush.
    full: Option<Sender<Vec<u8>>>,
    /// Blocks that have been taken, to be filled again.
    empty: Receiver<Vec<u8>>,
    under_way: usize,
    /// `None` once what it ended with has been told.
    writer: Option<JoinHandle<io::Result<W>>>,
}

impl<W: Write + Send + 'static> Behind<W> {
    /// Moves a writer to a thread of its own.
    ///
    /// # Errors
    /// The system refuses a thread.
    pub fn new(mut to: W) -> io::Result<Self> {
        let (full, blocks) = channel::<Vec<u8>>();
        let (taken, empty) = channel();
        let take = move || {
            for block in blocks {
                if block.is_empty() {
                    to.flush()?;
                }
                to.write_all(&block)?;
                // Whoever sends blocks may already be gone.
                let _unwanted = taken.send(block);
            }
            Ok(to)
        };
        let writer = thread::Builder::new().name("trace".to_owned()).spawn(take)?;
        Ok(Self { full: Some(full), empty, under_way: 0, writer: Some(writer) })
    }

    /// Waits until everything has been written, and gives the writer back.
    ///
    /// # Errors
    /// What the writer says.
    pub fn finish(mut self) -> io::Result<W> {
        self.flush()?;
        self.end()
    }

    fn send(&mut self, bytes: &[u8]) -> io::Result<()> {
        let mut block = if self.under_way < WAITING { Vec::new() } else { self.taken()? };
        block.clear();
        block.extend_from_slice(bytes);
        match self.full.as_ref().map(|full| full.send(block)) {
            Some(Ok(())) => self.under_way += 1,
            _ => return self.end().map(drop),
        }
        Ok(())
    }

    /// The oldest block that is under way, once it has been taken.
    fn taken(&mut self) -> io::Result<Vec<u8>> {
        match self.empty.recv() {
            Ok(block) => {
                self.under_way -= 1;
                Ok(block)
            }
            Err(_) => self.end().map(|_| Vec::new()),
        }
    }

    /// Ends the thread and gives what it ended with; before it was asked to, only an error makes it end.
    fn end(&mut self) -> io::Result<W> {
        self.full = None;
        let told = || io::Error::other("it has failed before");
        let ended = self.writer.take().ok_or_else(told)?.join();
        ended.unwrap_or_else(|_| Err(io::Error::other("the writer panicked")))
    }
}

impl<W: Write + Send + 'static> Write for Behind<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if !bytes.is_empty() {
            self.send(bytes)?;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.send(&[])?;
        while self.under_way > 0 {
            self.taken()?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Takes so many bytes, and then fails.
    struct Full(usize);

    impl Write for Full {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0 = self.0.checked_sub(bytes.len()).ok_or(io::Error::other("disk full"))?;
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn bytes_arrive_in_order() {
        let mut behind = Behind::new(Vec::new()).expect("a thread");
        let mut expected = Vec::new();
        for at in 0..100u8 {
            let block = vec![at; usize::from(at) * 100];
            expected.extend_from_slice(&block);
            behind.write_all(&block).expect("taken");
        }
        behind.flush().expect("taken");
        assert_eq!(behind.under_way, 0);
        behind.write_all(b"more").expect("taken");
        expected.extend_from_slice(b"more");
        assert!(behind.finish().expect("all taken") == expected);
    }

    #[test]
    fn an_error_is_told() {
        let mut behind = Behind::new(Full(2000)).expect("a thread");
        let mut written = (0..1000).map(|_| behind.write_all(&[0; 100]));
        let error = written.find_map(Result::err).expect("the writer fails").to_string();
        assert_eq!(error, "disk full");
        assert!(behind.finish().is_err_and(|error| error.to_string() == "it has failed before"));
        let mut behind = Behind::new(Full(20)).expect("a thread");
        behind.write_all(&[0; 21]).expect("under way");
        assert!(behind.finish().is_err_and(|error| error.to_string() == "disk full"));
    }
}
