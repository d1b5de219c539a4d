// Block RAM and multiplier of ECP5, as far as synthesis uses them for generated circuits.
//
// yosys brings models of the other cells (LUT4, CCU2C, PFUMX, L6MUX21, TRELLIS_FF, TRELLIS_DPR16X4)
// and none of these two. They are written from how its technology mapping wires them, with the
// registers behind outputs that rtlgen's synthesis uses; what neither does (resets, chip selects,
// two clocks, registers in front of a multiplier) stops the simulation.

// 1,024 words of 18 bits. A port of 18 bits or fewer sees a part of a word; a write port of 36 bits
// takes both data inputs, and a read port of 36 bits both data outputs. Where one port writes a
// word in the cycle in which the other reads it, the device promises nothing: the read is X.
module DP16KD (
  input DIA17, DIA16, DIA15, DIA14, DIA13, DIA12, DIA11, DIA10, DIA9, DIA8, DIA7, DIA6, DIA5,
  input DIA4, DIA3, DIA2, DIA1, DIA0,
  input ADA13, ADA12, ADA11, ADA10, ADA9, ADA8, ADA7, ADA6, ADA5, ADA4, ADA3, ADA2, ADA1, ADA0,
  input CEA, OCEA, CLKA, WEA, RSTA, CSA2, CSA1, CSA0,
  output DOA17, DOA16, DOA15, DOA14, DOA13, DOA12, DOA11, DOA10, DOA9, DOA8, DOA7, DOA6, DOA5,
  output DOA4, DOA3, DOA2, DOA1, DOA0,
  input DIB17, DIB16, DIB15, DIB14, DIB13, DIB12, DIB11, DIB10, DIB9, DIB8, DIB7, DIB6, DIB5,
  input DIB4, DIB3, DIB2, DIB1, DIB0,
  input ADB13, ADB12, ADB11, ADB10, ADB9, ADB8, ADB7, ADB6, ADB5, ADB4, ADB3, ADB2, ADB1, ADB0,
  input CEB, OCEB, CLKB, WEB, RSTB, CSB2, CSB1, CSB0,
  output DOB17, DOB16, DOB15, DOB14, DOB13, DOB12, DOB11, DOB10, DOB9, DOB8, DOB7, DOB6, DOB5,
  output DOB4, DOB3, DOB2, DOB1, DOB0
);
  parameter DATA_WIDTH_A = 18;
  parameter DATA_WIDTH_B = 18;
  parameter REGMODE_A = "NOREG";
  parameter REGMODE_B = "NOREG";
  parameter RESETMODE = "SYNC";
  parameter ASYNC_RESET_RELEASE = "SYNC";
  parameter CSDECODE_A = "0b000";
  parameter CSDECODE_B = "0b000";
  parameter WRITEMODE_A = "NORMAL";
  parameter WRITEMODE_B = "NORMAL";
  parameter CLKAMUX = "CLKA";
  parameter CLKBMUX = "CLKB";
  parameter GSR = "ENABLED";
  parameter [319:0] INITVAL_00 = 320'b0;
  parameter [319:0] INITVAL_01 = 320'b0;
  parameter [319:0] INITVAL_02 = 320'b0;
  parameter [319:0] INITVAL_03 = 320'b0;
  parameter [319:0] INITVAL_04 = 320'b0;
  parameter [319:0] INITVAL_05 = 320'b0;
  parameter [319:0] INITVAL_06 = 320'b0;
  parameter [319:0] INITVAL_07 = 320'b0;
  parameter [319:0] INITVAL_08 = 320'b0;
  parameter [319:0] INITVAL_09 = 320'b0;
  parameter [319:0] INITVAL_0A = 320'b0;
  parameter [319:0] INITVAL_0B = 320'b0;
  parameter [319:0] INITVAL_0C = 320'b0;
  parameter [319:0] INITVAL_0D = 320'b0;
  parameter [319:0] INITVAL_0E = 320'b0;
  parameter [319:0] INITVAL_0F = 320'b0;
  parameter [319:0] INITVAL_10 = 320'b0;
  parameter [319:0] INITVAL_11 = 320'b0;
  parameter [319:0] INITVAL_12 = 320'b0;
  parameter [319:0] INITVAL_13 = 320'b0;
  parameter [319:0] INITVAL_14 = 320'b0;
  parameter [319:0] INITVAL_15 = 320'b0;
  parameter [319:0] INITVAL_16 = 320'b0;
  parameter [319:0] INITVAL_17 = 320'b0;
  parameter [319:0] INITVAL_18 = 320'b0;
  parameter [319:0] INITVAL_19 = 320'b0;
  parameter [319:0] INITVAL_1A = 320'b0;
  parameter [319:0] INITVAL_1B = 320'b0;
  parameter [319:0] INITVAL_1C = 320'b0;
  parameter [319:0] INITVAL_1D = 320'b0;
  parameter [319:0] INITVAL_1E = 320'b0;
  parameter [319:0] INITVAL_1F = 320'b0;
  parameter [319:0] INITVAL_20 = 320'b0;
  parameter [319:0] INITVAL_21 = 320'b0;
  parameter [319:0] INITVAL_22 = 320'b0;
  parameter [319:0] INITVAL_23 = 320'b0;
  parameter [319:0] INITVAL_24 = 320'b0;
  parameter [319:0] INITVAL_25 = 320'b0;
  parameter [319:0] INITVAL_26 = 320'b0;
  parameter [319:0] INITVAL_27 = 320'b0;
  parameter [319:0] INITVAL_28 = 320'b0;
  parameter [319:0] INITVAL_29 = 320'b0;
  parameter [319:0] INITVAL_2A = 320'b0;
  parameter [319:0] INITVAL_2B = 320'b0;
  parameter [319:0] INITVAL_2C = 320'b0;
  parameter [319:0] INITVAL_2D = 320'b0;
  parameter [319:0] INITVAL_2E = 320'b0;
  parameter [319:0] INITVAL_2F = 320'b0;
  parameter [319:0] INITVAL_30 = 320'b0;
  parameter [319:0] INITVAL_31 = 320'b0;
  parameter [319:0] INITVAL_32 = 320'b0;
  parameter [319:0] INITVAL_33 = 320'b0;
  parameter [319:0] INITVAL_34 = 320'b0;
  parameter [319:0] INITVAL_35 = 320'b0;
  parameter [319:0] INITVAL_36 = 320'b0;
  parameter [319:0] INITVAL_37 = 320'b0;
  parameter [319:0] INITVAL_38 = 320'b0;
  parameter [319:0] INITVAL_39 = 320'b0;
  parameter [319:0] INITVAL_3A = 320'b0;
  parameter [319:0] INITVAL_3B = 320'b0;
  parameter [319:0] INITVAL_3C = 320'b0;
  parameter [319:0] INITVAL_3D = 320'b0;
  parameter [319:0] INITVAL_3E = 320'b0;
  parameter [319:0] INITVAL_3F = 320'b0;

  wire clk = CLKA;
  wire [17:0] in_a = {
    DIA17, DIA16, DIA15, DIA14, DIA13, DIA12, DIA11, DIA10, DIA9, DIA8, DIA7, DIA6, DIA5, DIA4,
    DIA3, DIA2, DIA1, DIA0
  };
  wire [17:0] in_b = {
    DIB17, DIB16, DIB15, DIB14, DIB13, DIB12, DIB11, DIB10, DIB9, DIB8, DIB7, DIB6, DIB5, DIB4,
    DIB3, DIB2, DIB1, DIB0
  };
  wire [13:0] addr_a = {
    ADA13, ADA12, ADA11, ADA10, ADA9, ADA8, ADA7, ADA6, ADA5, ADA4, ADA3, ADA2, ADA1, ADA0
  };
  wire [13:0] addr_b = {
    ADB13, ADB12, ADB11, ADB10, ADB9, ADB8, ADB7, ADB6, ADB5, ADB4, ADB3, ADB2, ADB1, ADB0
  };

  reg [17:0] words [0:1023];
  // Both data outputs, of which a port of 18 bits or fewer has the one of its own.
  reg [35:0] shown_a, shown_b;
  localparam IS_WIDE = DATA_WIDTH_A == 36;
  wire [17:0] out_a = IS_WIDE ? shown_b[17:0] : shown_a[17:0];
  wire [17:0] out_b = DATA_WIDTH_B == 36 ? shown_b[35:18] : shown_b[17:0];
  // The registers behind them.
  reg [17:0] held_a, held_b;
  assign {
    DOA17, DOA16, DOA15, DOA14, DOA13, DOA12, DOA11, DOA10, DOA9, DOA8, DOA7, DOA6, DOA5, DOA4,
    DOA3, DOA2, DOA1, DOA0
  } = REGMODE_A == "OUTREG" ? held_a : out_a;
  assign {
    DOB17, DOB16, DOB15, DOB14, DOB13, DOB12, DOB11, DOB10, DOB9, DOB8, DOB7, DOB6, DOB5, DOB4,
    DOB3, DOB2, DOB1, DOB0
  } = REGMODE_B == "OUTREG" ? held_b : out_b;

  // The bits of a pair of words that a port touches, the even word below.
  function [35:0] lanes(input integer width, input [13:0] addr);
    case (width)
      36: lanes = {36{1'b1}};
      18: lanes = {18{1'b1}} << 18 * addr[4];
      9: lanes = {9{1'b1}} << 18 * addr[4] + 9 * addr[3];
      4: lanes = 4'b1111 << 18 * addr[4] + 9 * addr[3] + 4 * addr[2];
      2: lanes = 2'b11 << 18 * addr[4] + 9 * addr[3] + 2 * addr[2:1];
      default: lanes = 1'b1 << 18 * addr[4] + 9 * addr[3] + addr[2:0];
    endcase
  endfunction

  // The place of the lowest of them.
  function [5:0] lowest(input integer width, input [13:0] addr);
    case (width)
      36: lowest = 0;
      18: lowest = 18 * addr[4];
      9: lowest = 18 * addr[4] + 9 * addr[3];
      4: lowest = 18 * addr[4] + 9 * addr[3] + 4 * addr[2];
      2: lowest = 18 * addr[4] + 9 * addr[3] + 2 * addr[2:1];
      default: lowest = 18 * addr[4] + 9 * addr[3] + addr[2:0];
    endcase
  endfunction

  // Wide words have an enable a byte, in the address bits that they do not need.
  function [35:0] enabled(input integer width, input [13:0] addr);
    case (width)
      36: enabled = {{9{addr[3]}}, {9{addr[2]}}, {9{addr[1]}}, {9{addr[0]}}};
      18: enabled = {2{{9{addr[1]}}, {9{addr[0]}}}};
      default: enabled = {36{1'b1}};
    endcase
  endfunction

  wire [35:0] lanes_a = lanes(DATA_WIDTH_A, addr_a);
  wire [35:0] lanes_b = lanes(DATA_WIDTH_B, addr_b);
  wire [35:0] written_a = CEA & WEA ? lanes_a & enabled(DATA_WIDTH_A, addr_a) : 36'b0;
  wire [35:0] written_b = CEB & WEB ? lanes_b & enabled(DATA_WIDTH_B, addr_b) : 36'b0;
  wire [35:0] given_a = IS_WIDE ? {in_b, in_a} : {18'b0, in_a} << lowest(DATA_WIDTH_A, addr_a);
  wire [35:0] given_b = {18'b0, in_b} << lowest(DATA_WIDTH_B, addr_b);
  wire is_same = addr_a[13:5] == addr_b[13:5];

  wire [35:0] old_a = {words[{addr_a[13:5], 1'b1}], words[{addr_a[13:5], 1'b0}]};
  wire [35:0] old_b = {words[{addr_b[13:5], 1'b1}], words[{addr_b[13:5], 1'b0}]};
  wire [35:0] new_a = old_a & ~written_a | given_a & written_a;
  wire [35:0] new_b = old_b & ~written_b | given_b & written_b;
  wire [35:0] met_a = is_same ? written_b & lanes_a : 36'b0;
  wire [35:0] met_b = is_same ? written_a & lanes_b : 36'b0;
  wire [35:0] read_a = (WRITEMODE_A == "WRITETHROUGH" ? new_a : old_a) | (met_a & {36{1'bx}});
  wire [35:0] read_b = (WRITEMODE_B == "WRITETHROUGH" ? new_b : old_b) | (met_b & {36{1'bx}});

  always @(posedge clk) begin
    if (|written_a) begin
      words[{addr_a[13:5], 1'b0}] <= new_a[17:0];
      words[{addr_a[13:5], 1'b1}] <= new_a[35:18];
    end
    if (|written_b) begin
      words[{addr_b[13:5], 1'b0}] <= new_b[17:0];
      words[{addr_b[13:5], 1'b1}] <= new_b[35:18];
    end
    // In the mode NORMAL a port that writes keeps what it shows.
    if (CEA & (~WEA | (WRITEMODE_A != "NORMAL"))) shown_a <= read_a >> lowest(DATA_WIDTH_A, addr_a);
    if (CEB & (~WEB | (WRITEMODE_B != "NORMAL"))) shown_b <= read_b >> lowest(DATA_WIDTH_B, addr_b);
    if (OCEA) held_a <= out_a;
    if (OCEB) held_b <= out_b;
    if (|written_a & |written_b & is_same) begin
      $display("FAIL: %m: both ports write, which has no model");
      $fatal(1);
    end
  end

  integer row, slot;
  reg [64*320-1:0] contents;
  initial begin
    shown_a = 0;
    shown_b = 0;
    held_a = 0;
    held_b = 0;
    contents = {
      INITVAL_3F, INITVAL_3E, INITVAL_3D, INITVAL_3C, INITVAL_3B, INITVAL_3A, INITVAL_39,
      INITVAL_38, INITVAL_37, INITVAL_36, INITVAL_35, INITVAL_34, INITVAL_33, INITVAL_32,
      INITVAL_31, INITVAL_30, INITVAL_2F, INITVAL_2E, INITVAL_2D, INITVAL_2C, INITVAL_2B,
      INITVAL_2A, INITVAL_29, INITVAL_28, INITVAL_27, INITVAL_26, INITVAL_25, INITVAL_24,
      INITVAL_23, INITVAL_22, INITVAL_21, INITVAL_20, INITVAL_1F, INITVAL_1E, INITVAL_1D,
      INITVAL_1C, INITVAL_1B, INITVAL_1A, INITVAL_19, INITVAL_18, INITVAL_17, INITVAL_16,
      INITVAL_15, INITVAL_14, INITVAL_13, INITVAL_12, INITVAL_11, INITVAL_10, INITVAL_0F,
      INITVAL_0E, INITVAL_0D, INITVAL_0C, INITVAL_0B, INITVAL_0A, INITVAL_09, INITVAL_08,
      INITVAL_07, INITVAL_06, INITVAL_05, INITVAL_04, INITVAL_03, INITVAL_02, INITVAL_01,
      INITVAL_00
    };
    for (row = 0; row < 64; row = row + 1)
      for (slot = 0; slot < 16; slot = slot + 1)
        words[16 * row + slot] = contents[320 * row + 20 * slot +: 18];
    if ((REGMODE_A != "NOREG" && REGMODE_A != "OUTREG")
        || (REGMODE_B != "NOREG" && REGMODE_B != "OUTREG")
        || ((IS_WIDE || DATA_WIDTH_B == 36) && REGMODE_A != REGMODE_B)
        || CSDECODE_A != "0b000" || CSDECODE_B != "0b000"
        || CLKAMUX != "CLKA" || CLKBMUX != "CLKB"
        || (IS_WIDE && DATA_WIDTH_B == 36 && WEB !== 0)) begin
      $display("FAIL: %m: a mode of the block RAM that has no model");
      $fatal(1);
    end
  end

  always @(negedge clk)
    if (CLKB !== CLKA || RSTA !== 0 || RSTB !== 0 || {CSA2, CSA1, CSA0, CSB2, CSB1, CSB0} !== 0
        || (IS_WIDE && REGMODE_A == "OUTREG" && OCEA !== OCEB)) begin
      $display("FAIL: %m: a use of the block RAM that has no model");
      $fatal(1);
    end
endmodule

// The product of two operands, signed or not, with a register behind it or none.
module MULT18X18D (
  input A17, A16, A15, A14, A13, A12, A11, A10, A9, A8, A7, A6, A5, A4, A3, A2, A1, A0,
  input B17, B16, B15, B14, B13, B12, B11, B10, B9, B8, B7, B6, B5, B4, B3, B2, B1, B0,
  input C17, C16, C15, C14, C13, C12, C11, C10, C9, C8, C7, C6, C5, C4, C3, C2, C1, C0,
  input SIGNEDA, SIGNEDB, SOURCEA, SOURCEB, CLK0, CE0, RST0,
  output P35, P34, P33, P32, P31, P30, P29, P28, P27, P26, P25, P24, P23, P22, P21, P20, P19,
  output P18, P17, P16, P15, P14, P13, P12, P11, P10, P9, P8, P7, P6, P5, P4, P3, P2, P1, P0
);
  parameter REG_OUTPUT_CLK = "NONE";
  parameter REG_OUTPUT_CE = "CE0";
  parameter REG_OUTPUT_RST = "RST0";
  parameter GSR = "ENABLED";

  wire signed [18:0] left = {
    SIGNEDA & A17,
    A17, A16, A15, A14, A13, A12, A11, A10, A9, A8, A7, A6, A5, A4, A3, A2, A1, A0
  };
  wire signed [18:0] right = {
    SIGNEDB & B17,
    B17, B16, B15, B14, B13, B12, B11, B10, B9, B8, B7, B6, B5, B4, B3, B2, B1, B0
  };
  wire signed [37:0] product = left * right;
  reg [35:0] held = 0;
  always @(posedge CLK0) if (CE0) held <= product[35:0];
  assign {
    P35, P34, P33, P32, P31, P30, P29, P28, P27, P26, P25, P24, P23, P22, P21, P20, P19, P18,
    P17, P16, P15, P14, P13, P12, P11, P10, P9, P8, P7, P6, P5, P4, P3, P2, P1, P0
  } = REG_OUTPUT_CLK == "CLK0" ? held : product[35:0];

  initial
    if ((REG_OUTPUT_CLK != "NONE" && REG_OUTPUT_CLK != "CLK0") || REG_OUTPUT_CE != "CE0"
        || REG_OUTPUT_RST != "RST0") begin
      $display("FAIL: %m: a mode of the multiplier that has no model");
      $fatal(1);
    end
  always @(posedge CLK0)
    if (RST0 !== 0 || CE0 !== 1) begin
      $display("FAIL: %m: a use of the multiplier that has no model");
      $fatal(1);
    end
endmodule
