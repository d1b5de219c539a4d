// B = A + 1, element by element, both off chip; the convention of rtlgen/manifest/memory_map.py. Reads a word,
// writes a word, and holds each request in registers until its ack. LANES elements a word.
module increment #(
    parameter WORD = @WORD@, parameter ELEMENT = @ELEMENT@, parameter ADDRESS = @ADDRESS@,
    parameter WORDS = @WORDS@, parameter ROW = @ROW@, parameter USED = @USED@
) (
    input                      clk,
    input                      rst,
    input                      start,
    output reg                 done,
    output reg                 idle,
    output                     mem_en,
    output     [WORD/8-1:0]    mem_we,
    output     [ADDRESS-1:0]   mem_addr,
    output     [WORD-1:0]      mem_wdata,
    input      [WORD-1:0]      mem_rdata,
    input                      mem_ack
);
    reg                en;
    reg [WORD/8-1:0]   we;
    reg [ADDRESS-1:0]  addr;
    reg [WORD-1:0]     wdata;
    reg [31:0]         n;       // word of A
    reg [31:0]         place;   // word of its row
    wire               full = place != ROW - 1 || USED % (WORD / 8) == 0;
    wire [WORD/8-1:0]  all = {(WORD/8){1'b1}};
    wire [WORD/8-1:0]  some = all >> (WORD / 8 - USED % (WORD / 8));
    wire [WORD-1:0]    more;

    assign mem_en = en;
    assign mem_we = we;
    assign mem_addr = addr;
    assign mem_wdata = wdata;

    genvar lane;
    generate
        for (lane = 0; lane < WORD / ELEMENT; lane = lane + 1) begin : lanes
            assign more[lane*ELEMENT +: ELEMENT] = mem_rdata[lane*ELEMENT +: ELEMENT] + 1;
        end
    endgenerate

    initial begin
        en = 0; we = 0; addr = 0; wdata = 0; n = 0; place = 0; done = 0; idle = 1;
    end

    always @(posedge clk) begin
        done <= 0;
        if (idle & start) begin
            idle <= 0; en <= 1; we <= 0; addr <= 0; n <= 0; place <= 0;
        end
        if (en & mem_ack & (we == 0)) begin
            wdata <= more;
            we <= full ? all : some;
            addr <= WORDS + n;
        end
        if (en & mem_ack & (we != 0)) begin
            we <= 0;
            addr <= n + 1;
            n <= n + 1;
            place <= place == ROW - 1 ? 0 : place + 1;
            if (n == WORDS - 1) begin
                en <= 0; addr <= 0; done <= 1;
            end
        end
        if (done) idle <= 1;
        if (rst) begin
            en <= 0; we <= 0; done <= 0; idle <= 1;
        end
    end
endmodule
