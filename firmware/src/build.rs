//! From a design and a board to a bitstream: Verilog, synthesis, place and route, packing.
//!
//! Everything that a tool reads is written into a folder of its own, by relative names, so that equal inputs give equal bytes
//! wherever they are built.

mod constraints;
mod error;
mod file;
mod placement;
mod synthesis;
mod tools;

use crate::cache::{Cache, Files, Key, sha256};
use crate::design::{Design, hash_of};
use crate::image;
use crate::label;
use crate::report::{Report, Resource, Timed, resources};
use crate::toolchain::{Found, Tool, Toolchain, ToolchainError};
use crate::top::Top;
use file::{folder, incomplete, netlist_in, read, write};
use placement::{Backend, Placed, image_file};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;
use synthesis::{DESIGN, NETLIST, Recipe, SCRIPT};
use systole_boards::{Board, Fpga};
use systole_hdl::parameters::Parameters;
use systole_hdl::{sim, verilog};
use tempfile::TempDir;
use tools::Tools;

pub use constraints::Unmatched;
pub use error::{BuildError, Shortfall};
pub use synthesis::TOP;
pub use tools::{tools, tools_of};

/// Seeds tried when none is asked for, until one meets the clock.
const SEEDS: u32 = 3;

/// Which seeds the placer is started with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Seeds {
    /// This one and those after it until one meets the clock, at most three.
    UntilMet(u32),
    /// This one.
    One(u32),
    /// 1, 2, … this many, and the fastest of them is taken; of equal ones the first.
    BestOf(u32),
}

impl Seeds {
    fn all(self) -> std::ops::RangeInclusive<u32> {
        match self {
            Self::UntilMet(first) => first..=first.saturating_add(SEEDS - 1),
            Self::One(seed) => seed..=seed,
            Self::BestOf(count) => 1..=count,
        }
    }
}

/// What to build.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    /// For which board.
    pub board: &'a Board,
    /// Which design.
    pub design: &'a Design,
    /// With which seeds.
    pub seeds: Seeds,
    /// Whether an image that misses its clock is one.
    pub allow_timing_failure: bool,
}

/// A finished image.
#[derive(Clone, Debug, PartialEq)]
pub struct Image {
    /// Its figures.
    pub report: Report,
    /// What is written to the board.
    pub bitstream: Vec<u8>,
    /// Whether it was taken from the cache.
    pub from_cache: bool,
}

/// An image as far as synthesis.
#[derive(Clone, Debug, PartialEq)]
pub struct Netlist {
    /// The device's cells as Verilog, top module [`TOP`].
    pub verilog: String,
    /// Needed and available.
    pub resources: Vec<Resource>,
    /// Hash over all that shapes the image, tools that come after synthesis included.
    pub design_hash: u64,
}

/// Told what a build is doing.
pub type Progress<'a> = &'a mut dyn FnMut(&str);

/// The image's Verilog, top module `systole`. Its design hash covers the gateware itself, the board, and how and with
/// which `tools` an image is made of it.
///
/// # Errors
/// The board's PLL cannot make the design's clock, or its USB chip not its baud.
pub fn verilog(board: &Board, design: &Design, tools: &[String]) -> Result<(String, u64), BuildError> {
    let (recipe, baud) = (Recipe::new(&board.fpga, design.parameters()), design.parameters().baud);
    if baud > board.usb.max_baud {
        return Err(BuildError::Baud { board: board.name.clone(), baud, most: board.usb.max_baud });
    }
    let emitted = |hash| -> Result<String, BuildError> {
        Ok(verilog::emit(&sim::power_up(Top::new(board, design, hash)?), TOP)?)
    };
    // The gateware answers with the hash: what is hashed is the gateware that would answer with none.
    let text = format!(
        "{}board={}\nverilog={}\npins={}\nrecipe={}\nplacement={}\ntools={}\n",
        design.canonical_text(),
        board.name,
        sha256(emitted(0)?.as_bytes()),
        sha256(constraints::text(board).as_bytes()),
        sha256(recipe.text().as_bytes()),
        placement::arguments(&board.fpga, 0).join(" "),
        tools.join(", "),
    );
    let hash = hash_of(&text);
    Ok((emitted(hash)?, hash))
}

/// The netlist of a part of an image, synthesised as the whole would be, for simulation. `verilog` is that part of a design
/// of these parameters, with all its PEs, its top module named [`TOP`].
///
/// # Errors
/// yosys is missing or fails, a folder cannot be used.
pub fn netlist(
    fpga: &Fpga,
    parameters: &Parameters,
    verilog: &str,
    toolchain: &Toolchain,
) -> Result<String, BuildError> {
    let yosys = toolchain.find(Tool::Yosys)?;
    let folder = folder()?;
    let netlist = synthesise(&yosys, folder.path(), &Recipe::new(fpga, parameters), verilog)
        .and_then(|()| netlist_in(folder.path()));
    if netlist.is_err() {
        // The log is in it, and the error names it.
        let _kept = folder.keep();
    }
    netlist
}

/// Synthesises a description in a folder.
fn synthesise(yosys: &Found, folder: &Path, recipe: &Recipe, verilog: &str) -> Result<(), BuildError> {
    let others = recipe.files.iter().map(|(name, text)| (*name, text.as_str()));
    for (name, text) in [(DESIGN, verilog), (SCRIPT, &recipe.script)].into_iter().chain(others) {
        write(&folder.join(name), text)?;
    }
    Ok(yosys.run(folder, yosys.script_arguments(SCRIPT), "synthesis.log")?)
}

/// Builds an image, or takes it from the cache.
///
/// # Errors
/// A tool is missing or fails, the image does not fit or misses its clock, a folder cannot be used. After a failure the folder
/// with the logs is left, and the error names it.
pub fn build(
    request: &Request,
    toolchain: &Toolchain,
    cache: Option<&Cache>,
    progress: Progress,
) -> Result<Image, BuildError> {
    let mut build = Build::begin(request, toolchain, progress)?;
    let key = build.key();
    if let Some(image) = cache.map(|cache| cache.read(&key)).transpose()?.flatten().and_then(unpack) {
        return build.judge(image, None);
    }
    cache.map_or(Ok(()), Cache::prepare)?;
    let image = match build.run(progress) {
        Ok(image) => image,
        Err(error) => return Err(build.failed(error, progress)),
    };
    // An icetime that failed may have its say another time.
    let is_judged = build.tools.icetime.is_none() || image.report.icetime_hz.is_some();
    if let Some(cache) = cache.filter(|_| is_judged) {
        cache.write(&key, &pack(&image)?)?;
    }
    let log = build.folder.path().join(placement::log_file(image.report.seed));
    let verdict = build.judge(image, Some(log));
    if verdict.is_err() {
        let _kept = build.folder.keep();
    }
    verdict
}

/// Goes as far as the netlist of an image, and sees whether it fits.
///
/// # Errors
/// As of [`build`], short of the clock.
pub fn synthesis(
    request: &Request,
    toolchain: &Toolchain,
    progress: Progress,
) -> Result<Netlist, BuildError> {
    let mut build = Build::begin(request, toolchain, progress)?;
    let made = build.synthesis(progress).and_then(|resources| {
        let verilog = netlist_in(build.folder.path())?;
        Ok(Netlist { verilog, resources, design_hash: build.hash })
    });
    made.map_err(|error| build.failed(error, progress))
}

struct Build<'a> {
    request: &'a Request<'a>,
    tools: Tools,
    verilog: String,
    hash: u64,
    folder: TempDir,
    seconds: Vec<Timed>,
}

impl<'a> Build<'a> {
    /// Finds the tools and writes the description.
    fn begin(
        request: &'a Request<'a>,
        toolchain: &Toolchain,
        progress: Progress,
    ) -> Result<Self, BuildError> {
        let tools = Tools::find(toolchain, request.board.fpga.family)?;
        progress("writing Verilog");
        let started = Instant::now();
        let (verilog, hash) = verilog(request.board, request.design, &tools.identity())?;
        let mut build = Self { request, tools, verilog, hash, folder: folder()?, seconds: Vec::new() };
        build.took("verilog", started);
        Ok(build)
    }

    /// What a failure means to the user: of what does not fit the largest that would, of others the logs that are left.
    fn failed(self, error: BuildError, progress: Progress) -> BuildError {
        let error = match error {
            BuildError::Fit(shortfall) => {
                progress("looking for the largest that fits");
                match self.with_largest(shortfall) {
                    Ok(shortfall) => return BuildError::Fit(shortfall),
                    Err(error) => error,
                }
            }
            error => error,
        };
        // The logs are in it, and the error names them.
        if !matches!(error, BuildError::Toolchain(ToolchainError::Interrupted)) {
            let _kept = self.folder.keep();
        }
        error
    }

    fn took(&mut self, stage: &str, started: Instant) {
        let seconds = (started.elapsed().as_secs_f64() * 10.0).round() / 10.0;
        self.seconds.push(Timed { stage: stage.to_owned(), seconds });
    }

    fn backend(&self) -> Backend<'_> {
        Backend { nextpnr: &self.tools.nextpnr, packer: &self.tools.packer, fpga: &self.request.board.fpga }
    }

    /// All that shapes the image. The verdict on its clock does not.
    fn key(&self) -> Key {
        let Request { board, design, seeds, .. } = self.request;
        let recipe = Recipe::new(&board.fpga, design.parameters());
        Key::of(&[
            ("verilog", &self.verilog),
            ("recipe", &recipe.text()),
            ("pins", &constraints::text(board)),
            ("device", &format!("{:?}", board.fpga)),
            ("placement", &placement::arguments(&board.fpga, 0).join(" ")),
            ("label", &label::lines(design, self.hash).join("\n")),
            ("clock", &design.parameters().clock_hz.to_string()),
            ("seeds", &format!("{seeds:?}")),
            ("tools", &self.tools.identity().join("\n")),
            ("icetime", &format!("{:?}", self.tools.icetime.as_ref().map(Found::identity))),
        ])
    }

    /// Makes the netlist, which fits; gives what it takes.
    fn synthesis(&mut self, progress: Progress) -> Result<Vec<Resource>, BuildError> {
        let design = self.request.design;
        progress("synthesis");
        let started = Instant::now();
        self.synthesise(design, &self.verilog)?;
        self.took("synthesis", started);
        self.check_fit(design)
    }

    fn run(&mut self, progress: Progress) -> Result<Image, BuildError> {
        let Request { board, design, seeds, .. } = *self.request;
        let clock_hz = design.parameters().clock_hz;
        self.synthesis(progress)?;
        let started = Instant::now();
        let mut tried = Vec::new();
        let mut best: Option<Placed> = None;
        for seed in seeds.all() {
            progress(&format!("place and route, seed {seed}"));
            let mut placed = self.backend().place(self.folder.path(), clock_hz, seed)?;
            placed.icetime_hz = self.icetime(seed, progress)?;
            tried.push(seed);
            if best.as_ref().is_none_or(|best| placed.reached_hz() > best.reached_hz()) {
                best = Some(placed);
            }
            let is_met = best.as_ref().is_some_and(|best| best.reached_hz() >= u64::from(clock_hz));
            if matches!(seeds, Seeds::UntilMet(_)) && is_met {
                break;
            }
        }
        self.took("place and route", started);
        // There is at least one seed, or nothing was asked for.
        let best = best.ok_or(BuildError::NoSeed)?;
        progress("packing");
        self.backend().pack(self.folder.path(), best.seed, &label::lines(design, self.hash))?;
        let file = image_file(board.fpga.family);
        let path = self.folder.path().join(&file);
        let bitstream =
            fs::read(&path).map_err(|source| incomplete(self.tools.packer.tool, &path, source))?;
        image::check(&board.fpga, &bitstream)
            .map_err(|error| incomplete(self.tools.packer.tool, &path, format!("it {error}")))?;
        let parameters = design.parameters();
        let report = Report {
            board: board.name.clone(),
            device: format!("{} {}", board.fpga.device, board.fpga.package),
            n: parameters.n,
            clock_hz,
            fmax_hz: best.fmax_hz,
            timing_met: best.reached_hz() >= u64::from(clock_hz),
            icetime_hz: best.icetime_hz,
            baud: parameters.baud,
            seed: best.seed,
            seeds_tried: tried,
            gmacs: f64::from(parameters.n * parameters.n) * f64::from(clock_hz) / 1e9,
            resources: self.resources(&best.utilisation)?,
            design_hash: format!("{:016x}", self.hash),
            image_sha256: sha256(&bitstream),
            image: file,
            tools: self.tools.identity(),
            seconds: self.seconds.clone(),
        };
        Ok(Image { report, bitstream, from_cache: false })
    }

    /// What icetime makes of what was placed with a seed, where it is installed.
    fn icetime(&self, seed: u32, progress: Progress) -> Result<Option<u64>, BuildError> {
        let Some(icetime) = &self.tools.icetime else { return Ok(None) };
        const LOG: &str = "icetime.log";
        let arguments = placement::icetime_arguments(&self.request.board.fpga, seed);
        match icetime.run(self.folder.path(), arguments, LOG) {
            // Images are made without it: what it would have said is not worth theirs.
            Err(ToolchainError::Failed { status, .. }) => {
                progress(&format!("icetime failed ({status}) and is left out"));
                return Ok(None);
            }
            ended => ended?,
        }
        let log = self.folder.path().join(LOG);
        let hz = placement::icetime_clock(&read(Tool::Icetime, &log)?);
        hz.map(Some).ok_or_else(|| incomplete(Tool::Icetime, &log, "it tells no rate"))
    }

    /// Synthesises a description of a design in the folder, beside the pins.
    fn synthesise(&self, design: &Design, verilog: &str) -> Result<(), BuildError> {
        let board = self.request.board;
        let folder = self.folder.path();
        write(&folder.join(constraints::file(board.fpga.family)), &constraints::text(board))?;
        let recipe = Recipe::new(&board.fpga, design.parameters());
        synthesise(&self.tools.yosys, folder, &recipe, verilog)?;
        let unmatched = constraints::unmatched(board, &read(Tool::Yosys, &folder.join(NETLIST))?, TOP);
        match unmatched.map_err(|error| incomplete(Tool::Yosys, &folder.join(NETLIST), error))? {
            None => Ok(()),
            Some(unmatched) => Err(BuildError::Pins { board: board.name.clone(), unmatched }),
        }
    }

    fn resources(&self, utilisation: &placement::Utilisation) -> Result<Vec<Resource>, BuildError> {
        let mut cells = BTreeMap::new();
        for line in read(Tool::Yosys, &self.folder.path().join(NETLIST))?.lines() {
            if let Some(cell) = line.trim().strip_prefix("\"type\": \"") {
                *cells.entry(cell.trim_end_matches(['"', ',']).to_owned()).or_default() += 1;
            }
        }
        Ok(resources(self.request.board.fpga.family, &cells, utilisation))
    }

    fn check_fit(&self, design: &Design) -> Result<Vec<Resource>, BuildError> {
        let resources = self.resources(&self.backend().utilisation(self.folder.path())?)?;
        if resources.iter().any(Resource::is_short) {
            let board = self.request.board.name.clone();
            let n = design.parameters().n;
            return Err(BuildError::Fit(Box::new(Shortfall { board, n, resources, largest: None })));
        }
        Ok(resources)
    }

    /// Adds the largest grid that fits, all else being equal.
    fn with_largest(&self, mut shortfall: Box<Shortfall>) -> Result<Box<Shortfall>, BuildError> {
        for n in (1..shortfall.estimate()).rev() {
            let mut parameters = self.request.design.parameters().clone();
            parameters.n = n;
            let Ok(smaller) = Design::new(parameters) else { continue };
            let fits = verilog(self.request.board, &smaller, &[])
                .and_then(|(text, _)| self.synthesise(&smaller, &text))
                .and_then(|()| self.check_fit(&smaller));
            match fits {
                Ok(_) => {
                    shortfall.largest = Some(n);
                    break;
                }
                Err(BuildError::Fit(_)) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(shortfall)
    }

    /// Refuses an image that misses its clock, unless that is allowed. `log` is nextpnr's, of an image just built.
    fn judge(&self, image: Image, log: Option<PathBuf>) -> Result<Image, BuildError> {
        if image.report.timing_met || self.request.allow_timing_failure {
            return Ok(image);
        }
        Err(BuildError::Timing { report: Box::new(image.report), log })
    }
}

const REPORT_FILE: &str = "report.json";
const IMAGE_FILE: &str = "image";

fn pack(image: &Image) -> Result<Files, BuildError> {
    let report = serde_json::to_vec(&image.report).map_err(|error| BuildError::Json(error.to_string()))?;
    Ok([(REPORT_FILE.to_owned(), report), (IMAGE_FILE.to_owned(), image.bitstream.clone())].into())
}

/// `None` where an entry is of another version of this program: it is built anew.
fn unpack(mut files: Files) -> Option<Image> {
    let report = serde_json::from_slice(&files.remove(REPORT_FILE)?).ok()?;
    let bitstream = files.remove(IMAGE_FILE)?;
    Some(Image { report, bitstream, from_cache: true })
}

#[cfg(test)]
mod tests {
    use super::*;
    use systole_boards::find;

    #[test]
    fn the_design_hash_covers_board_pins_recipe_and_tools_and_is_in_the_image() {
        let board = find("icebreaker").expect("known");
        let design = Design::new(board.parameters.clone()).expect("in range");
        let tools = |yosys: &str| vec![format!("yosys {yosys}"), "nextpnr-ice40 1".to_owned()];
        let made = |board: &Board, tools: &[String]| verilog(board, &design, tools).expect("a description");
        let (text, hash) = made(board, &tools("0.23"));
        assert_eq!(
            made(board, &tools("0.23")),
            (text.clone(), hash),
            "nothing else is in it, no time and no path"
        );
        // Of the tools nothing but the hash is in the gateware, which answers with it.
        assert_ne!(made(board, &tools("0.24")).0, text);
        let mut moved = board.clone();
        moved.leds.busy.at = "10".to_owned();
        let mut other = board.clone();
        other.fpga.package = "uwg30".to_owned();
        let mut graded = board.clone();
        graded.fpga.speed = Some("6".to_owned());
        // Nothing but the gateware differs, which has other dividers in its PLL.
        let mut faster = board.clone();
        faster.clock.hz = 16_000_000;
        let mut hashes: Vec<_> =
            [&moved, &other, &graded, &faster].map(|board| made(board, &tools("0.23")).1).into();
        hashes.extend([hash, made(board, &tools("0.24")).1]);
        hashes.sort_unstable();
        hashes.dedup();
        assert_eq!(hashes.len(), 6);
    }
}
