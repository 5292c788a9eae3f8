//! `systole list`: what is plugged in, and how to talk to it.

use super::Format;
use super::output::{print, print_json};
use super::report::FORMAT_VERSION;
use crate::discover::{Access, Holder, Machine, Port, UsbDevice};
use crate::error::{Error, exit};
use crate::file::shown;
use clap::Args;
use serde::Serialize;
use std::path::{Path, PathBuf};
use systole_boards::Board;

/// Arguments of `systole list`.
#[derive(Debug, Args)]
pub struct ListArgs {
    /// Look at another system, whose sys, proc, dev and etc are in this directory
    #[arg(long, value_name = "DIR", default_value = "/")]
    root: PathBuf,
    /// How to report
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
}

/// What `list` reports.
#[derive(Debug, Serialize)]
struct ListReport {
    format_version: u32,
    command: &'static str,
    ports: Vec<PortReport>,
    usb_devices: Vec<DeviceReport>,
}

/// A serial port.
#[derive(Debug, Serialize)]
struct PortReport {
    link: String,
    path: String,
    driver: Option<String>,
    usb: Option<UsbReport>,
    interface: Option<u8>,
    boards: Vec<&'static str>,
    accessible: bool,
    /// Why it is not accessible, and what to do.
    why: Option<String>,
    holders: Vec<HolderReport>,
    latency_timer_ms: Option<u32>,
}

/// A USB device.
#[derive(Debug, Serialize)]
struct DeviceReport {
    link: String,
    path: String,
    #[serde(flatten)]
    usb: UsbReport,
    boards: Vec<&'static str>,
    accessible: bool,
    why: Option<String>,
    interfaces: Vec<InterfaceReport>,
}

/// What a USB device says it is.
#[derive(Debug, Serialize)]
struct UsbReport {
    place: String,
    vid: String,
    pid: String,
    manufacturer: Option<String>,
    product: Option<String>,
    serial: Option<String>,
    model: bool,
}

/// An interface of a USB device.
#[derive(Debug, Serialize)]
struct InterfaceReport {
    number: u8,
    driver: Option<String>,
    port: Option<String>,
}

/// Who has a port open.
#[derive(Debug, Serialize)]
struct HolderReport {
    pid: u32,
    name: String,
}

/// Runs the subcommand; gives the exit code.
///
/// # Errors
/// A root that is no directory; a report that cannot be written.
pub fn main(arguments: &ListArgs) -> anyhow::Result<u8> {
    if !arguments.root.is_dir() {
        let root = shown(&arguments.root);
        return Err(Error::Arguments(format!("--root {root}: there is no such directory")).into());
    }
    let machine = Machine::at(&arguments.root);
    let report = ListReport {
        format_version: FORMAT_VERSION,
        command: "list",
        ports: machine.ports().iter().map(PortReport::from).collect(),
        usb_devices: machine.usb_devices().iter().map(DeviceReport::from).collect(),
    };
    match arguments.format {
        Format::Json => print_json(&report)?,
        Format::Text => print(&text(&report))?,
    }
    Ok(exit::OK)
}

fn names(boards: &[&'static Board]) -> Vec<&'static str> {
    boards.iter().map(|board| board.name.as_str()).collect()
}

fn path(path: &Path) -> String {
    path.display().to_string()
}

fn why(access: &Access) -> Option<String> {
    (!access.is_granted()).then(|| access.to_string())
}

impl From<&Port> for PortReport {
    fn from(port: &Port) -> Self {
        let holder = |holder: &Holder| HolderReport { pid: holder.pid, name: holder.name.clone() };
        Self {
            link: port.link(),
            path: path(&port.path),
            driver: port.driver.clone(),
            usb: port.usb.as_ref().map(|(device, _)| device.into()),
            interface: port.usb.as_ref().map(|(_, interface)| *interface),
            boards: names(&port.boards),
            accessible: port.access.is_granted(),
            why: why(&port.access),
            holders: port.holders.iter().map(holder).collect(),
            latency_timer_ms: port.latency_timer,
        }
    }
}

impl From<&UsbDevice> for DeviceReport {
    fn from(device: &UsbDevice) -> Self {
        let interfaces = device.interfaces.iter().map(|interface| InterfaceReport {
            number: interface.number,
            driver: interface.driver.clone(),
            port: interface.port.as_deref().map(path),
        });
        Self {
            link: device.link(),
            path: path(&device.path),
            usb: device.into(),
            boards: names(&device.boards),
            accessible: device.access.is_granted(),
            why: why(&device.access),
            interfaces: interfaces.collect(),
        }
    }
}

impl From<&UsbDevice> for UsbReport {
    fn from(device: &UsbDevice) -> Self {
        Self {
            place: device.place.clone(),
            vid: format!("{:04x}", device.vid),
            pid: format!("{:04x}", device.pid),
            manufacturer: device.manufacturer.clone(),
            product: device.product.clone(),
            serial: device.serial.clone(),
            model: device.is_model,
        }
    }
}

fn text(report: &ListReport) -> String {
    let ports = report.ports.iter().map(|port| {
        let chip = port.usb.as_ref().map_or_else(|| "no USB device".to_owned(), chip);
        let interface = port.interface.map_or_else(String::new, |number| format!(", interface {number}"));
        let held = port.holders.iter().map(|x| format!("  in use by {} (process {})\n", x.name, x.pid));
        format!("{}  {chip}{interface}{}", port.link, tail(&port.boards, port.why.as_deref()))
            + &held.collect::<String>()
    });
    let devices = report.usb_devices.iter().filter(|device| !device.boards.is_empty()).map(|device| {
        format!("{}  {}{}", device.link, chip(&device.usb), tail(&device.boards, device.why.as_deref()))
    });
    let text: String = ports.chain(devices).collect();
    if text.is_empty() { "no serial port and no known board is attached\n".to_owned() } else { text }
}

fn chip(usb: &UsbReport) -> String {
    let product = usb.product.as_deref().unwrap_or("unnamed");
    let serial = usb.serial.as_deref().unwrap_or("none");
    let model = if usb.model { ", a model" } else { "" };
    format!("{}:{} {product}, serial number {serial}{model}", usb.vid, usb.pid)
}

/// What the thing may be, and why it cannot be opened.
fn tail(boards: &[&str], why: Option<&str>) -> String {
    let board = if boards.is_empty() { String::new() } else { format!(": {}", boards.join(" or ")) };
    match why {
        None => format!("{board}\n"),
        Some(why) => format!("{board} (inaccessible)\n  {why}\n"),
    }
}
