// B = A + 1, element by element, both off chip behind an AXI4 port; the convention of
// rtlgen/manifest/memory_map.py. Reads a burst, then writes it, then goes on. LANES elements a word.
module increment #(
    parameter WORD = @WORD@, parameter ELEMENT = @ELEMENT@, parameter SIZE = @SIZE@,
    parameter WORDS = @WORDS@, parameter ROW = @ROW@, parameter USED = @USED@
) (
    input                      clk,
    input                      rst,
    input                      start,
    output reg                 done,
    output reg                 idle,
    input      [63:0]          A_base,
    input      [63:0]          B_base,
    output reg                 mem_error,
    output reg [63:0]          mem_error_address,
    output reg                 mem_error_write,
    output reg [1:0]           mem_error_response,
    output                     m_axi_awid,
    output     [63:0]          m_axi_awaddr,
    output     [7:0]           m_axi_awlen,
    output     [2:0]           m_axi_awsize,
    output     [1:0]           m_axi_awburst,
    output     [3:0]           m_axi_awcache,
    output     [2:0]           m_axi_awprot,
    output reg                 m_axi_awvalid,
    input                      m_axi_awready,
    output     [WORD-1:0]      m_axi_wdata,
    output     [WORD/8-1:0]    m_axi_wstrb,
    output                     m_axi_wlast,
    output reg                 m_axi_wvalid,
    input                      m_axi_wready,
    input                      m_axi_bid,
    input      [1:0]           m_axi_bresp,
    input                      m_axi_bvalid,
    output                     m_axi_bready,
    output                     m_axi_arid,
    output     [63:0]          m_axi_araddr,
    output     [7:0]           m_axi_arlen,
    output     [2:0]           m_axi_arsize,
    output     [1:0]           m_axi_arburst,
    output     [3:0]           m_axi_arcache,
    output     [2:0]           m_axi_arprot,
    output reg                 m_axi_arvalid,
    input                      m_axi_arready,
    input                      m_axi_rid,
    input      [WORD-1:0]      m_axi_rdata,
    input      [1:0]           m_axi_rresp,
    input                      m_axi_rlast,
    input                      m_axi_rvalid,
    output                     m_axi_rready
);
    localparam BYTES = WORD / 8;
    reg [63:0]         a_base;
    reg [63:0]         b_base;
    reg [31:0]         n;       // first word of the burst
    reg [7:0]          got;     // words of it that were read
    reg [7:0]          sent;    // and written
    reg [WORD-1:0]     words [0:255];
    // Both arrays begin with a page, so no burst crosses one.
    wire [31:0]        least = WORDS - n < 16 ? WORDS - n : 16;
    wire               full = (n + sent) % ROW != ROW - 1 || USED % BYTES == 0;
    wire [BYTES-1:0]   all = {BYTES{1'b1}};
    wire [BYTES-1:0]   some = all >> (BYTES - USED % BYTES);
    wire [WORD-1:0]    more;
    wire               over = m_axi_bvalid | (m_axi_rvalid & m_axi_rlast & failed);
    wire               failed = mem_error | (m_axi_rvalid & m_axi_rresp != 0);

    assign m_axi_awid = 0;
    assign m_axi_arid = 0;
    assign m_axi_awaddr = b_base + n * BYTES;
    assign m_axi_araddr = a_base + n * BYTES;
    assign m_axi_awlen = least - 1;
    assign m_axi_arlen = least - 1;
    assign m_axi_awsize = SIZE;
    assign m_axi_arsize = SIZE;
    assign m_axi_awburst = 1;
    assign m_axi_arburst = 1;
    assign m_axi_awcache = 3;
    assign m_axi_arcache = 3;
    assign m_axi_awprot = 0;
    assign m_axi_arprot = 0;
    assign m_axi_wdata = words[sent];
    assign m_axi_wstrb = full ? all : some;
    assign m_axi_wlast = sent == least - 1;
    assign m_axi_bready = 1;
    assign m_axi_rready = 1;

    genvar lane;
    generate
        for (lane = 0; lane < WORD / ELEMENT; lane = lane + 1) begin : lanes
            assign more[lane*ELEMENT +: ELEMENT] = m_axi_rdata[lane*ELEMENT +: ELEMENT] + 1;
        end
    endgenerate

    integer i;
    initial begin
        m_axi_awvalid = 0; m_axi_wvalid = 0; m_axi_arvalid = 0; done = 0; idle = 1; mem_error = 0;
        mem_error_address = 0; mem_error_write = 0; mem_error_response = 0;
        a_base = 0; b_base = 0; n = 0; got = 0; sent = 0;
        for (i = 0; i < 256; i = i + 1) words[i] = 0;
    end

    always @(posedge clk) begin
        done <= 0;
        if (idle & start) begin
            idle <= 0; mem_error <= 0; n <= 0; got <= 0; m_axi_arvalid <= 1;
            a_base <= A_base; b_base <= B_base;
            mem_error_address <= 0; mem_error_write <= 0; mem_error_response <= 0;
        end
        if (m_axi_arvalid & m_axi_arready) m_axi_arvalid <= 0;
        if (m_axi_rvalid) begin
            words[got] <= more;
            got <= got + 1;
            mem_error <= failed;
            if (failed & !mem_error) begin
                mem_error_address <= m_axi_araddr + got * BYTES;
                mem_error_response <= m_axi_rresp;
            end
            if (m_axi_rlast & !failed) begin
                m_axi_awvalid <= 1; m_axi_wvalid <= 1; sent <= 0;
            end
        end
        if (m_axi_awvalid & m_axi_awready) m_axi_awvalid <= 0;
        if (m_axi_wvalid & m_axi_wready) begin
            sent <= sent + 1;
            if (m_axi_wlast) m_axi_wvalid <= 0;
        end
        if (m_axi_bvalid & m_axi_bresp != 0) mem_error <= 1;
        if (m_axi_bvalid & m_axi_bresp != 0 & !mem_error) begin
            mem_error_address <= m_axi_awaddr; mem_error_write <= 1;
            mem_error_response <= m_axi_bresp;
        end
        if (over) begin
            n <= n + least; got <= 0;
            if (n + least == WORDS || failed || (m_axi_bvalid & m_axi_bresp != 0)) done <= 1;
            else m_axi_arvalid <= 1;
        end
        if (done) idle <= 1;
        if (rst) begin
            m_axi_awvalid <= 0; m_axi_wvalid <= 0; m_axi_arvalid <= 0; done <= 0; idle <= 1;
            mem_error <= 0; mem_error_address <= 0; mem_error_write <= 0; mem_error_response <= 0;
        end
    end
endmodule
