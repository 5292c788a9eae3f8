//! Seeded faults: one change of the generated Verilog each, that the suites must notice.
//!
//! A fault is put in as text, since that is where it can be put without touching the product; it is judged by behaviour
//! alone. The suites are those that run at the Verilog level anyway.

mod kill;

pub use kill::{Verdict, judge};

use crate::verilog::Edit;

/// The suites that a fault is tried on, one after another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Suites {
    /// The contract of the array, then of whole jobs, then the PE against its simulation.
    Array,
    /// The contract of whole jobs, then the wrapper against its simulation.
    Jobs,
    /// The frame decoder against its simulation.
    Decoder,
    /// The command FIFO against its simulation.
    Fifo,
}

/// A seeded fault.
#[derive(Clone, Copy, Debug)]
pub struct Mutant {
    /// What is wrong, after the block it is in.
    pub name: &'static str,
    /// Where it should be noticed.
    pub suites: Suites,
    /// The change.
    pub edit: Edit,
}

macro_rules! mutants {
    ($($suites:ident $module:literal { $($name:literal: $find:literal => $put:literal;)* })*) => {
        &[$($(Mutant {
            name: $name,
            suites: Suites::$suites,
            edit: Edit { module: $module, find: $find, put: $put },
        }),*),*]
    };
}

/// Every fault. An empty module is the top of its design: wrapper, decoder, FIFO.
pub const MUTANTS: &[Mutant] = mutants! {
    Array "pe" {
        "pe: advance beats clear": "if (reset | clear) begin" => "if (reset | (clear & ~advance)) begin";
        "pe: reset does nothing": "if (reset | clear) begin" => "if (clear) begin";
        "pe: operands are taken for unsigned": "product = $signed(" => "product = $unsigned(";
        "pe: terms are not counted": "taken$d = taken$q + 32'h1;" => "taken$d = taken$q;";
        "pe: k of the partners is not compared": "fault = k_mismatch;" => "fault = 32'h0;";
        "pe: job of the partners is not compared": "fault = job_mismatch;" => "fault = 32'h0;";
        "pe: order is not checked": "fault = out_of_order;" => "fault = 32'h0;";
        "pe: a missing partner is no error": "fault = unpaired;" => "fault = 32'h0;";
        "pe: a term after the last is taken": "!= taken$q) | done) begin" => "!= taken$q)) begin";
        "pe: done is one term early": "done = taken$q == k_len;" => "done = (taken$q + 32'h1) == k_len;";
        "pe: B moves in a pause": "b$d = b$q;" => "b$d = b_in;";
        "pe: a pause does not pause": "else if (advance) begin" => "else begin";
        "pe: clear leaves the sum": "sum$d = 32'h0;" => "sum$d = sum$q;";
        "pe: clear leaves B valid": "b$d[" => "a$d[";
        "pe: a later error replaces the first": "if (first$q == 32'h0) begin" => "if (fault != 32'h0) begin";
        "pe: B crosses two PEs on one edge": "b_out = b$q;" => "b_out = b_in;";
    }
    Jobs "" {
        "wrapper: the drain is one step short":
            "if (tail$q == whole_tail) begin" => "if ((tail$q + 32'h1) == whole_tail) begin";
        "wrapper: paused edges are not counted":
            "edge_count$d = edge_count$q + 32'h1;" => "if (~hold) edge_count$d = edge_count$q + 32'h1;";
        "wrapper: the grid is not cleared": "grid$clear = clearing;" => "grid$clear = 1'b0;";
        "wrapper: a job beyond the limit runs": " & (k_len <= k_limit);" => ";";
        "wrapper: a job without terms runs": " & |k_len & " => " & ";
        "wrapper: a job starts without room for its results": "take = start & results$room &" => "take = start &";
        "wrapper: a refused start leaves no trace":
            "refuse = (start & ~take) | injected_start;" => "refuse = 1'b0;";
    }
    Jobs "feeder" {
        "feeder: the last term comes twice":
            "last = lane$0$valid & (next_step == k_len);" => "last = lane$0$valid & (step == k_len);";
        "feeder: the address of A stands still":
            "lane$0$a_next$next = lane$0$a + 32'h1;" => "lane$0$a_next$next = lane$0$a;";
        "feeder: truncation stops at lane 0": "present$0 = 1'b0;" => "present$0 = lane$0$valid;";
        "feeder: lane 1 is a term ahead": "lane$1$k_next = lane$0$k;" => "lane$1$k_next = lane$0$k + 32'h1;";
        "feeder: the end of bank A is not noticed": "(lane$0$a >= a_end) | " => "";
    }
    Jobs "lane" {
        "lane: the address of B runs on in a pause": "b_read$next = b_at$q;" => "b_read$next = b_next;";
    }
    Jobs "collector" {
        "collector: missing terms are no error": "fault = missing_terms;" => "fault = 32'h0;";
        "collector: the highest PE is reported": "if (first$q == 32'h0) begin" => "if (|fault) begin";
    }
    Jobs "injector" {
        "injector: a fault stays armed": "live$d = armed$q;\n            armed$d = 1'b0;" => "live$d = armed$q;";
    }
    Jobs "results" {
        "result buffer: a job that was read is not freed": "free = 1'b1;" => "free = 1'b0;";
    }
    Decoder "" {
        "decoder: the CRC is ignored": "else if (~crc$good) begin" => "else if (1'b0) begin";
        "decoder: seq is not compared": "else if (seq$q != awaited$q) begin" => "else if (1'b0) begin";
        "decoder: a duplicate is executed":
            "duplicate$next = ~distance[32'h7];" => "commit$next = ~distance[32'h7];";
        "decoder: expected stands still": "awaited$d = awaited$q + 32'h1;" => "awaited$d = awaited$q;";
        "decoder: END after ESC is data":
            "frame_end = take & (rx_data == end_byte);" => "frame_end = take & (rx_data == end_byte) & ~escaped$q;";
        "decoder: a frame with a byte lost is committed": "else if (lost$q) begin" => "else if (1'b0) begin";
        "decoder: no session is needed": "if (~in_session$q) begin" => "if (1'b0) begin";
        "decoder: HELLO leaves expected at its own seq": "awaited$d = seq$q + 32'h1;" => "awaited$d = seq$q;";
    }
    Decoder "rules" {
        "decoder: arguments are not checked": "bad_argument = bad$q;" => "bad_argument = 1'b0;";
        "decoder: a frame may be of any size": "(length <= body_limit) & " => "";
    }
    Fifo "" {
        "fifo: roll back loses nothing": "head$d = committed$q;" => "head$d = head$q;";
        "fifo: commit gives nothing": "committed$d = head$q;" => "committed$d = committed$q;";
        "fifo: never full": "no_room = (head$q ^ tail$q) == size;" => "no_room = 1'b0;";
        "fifo: reset leaves the reader where it was": "tail$d = 32'h0;" => "tail$d = tail$q;";
        "fifo: bytes show before commit":
            "shown$d = next_tail != committed$q;" => "shown$d = next_tail != head$q;";
    }
};
