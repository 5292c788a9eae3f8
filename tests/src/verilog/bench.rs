//! The test bench: reads a line of inputs, takes an edge if the line asks for it, prints the outputs before and after,
//! until there is no more input.

use super::ports::{Port, Ports};
use systole_hdl::verilog::identifier;

/// A signal below the top module, read along with the outputs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tap {
    /// Its path below the top module's instance, such as `pe$0.acc`.
    pub path: String,
    /// The rest of what a port has.
    pub port: Port,
}

/// A test bench for a module. Its own names start with `bench`, which no port's does. Each side of a line has the ports one after another in whole hexadecimal digits, then the
/// taps. A line of inputs starts with one digit more, 1 to take an edge or 0 to settle only.
///
/// The line read goes to the inputs by an assignment: Verilator 5.006 does not wake up what depends on a variable that
/// `$fscanf` writes.
pub fn bench(module: &str, ports: &Ports, taps: &[Tap]) -> String {
    let range = |port: &Port| format!("[{}:0]", port.bits - 1);
    let (mut wires, mut connections) = (String::new(), vec![".clock(clock)".to_owned()]);
    let total: usize = ports.inputs.iter().map(Port::digits).sum();
    let mut low = 4 * total;
    for port in &ports.inputs {
        low -= 4 * port.digits();
        connections.push(format!(".{}(bench_in[{low}+:{}])", identifier(&port.name), port.bits));
    }
    let mut shown = Vec::new();
    for port in &ports.outputs {
        let name = identifier(&port.name);
        wires += &format!("    wire {} {name};\n", range(port));
        connections.push(format!(".{name}({name})"));
        shown.push(padded(port, &name));
    }
    shown.extend(taps.iter().map(|tap| padded(&tap.port, &format!("dut.{}", tap.path))));
    let digits: usize = ports.outputs.iter().chain(taps.iter().map(|tap| &tap.port)).map(Port::digits).sum();
    format!(
        "module bench;
    reg clock;
    reg [{in_high}:0] bench_line;
    reg [{in_high}:0] bench_in;
    wire [{out_high}:0] bench_out;
    reg [{out_high}:0] bench_before;
    integer bench_read;
{wires}
    {module} dut({connections});
    assign bench_out = {{{shown}}};

    initial begin
        clock = 0;
        bench_read = $fscanf(32'h8000_0000, \"%h\", bench_line);
        while (bench_read == 1) begin
            bench_in = bench_line;
            #1 bench_before = bench_out;
            clock = bench_in[{edge}];
            #1 $display(\"%h %h\", bench_before, bench_out);
            $fflush;
            clock = 0;
            bench_read = $fscanf(32'h8000_0000, \"%h\", bench_line);
        end
        $finish(0);
    end
endmodule
",
        in_high = 4 * total + 3,
        edge = 4 * total,
        out_high = 4 * digits - 1,
        connections = connections.join(", "),
        shown = shown.join(", "),
    )
}

/// A signal filled up to whole digits. Its bits alone count, not their sign.
fn padded(port: &Port, expression: &str) -> String {
    match 4 * port.digits() - port.bits {
        0 => expression.to_owned(),
        spare => format!("{spare}'b0, {expression}"),
    }
}
