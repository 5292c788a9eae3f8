// Cells of the ECP5 that yosys has no behaviour for, as far as our netlists use them: a multiplier without registers, and
// block RAM without output registers, its contents zero at power-up.

module MULT18X18D (
    input A17, A16, A15, A14, A13, A12, A11, A10, A9, A8, A7, A6, A5, A4, A3, A2, A1, A0, B17, B16, B15, B14, B13,
    B12, B11, B10, B9, B8, B7, B6, B5, B4, B3, B2, B1, B0, C17, C16, C15, C14, C13, C12, C11, C10, C9, C8, C7, C6,
    C5, C4, C3, C2, C1, C0, SIGNEDA, SIGNEDB, SOURCEA, SOURCEB, output P35, P34, P33, P32, P31, P30, P29, P28, P27,
    P26, P25, P24, P23, P22, P21, P20, P19, P18, P17, P16, P15, P14, P13, P12, P11, P10, P9, P8, P7, P6, P5, P4, P3,
    P2, P1, P0
);
    wire signed [18:0] a = {SIGNEDA & A17, A17, A16, A15, A14, A13, A12, A11, A10, A9, A8, A7, A6, A5, A4, A3, A2,
    A1, A0};
    wire signed [18:0] b = {SIGNEDB & B17, B17, B16, B15, B14, B13, B12, B11, B10, B9, B8, B7, B6, B5, B4, B3, B2,
    B1, B0};
    wire signed [37:0] product = a * b;
    assign {P35, P34, P33, P32, P31, P30, P29, P28, P27, P26, P25, P24, P23, P22, P21, P20, P19, P18, P17, P16, P15,
    P14, P13, P12, P11, P10, P9, P8, P7, P6, P5, P4, P3, P2, P1, P0} = product[35:0];
endmodule

// Port A writes and reads, port B reads and writes; 36 bits wide, A writes and B reads, each with the data of both.
module DP16KD #(
    parameter DATA_WIDTH_A = 18, DATA_WIDTH_B = 18, REGMODE_A = "NOREG", REGMODE_B = "NOREG", RESETMODE = "SYNC",
    ASYNC_RESET_RELEASE = "SYNC", CSDECODE_A = "0b000", CSDECODE_B = "0b000", WRITEMODE_A = "NORMAL",
    WRITEMODE_B = "NORMAL", CLKAMUX = "CLKA", CLKBMUX = "CLKB", GSR = "ENABLED",
    parameter [319:0]
        INITVAL_00 = 0, INITVAL_01 = 0, INITVAL_02 = 0, INITVAL_03 = 0, INITVAL_04 = 0, INITVAL_05 = 0, INITVAL_06 =
        0, INITVAL_07 = 0, INITVAL_08 = 0, INITVAL_09 = 0, INITVAL_0A = 0, INITVAL_0B = 0, INITVAL_0C = 0,
        INITVAL_0D = 0, INITVAL_0E = 0, INITVAL_0F = 0, INITVAL_10 = 0, INITVAL_11 = 0, INITVAL_12 = 0, INITVAL_13 =
        0, INITVAL_14 = 0, INITVAL_15 = 0, INITVAL_16 = 0, INITVAL_17 = 0, INITVAL_18 = 0, INITVAL_19 = 0,
        INITVAL_1A = 0, INITVAL_1B = 0, INITVAL_1C = 0, INITVAL_1D = 0, INITVAL_1E = 0, INITVAL_1F = 0, INITVAL_20 =
        0, INITVAL_21 = 0, INITVAL_22 = 0, INITVAL_23 = 0, INITVAL_24 = 0, INITVAL_25 = 0, INITVAL_26 = 0,
        INITVAL_27 = 0, INITVAL_28 = 0, INITVAL_29 = 0, INITVAL_2A = 0, INITVAL_2B = 0, INITVAL_2C = 0, INITVAL_2D =
        0, INITVAL_2E = 0, INITVAL_2F = 0, INITVAL_30 = 0, INITVAL_31 = 0, INITVAL_32 = 0, INITVAL_33 = 0,
        INITVAL_34 = 0, INITVAL_35 = 0, INITVAL_36 = 0, INITVAL_37 = 0, INITVAL_38 = 0, INITVAL_39 = 0, INITVAL_3A =
        0, INITVAL_3B = 0, INITVAL_3C = 0, INITVAL_3D = 0, INITVAL_3E = 0, INITVAL_3F = 0
) (
    input DIA17, DIA16, DIA15, DIA14, DIA13, DIA12, DIA11, DIA10, DIA9, DIA8, DIA7, DIA6, DIA5, DIA4, DIA3, DIA2,
    DIA1, DIA0, ADA13, ADA12, ADA11, ADA10, ADA9, ADA8, ADA7, ADA6, ADA5, ADA4, ADA3, ADA2, ADA1, ADA0, CEA, OCEA,
    CLKA, WEA, RSTA, CSA2, CSA1, CSA0, output DOA17, DOA16, DOA15, DOA14, DOA13, DOA12, DOA11, DOA10, DOA9, DOA8,
    DOA7, DOA6, DOA5, DOA4, DOA3, DOA2, DOA1, DOA0,
    input DIB17, DIB16, DIB15, DIB14, DIB13, DIB12, DIB11, DIB10, DIB9, DIB8, DIB7, DIB6, DIB5, DIB4, DIB3, DIB2,
    DIB1, DIB0, ADB13, ADB12, ADB11, ADB10, ADB9, ADB8, ADB7, ADB6, ADB5, ADB4, ADB3, ADB2, ADB1, ADB0, CEB, OCEB,
    CLKB, WEB, RSTB, CSB2, CSB1, CSB0, output DOB17, DOB16, DOB15, DOB14, DOB13, DOB12, DOB11, DOB10, DOB9, DOB8,
    DOB7, DOB6, DOB5, DOB4, DOB3, DOB2, DOB1, DOB0
);
    // Nine bits a byte, the ninth for parity or for use as data.
    reg [8:0] memory [0:2047];
    integer i;
    initial begin
        for (i = 0; i < 2048; i = i + 1) memory[i] = 0;
        if (|{
            INITVAL_00, INITVAL_01, INITVAL_02, INITVAL_03, INITVAL_04, INITVAL_05, INITVAL_06, INITVAL_07,
            INITVAL_08, INITVAL_09, INITVAL_0A, INITVAL_0B, INITVAL_0C, INITVAL_0D, INITVAL_0E, INITVAL_0F,
            INITVAL_10, INITVAL_11, INITVAL_12, INITVAL_13, INITVAL_14, INITVAL_15, INITVAL_16, INITVAL_17,
            INITVAL_18, INITVAL_19, INITVAL_1A, INITVAL_1B, INITVAL_1C, INITVAL_1D, INITVAL_1E, INITVAL_1F,
            INITVAL_20, INITVAL_21, INITVAL_22, INITVAL_23, INITVAL_24, INITVAL_25, INITVAL_26, INITVAL_27,
            INITVAL_28, INITVAL_29, INITVAL_2A, INITVAL_2B, INITVAL_2C, INITVAL_2D, INITVAL_2E, INITVAL_2F,
            INITVAL_30, INITVAL_31, INITVAL_32, INITVAL_33, INITVAL_34, INITVAL_35, INITVAL_36, INITVAL_37,
            INITVAL_38, INITVAL_39, INITVAL_3A, INITVAL_3B, INITVAL_3C, INITVAL_3D, INITVAL_3E, INITVAL_3F
        }) $fatal(1, "DP16KD: contents at power-up have no model");
        if ({REGMODE_A, REGMODE_B} != {"NOREG", "NOREG"}) $fatal(1, "DP16KD: output registers have no model");
    end

    wire [13:0] address_a = {ADA13, ADA12, ADA11, ADA10, ADA9, ADA8, ADA7, ADA6, ADA5, ADA4, ADA3, ADA2, ADA1,
    ADA0};
    wire [17:0] data_a = {DIA17, DIA16, DIA15, DIA14, DIA13, DIA12, DIA11, DIA10, DIA9, DIA8, DIA7, DIA6, DIA5,
    DIA4, DIA3, DIA2, DIA1, DIA0};
    reg [17:0] read_a = 0;
    assign {DOA17, DOA16, DOA15, DOA14, DOA13, DOA12, DOA11, DOA10, DOA9, DOA8, DOA7, DOA6, DOA5, DOA4, DOA3, DOA2,
    DOA1, DOA0} = read_a;
    wire [13:0] address_b = {ADB13, ADB12, ADB11, ADB10, ADB9, ADB8, ADB7, ADB6, ADB5, ADB4, ADB3, ADB2, ADB1,
    ADB0};
    wire [17:0] data_b = {DIB17, DIB16, DIB15, DIB14, DIB13, DIB12, DIB11, DIB10, DIB9, DIB8, DIB7, DIB6, DIB5,
    DIB4, DIB3, DIB2, DIB1, DIB0};
    reg [17:0] read_b = 0;
    assign {DOB17, DOB16, DOB15, DOB14, DOB13, DOB12, DOB11, DOB10, DOB9, DOB8, DOB7, DOB6, DOB5, DOB4, DOB3, DOB2,
    DOB1, DOB0} = read_b;

    wire [10:0] byte_a = address_a[13:3], byte_b = address_b[13:3];
    generate
        if (DATA_WIDTH_A == 36 && DATA_WIDTH_B == 36) begin : wide
            wire [35:0] data = {data_b, data_a};
            for (genvar j = 0; j < 4; j = j + 1) begin : part
                always @(posedge CLKA) if (CEA && WEA && address_a[j]) memory[{byte_a[10:2], 2'd0} + j] <= data[9*j +: 9];
            end
            always @(posedge CLKB) if (CEB) {read_b, read_a} <= {
                memory[{byte_b[10:2], 2'd3}], memory[{byte_b[10:2], 2'd2}],
                memory[{byte_b[10:2], 2'd1}], memory[{byte_b[10:2], 2'd0}]
            };
        end else if (DATA_WIDTH_A == 9 && DATA_WIDTH_B == 9) begin : bytes
            always @(posedge CLKA) if (CEA) begin
                read_a[8:0] <= memory[byte_a];
                if (WEA) memory[byte_a] <= data_a[8:0];
            end
            always @(posedge CLKB) if (CEB) begin
                read_b[8:0] <= memory[byte_b];
                if (WEB) memory[byte_b] <= data_b[8:0];
            end
        end else initial $fatal(1, "DP16KD: %0d and %0d bits have no model", DATA_WIDTH_A, DATA_WIDTH_B);
    endgenerate
endmodule
