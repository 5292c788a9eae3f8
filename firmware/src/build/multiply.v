// Signed multiplication out of LUTs and carry chains: 104 iCE40 LUTs for 8×8 bits, against 127 of yosys' own `booth` and
// 177 of `a * b`.
//
// B is taken in radix 4 with the digits −1, 0, 1, 2 (the highest: −2 … 2), so that a bit of a row, chosen by two bits out
// of nothing, a bit of A, the bit below it and its complement, is one LUT. The +1 of a complement is the carry into the
// row's own sum.
(* techmap_celltype = "$mul" *)
module systole_multiply (A, B, Y);
parameter A_SIGNED = 0;
parameter B_SIGNED = 0;
parameter A_WIDTH = 1;
parameter B_WIDTH = 1;
parameter Y_WIDTH = 1;

(* force_downto *) input [A_WIDTH-1:0] A;
(* force_downto *) input [B_WIDTH-1:0] B;
(* force_downto *) output [Y_WIDTH-1:0] Y;

// Others are left to the mapping that follows.
wire _TECHMAP_FAIL_ = !A_SIGNED || !B_SIGNED || A_WIDTH < 2 || B_WIDTH < 2;

localparam DIGITS = (B_WIDTH + 1) / 2;
localparam ROW = A_WIDTH + 1;
localparam SUM = A_WIDTH + 3;

wire [2*DIGITS-1:0] extended = $signed({B[B_WIDTH-1], B});
wire [DIGITS:0] carry;
assign carry[0] = 1'b0;
wire [2*DIGITS+ROW-1:0] product;

genvar i, j;
generate
for (i = 0; i < DIGITS; i = i + 1) begin : digit
    localparam TOP = i == DIGITS - 1;
    wire low = extended[2*i];
    wire high = extended[2*i+1];
    assign carry[i+1] = high & (low | carry[i]);
    // 0, 1, 2 and, as 3, the complement.
    wire [1:0] choice = {high ^ (low & carry[i]), low ^ carry[i]};
    // The highest digit has no carry to give away: its 10 is −2, unless it is 01 and a carry.
    wire minus_two = TOP && choice == 2 && high;
    wire negative = &choice | minus_two;

    wire signed [ROW-1:0] row;
    for (j = 0; j < ROW; j = j + 1) begin : column
        wire a = A[j < A_WIDTH ? j : A_WIDTH-1];
        wire below = j == 0 ? 1'b0 : A[j == 0 ? 0 : j-1];
        assign row[j] = (choice == 1 ? a : choice == 2 ? below : choice == 3 ? ~a : 1'b0) ^ minus_two;
    end

    wire signed [SUM-1:0] sum;
    if (i == 0)
        assign sum = row + $signed({1'b0, negative});
    else begin
        wire signed [SUM-1:0] rest = digit[i-1].sum >>> 2;
        wire [SUM-1:0] x, carries;
        \$alu #(
            .A_SIGNED(1), .B_SIGNED(1), .A_WIDTH(SUM), .B_WIDTH(ROW), .Y_WIDTH(SUM)
        ) add (.A(rest), .B(row), .CI(negative), .BI(1'b0), .X(x), .Y(sum), .CO(carries));
    end
    if (TOP)
        assign product[2*DIGITS+ROW-1:2*i] = sum;
    else
        assign product[2*i+1:2*i] = sum[1:0];
end
endgenerate

assign Y = $signed(product);
endmodule
