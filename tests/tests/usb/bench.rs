//! What every scenario needs: boards to plug in, the program to run, and no wait without an end.

use serde_json::Value;
use std::collections::VecDeque;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};
use systole::discover::{Machine, UsbDevice};
use systole::link::sim::SimLink;
use systole::link::software::SoftwareLink;
use systole::link::target::LinkSpec;
use systole::link::{Level, Link, LinkError, TimeBase};
use systole::virtual_board::Device;
use systole::virtual_board::usb_model::{Board, Flash, Gateware, Plugged, Wiring, labelled, plug};
use systole_firmware::design::Design;
use systole_firmware::image::ice40::Die;
use systole_firmware::label;
use systole_hdl::parameters::Parameters;
use systole_hdl::wire::Origin;

/// Serial number of the board that most scenarios plug in.
pub const SERIAL: &str = "SYS0001";

/// Longest time of anything that is waited for: many times what it takes under emulation.
pub const LIMIT: Duration = Duration::from_secs(40);

/// The software backend, which is fast enough under emulation.
pub fn software() -> Gateware {
    Arc::new(|identity| Box::new(SoftwareLink::new(identity.clone())))
}

/// The gateware, clock by clock.
pub fn gateware() -> Gateware {
    Arc::new(|identity| Box::new(SimLink::new(identity, None)))
}

/// Sends everything back.
pub fn echo() -> Gateware {
    Arc::new(|_| Box::new(Echo))
}

struct Echo;

impl Link for Echo {
    fn level(&self, _origin: Origin) -> Level {
        Level::Unverified
    }

    fn poll(&mut self, to_board: &mut VecDeque<u8>, from_board: &mut Vec<u8>) -> Result<(), LinkError> {
        from_board.extend(to_board.drain(..));
        Ok(())
    }

    fn time(&self) -> TimeBase {
        TimeBase::of_simulation(1, 1)
    }

    fn now(&self) -> u64 {
        0
    }

    fn cycles(&self) -> Option<u64> {
        None
    }
}

impl Device for Echo {
    fn is_idle(&self) -> bool {
        true
    }
}

/// A board with the smallest FPGA, which takes the smallest images, and the names of an iCEBreaker.
pub fn board(serial: &str, gateware: Gateware) -> Board {
    Board {
        serial: serial.to_owned(),
        product: "iCEBreaker V1.0e".to_owned(),
        die: Die::Ice384,
        wiring: Wiring::Flash,
        gateware,
    }
}

/// A design of this grid side.
pub fn design(n: u32) -> Design {
    with(Parameters { n, ..Parameters::default() })
}

/// A design with these parameters.
pub fn with(parameters: Parameters) -> Design {
    Design::new(parameters).expect("parameters in range")
}

/// An image of a design.
pub fn image(design: &Design) -> Vec<u8> {
    labelled(Die::Ice384, &label::lines(design, design.hash()))
}

/// A flash that holds the image of a design.
pub fn flash(design: &Design) -> Flash {
    let mut flash = Flash::new();
    let image = image(design);
    flash.memory_mut()[..image.len()].copy_from_slice(&image);
    flash
}

/// Plugs in a board that runs a design, and waits until the kernel has made its ports.
pub fn plugged(serial: &str, gateware: Gateware, design: &Design) -> Plugged {
    plug_and_wait(board(serial, gateware), flash(design))
}

/// Plugs a board in, and waits until the kernel has made its ports.
pub fn plug_and_wait(board: Board, flash: Flash) -> Plugged {
    let serial = board.serial.clone();
    forgotten(&serial);
    let plugged = plug(board, flash).expect("a virtual host controller with a free port");
    device(&serial);
    plugged
}

/// Waits until the kernel has forgotten a board that was pulled, for which it takes its time.
pub fn forgotten(serial: &str) {
    wait_for("an earlier board to be forgotten", || {
        let there = Machine::default().usb_devices();
        there.iter().all(|device| device.serial.as_deref() != Some(serial)).then_some(())
    });
}

/// The device of this serial number, with a serial port at each interface.
pub fn device(serial: &str) -> UsbDevice {
    wait_for("both serial ports of the board", || {
        let devices = Machine::default().usb_devices();
        let device = devices.into_iter().find(|device| device.serial.as_deref() == Some(serial))?;
        let all = device.interfaces.len() == 2 && device.interfaces.iter().all(|one| one.port.is_some());
        all.then_some(device)
    })
}

/// The serial port of an interface.
pub fn port(device: &UsbDevice, interface: usize) -> PathBuf {
    device.interfaces[interface].port.clone().expect("a port")
}

/// Looks until there is something to be seen.
pub fn wait_for<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let begun = Instant::now();
    loop {
        if let Some(seen) = look() {
            return seen;
        }
        assert!(begun.elapsed() < LIMIT, "waited {LIMIT:?} for {what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// Opens a link as the program does.
pub fn open(link: &str) -> Box<dyn Link> {
    let spec: LinkSpec = link.parse().expect("a link");
    spec.target().open(&Parameters::clone).unwrap_or_else(|error| panic!("{link}: {error}")).link
}

/// What a program left behind.
#[derive(Debug)]
pub struct Ended {
    /// Its exit code.
    pub code: i32,
    /// What it wrote.
    pub out: String,
    /// What it complained about.
    pub err: String,
    /// Seconds that it took.
    pub seconds: f64,
}

impl Ended {
    /// Its JSON report, of a run that went well.
    pub fn report(&self) -> Value {
        assert_eq!(self.code, 0, "{}{}", self.out, self.err);
        serde_json::from_str(&self.out).expect("a JSON report")
    }

    /// What it complained about, of a run that ended with this code.
    pub fn complaint(&self, code: i32) -> &str {
        assert_eq!(self.code, code, "{}{}", self.out, self.err);
        &self.err
    }
}

/// Starts a program, with its output in pipes. What it writes must fit those until it ends.
pub fn start(program: &str, arguments: &[&str]) -> Child {
    let mut command = Command::new(program);
    command.args(arguments).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command.spawn().unwrap_or_else(|error| panic!("{program}: {error}"))
}

/// Waits until a program has ended; one that does not is killed, and the scenario fails.
pub fn end(child: Child) -> Ended {
    end_within(child, LIMIT)
}

/// The same with a limit of its own.
pub fn end_within(mut child: Child, limit: Duration) -> Ended {
    let begun = Instant::now();
    while child.try_wait().expect("a child").is_none() {
        if begun.elapsed() > limit {
            let _gone = child.kill();
            let output = child.wait_with_output().expect("its output");
            panic!("hangs: {}", String::from_utf8_lossy(&output.stderr));
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    let seconds = begun.elapsed().as_secs_f64();
    let output = child.wait_with_output().expect("its output");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    // One ended by a signal has no code.
    let code = output.status.code().unwrap_or(-1);
    Ended { code, out: text(&output.stdout), err: text(&output.stderr), seconds }
}

/// Runs a program to its end.
pub fn run(program: &str, arguments: &[&str]) -> Ended {
    end(start(program, arguments))
}

/// Runs the program itself to its end.
pub fn systole(arguments: &[&str]) -> Ended {
    run("systole", arguments)
}

/// Sees that nobody answers at an interface, at the usual rate: to try all rates would take half a minute.
pub fn silent(interface: usize) {
    // Other people's programmers leave the other interface without a port.
    let port = wait_for("the serial port of an interface", || {
        let devices = Machine::default().usb_devices();
        let device = devices.into_iter().find(|device| device.serial.as_deref() == Some(SERIAL))?;
        device.interfaces.get(interface)?.port.clone()
    });
    let link = format!("serial:{}@3000000", port.display());
    let ended = product(&link, "2x3x2");
    assert!(ended.complaint(3).contains("HELLO"), "{}", ended.err);
}

/// Runs a product of this size over a link; its report is JSON.
pub fn product(link: &str, size: &str) -> Ended {
    systole(&["run", "--random", size, "--seed", "1", "--link", link, "--format", "json"])
}
