// Cells of the iCE40 that yosys has no behaviour for.
//
// The PLLs pass their reference on: what is simulated is the design's clock, so the bench drives the pin of the oscillator
// at the rate of the PLL's output. As in the device the output runs before lock, and lock comes late.

`define PLL_LOCK(clock) \
    reg [5:0] seen = 0; \
    always @(posedge clock) if (!(&seen)) seen <= seen + 1; \
    assign PLLOUTGLOBAL = BYPASS | RESETB ? clock : 1'b0; \
    assign LOCK = &seen & RESETB;

module SB_PLL40_PAD #(
    parameter FEEDBACK_PATH = "", parameter DIVR = 0, parameter DIVF = 0, parameter DIVQ = 0, parameter FILTER_RANGE = 0
) (input PACKAGEPIN, RESETB, BYPASS, output PLLOUTGLOBAL, LOCK);
    `PLL_LOCK(PACKAGEPIN)
endmodule

module SB_PLL40_CORE #(
    parameter FEEDBACK_PATH = "", parameter DIVR = 0, parameter DIVF = 0, parameter DIVQ = 0, parameter FILTER_RANGE = 0
) (input REFERENCECLK, RESETB, BYPASS, output PLLOUTGLOBAL, LOCK);
    `PLL_LOCK(REFERENCECLK)
endmodule
