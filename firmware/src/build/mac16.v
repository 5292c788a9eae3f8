// Products in the multipliers of the iCE40 UltraPlus. yosys never infers the mode of two 8×8 products in one SB_MAC16,
// and its inference of accumulators can lose a multiplication; here only the products go into the cell.

// Two products of up to 8×8 bits. The macro WIDTH is that of the operands.
module systole_product_pair (a0, b0, a1, b1, y0, y1);
input signed [`WIDTH-1:0] a0, b0, a1, b1;
output signed [2*`WIDTH-1:0] y0, y1;
wire signed [7:0] wide_a0 = a0, wide_b0 = b0, wide_a1 = a1, wide_b1 = b1;
wire [31:0] o;
assign y0 = o[15:0];
assign y1 = o[31:16];
SB_MAC16 #(
    .MODE_8x8(1'b1), .A_SIGNED(1'b1), .B_SIGNED(1'b1), .TOPOUTPUT_SELECT(2'b10), .BOTOUTPUT_SELECT(2'b10)
) cell_ (
    .A({wide_a1, wide_a0}), .B({wide_b1, wide_b0}), .C(16'b0), .D(16'b0), .O(o), .CLK(1'b0), .CE(1'b0),
    .AHOLD(1'b0), .BHOLD(1'b0), .CHOLD(1'b0), .DHOLD(1'b0), .IRSTTOP(1'b0), .IRSTBOT(1'b0), .ORSTTOP(1'b0),
    .ORSTBOT(1'b0), .OLOADTOP(1'b0), .OLOADBOT(1'b0), .ADDSUBTOP(1'b0), .ADDSUBBOT(1'b0), .OHOLDTOP(1'b0),
    .OHOLDBOT(1'b0), .CI(1'b0), .ACCUMCI(1'b0), .SIGNEXTIN(1'b0)
);
endmodule

// One product of up to 16×16 bits.
(* techmap_celltype = "$mul" *)
module systole_product (A, B, Y);
parameter A_SIGNED = 0;
parameter B_SIGNED = 0;
parameter A_WIDTH = 1;
parameter B_WIDTH = 1;
parameter Y_WIDTH = 1;
(* force_downto *) input [A_WIDTH-1:0] A;
(* force_downto *) input [B_WIDTH-1:0] B;
(* force_downto *) output [Y_WIDTH-1:0] Y;
wire _TECHMAP_FAIL_ = !A_SIGNED || !B_SIGNED || A_WIDTH > 16 || B_WIDTH > 16 || Y_WIDTH > 32;
wire signed [15:0] wide_a = $signed(A), wide_b = $signed(B);
wire [31:0] o;
assign Y = o;
SB_MAC16 #(
    .MODE_8x8(1'b0), .A_SIGNED(1'b1), .B_SIGNED(1'b1), .TOPOUTPUT_SELECT(2'b11), .BOTOUTPUT_SELECT(2'b11)
) cell_ (
    .A(wide_a), .B(wide_b), .C(16'b0), .D(16'b0), .O(o), .CLK(1'b0), .CE(1'b0),
    .AHOLD(1'b0), .BHOLD(1'b0), .CHOLD(1'b0), .DHOLD(1'b0), .IRSTTOP(1'b0), .IRSTBOT(1'b0), .ORSTTOP(1'b0),
    .ORSTBOT(1'b0), .OLOADTOP(1'b0), .OLOADBOT(1'b0), .ADDSUBTOP(1'b0), .ADDSUBBOT(1'b0), .OHOLDTOP(1'b0),
    .OHOLDBOT(1'b0), .CI(1'b0), .ACCUMCI(1'b0), .SIGNEXTIN(1'b0)
);
endmodule
