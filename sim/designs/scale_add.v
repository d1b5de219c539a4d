// C[i] = A[i] * k + B[i] for 16 elements; returns the last C; the convention of rtlgen/manifest/contents.py.
module scale_add (
    input             clk,
    input             rst,
    input             start,
    output reg        done,
    output reg        idle,
    input      [3:0]  A_addr,
    input             A_en,
    input      [3:0]  A_we,
    input      [31:0] A_wdata,
    output     [31:0] A_rdata,
    input      [3:0]  B_addr,
    input             B_en,
    input      [0:0]  B_we,
    input      [7:0]  B_wdata,
    output     [7:0]  B_rdata,
    input      [3:0]  C_addr,
    input             C_en,
    input      [3:0]  C_we,
    input      [31:0] C_wdata,
    output     [31:0] C_rdata,
    input      [15:0] k,
    output reg [31:0] return_value,
    output reg [63:0] checksum
);
    reg [3:0]  n;
    reg [3:0]  n1;
    reg        issue;
    reg        valid;
    reg [15:0] k_held;
    wire       last = valid & (n1 == 4'd15);

    wire [31:0] product = A_rdata * {{16{k_held[15]}}, k_held};
    wire [31:0] result = product + {{24{B_rdata[7]}}, B_rdata};

    ram #(.WIDTH(32), .BYTES(4)) ram_A (
        .clk(clk), .addr(idle ? A_addr : n), .en(idle ? A_en : issue),
        .we(idle ? A_we : 4'd0), .wdata(A_wdata), .rdata(A_rdata));
    ram #(.WIDTH(8), .BYTES(1)) ram_B (
        .clk(clk), .addr(idle ? B_addr : n), .en(idle ? B_en : issue),
        .we(idle ? B_we : 1'd0), .wdata(B_wdata), .rdata(B_rdata));
    ram #(.WIDTH(32), .BYTES(4)) ram_C (
        .clk(clk), .addr(idle ? C_addr : n1), .en(idle ? C_en : valid),
        .we(idle ? C_we : {4{valid}}), .wdata(idle ? C_wdata : result), .rdata(C_rdata));

    initial begin
        n = 0; n1 = 0; issue = 0; valid = 0; k_held = 0; done = 0; idle = 1;
        return_value = 0; checksum = 0;
    end

    always @(posedge clk) begin
        done <= 0;
        valid <= issue;
        n1 <= n;
        if (idle & start) begin
            idle <= 0; issue <= 1; n <= 0; k_held <= k; checksum <= 0;
        end
        if (issue) begin
            n <= n + 4'd1;
            if (n == 4'd15) issue <= 0;
        end
        if (valid) begin
            return_value <= result;
            checksum <= {checksum[62:0], checksum[63]} ^ {32'd0, result};
        end
        if (last) done <= 1;
        if (done) idle <= 1;
        if (rst) begin
            n <= 0; issue <= 0; valid <= 0; done <= 0; idle <= 1;
        end
    end
endmodule

module ram #(parameter WIDTH = 32, parameter BYTES = 4) (
    input                  clk,
    input      [3:0]       addr,
    input                  en,
    input      [BYTES-1:0] we,
    input      [WIDTH-1:0] wdata,
    output reg [WIDTH-1:0] rdata
);
    reg [WIDTH-1:0] words [0:15];
    integer i;
    initial begin
        rdata = 0;
        for (i = 0; i < 16; i = i + 1) words[i] = 0;
    end
    always @(posedge clk) if (en) begin
        rdata <= words[addr];
        for (i = 0; i < BYTES; i = i + 1) if (we[i]) words[addr][8*i +: 8] <= wdata[8*i +: 8];
    end
endmodule
