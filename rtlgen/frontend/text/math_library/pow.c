/* pow on the bits of two doubles, within 0.65 units in the last place.
 *
 * Method: 2^(y log2 x). log2 x as log.c has log x, with more terms, and with log2(1 + z) = z (23/16 + q),
 * q = c0 - z (c1 - z (c2 - z (c3 - z (c4 - z (c5 - z c6))))), |q| < 2^-7. The power of 2 is
 * that of _exp2.c.
 *
 * Errors: log2 x 2^-66 of itself at most, so y log2 x 2^-55.9 where a result is finite and not 0, and
 * 2^(y log2 x) 2^-56.4 of itself by that; of its own 2^-55.5, as e^x: in all 0.15 units in the last place,
 * beside the half unit of the rounding.
 */
#include "_exp2.c"

/* the low 46 bits of -log2(c/4096) in units of 2^-78; from bit 46 on, c */
static const uint64_t rtlgen_pow_c[512] = {
    0x400000000000000, 0x3fd231ea302ff29, 0x3fb0e488245a9c6, 0x3f925e47e8f3ce0, 0x3f7285d599e553f,
    0x3f537b470d5ba4b, 0x3f3541a513682f6, 0x3f15b51f981a627, 0x3ef69f7ab9f53b5, 0x3ed6ea31fcffeed,
    0x3eba0541c730514, 0x3e990dcfa2ef7f6, 0x3e78c6e1df2a421, 0x3e5dcc3d9c0a72a, 0x3e3c756d4e32bbd,
    0x3e223878c238c54, 0x3e03b2b1aabbcb8, 0x3de51287242dbed, 0x3dc54176eec390c, 0x3dab3ac3ef75099,
    0x3d8a433d084a340, 0x3d6c275d6c35b64, 0x3d53435a5af52b5, 0x3d325c11ef56fa4, 0x3d16805dc7ea0ad,
    0x3cfb00e46b49586, 0x3cd8adfa4b30629, 0x3cbf567841a3fe4, 0x3ca09ab2770dfb0, 0x3c86c81607d0a39,
    0x3c69bf635df0f3c, 0x3c4ef79aae620d7, 0x3c3180ef41c5a8b, 0x3c1365635577971, 0x3bf41f8425b2228,
    0x3bd80b9b45dcf20, 0x3bbcf92287bd733, 0x3ba260614a2650a, 0x3b8846a6c54a9ba, 0x3b6e8a40b56576d,
    0x3b5196c8ee6b937, 0x3b376888ce32019, 0x3b1bb4041eeee43, 0x3affe93c39f88ae, 0x3ae336faea90483,
    0x3ac8df6a8201cd0, 0x3aadd8a3a45afb0, 0x3a902bb59ad32b8, 0x3a79e959db1a1bf, 0x3a5dedcdcff3818,
    0x3a4036d37e20f02, 0x3a2b2aeb6929146, 0x3a0eb0a25a58d7b, 0x39f06015ebe99c5, 0x39da5a8b85a7c30,
    0x39bceff12a270c1, 0x39a68c4ee3fbef1, 0x39892d3546f3064, 0x39713b0abe0dbcf, 0x39581207d819bb9,
    0x393f4b4633a00ad, 0x392788669d9485e, 0x3908e4710848496, 0x38f3c4e88faca4d, 0x38da3b5724cf77c,
    0x38bf879e1057832, 0x38a6e47aa6e8d9a, 0x388c1546e6d8c68, 0x3874708f2c20edf, 0x385ae078ab81801,
    0x38427dda6339da3, 0x382a4a85e0529e0, 0x381058379ccb598, 0x37fbe064ae67ffb, 0x37e146366f7a6c6,
    0x37ca188a6add10a, 0x37b113f69622137, 0x379a24d1e51b756, 0x377fb4971c54132, 0x3767ab7b783736f,
    0x374cba38e294856, 0x373bb0173b20049, 0x37201d1ee969a96, 0x370b8883c28beea, 0x36f2674a83d315c,
    0x36da6f1f7afa115, 0x36c298884992eeb, 0x36ab211a78c0e4f, 0x36918db6e9f58d6, 0x367eb38f66c3e34,
    0x366797eab3259d3, 0x364c5df7d7c3e3b, 0x3637863f73c596c, 0x3622b9118906314, 0x3608f98fc87032a,
    0x35f1e86679d9daf, 0x35d923f7d56a01e, 0x35c61bf2ecbe426, 0x35ad05e6d772277, 0x3599280409b56bd,
    0x35815fa37ec2a91, 0x35698b7cff018f3, 0x3555f0faf833c53, 0x353cf8f625884a4, 0x352a5126fabad40,
    0x3513d373e515cb8, 0x34fe2357103193d, 0x34e6954d1582525, 0x34d14c145ccfb67, 0x34ba17aeee044de,
    0x34a427842b576b3, 0x3492b3496d2d23b, 0x347bc08d9d0123f, 0x346673a93386fdf, 0x344e08e6f5e6a51,
    0x343ab11fb22b251, 0x3425808d728ecdf, 0x340e58e36d5d278, 0x33fbcb75da7edb0, 0x33e671c9a08d2a3,
    0x33d31651fc59b54, 0x33ba139b0aa5364, 0x33a505183e4421c, 0x33933e9391d46e7, 0x337cc80ed3df0ba,
    0x336a722f26d81fa, 0x33528a98728f956, 0x333f1696c834292, 0x332a17db2fa9204, 0x3317b728e0f8ae0,
    0x3300ec59878e4e8, 0x32ef7fa259f6253, 0x32da0adbb08431c, 0x32c7facb20c8721, 0x32b1907023c54c9,
    0x329fe2534cee17b, 0x3288ddd818043db, 0x3277489153fa5fc, 0x3262c1983115f02, 0x324fc2e5f89908b,
    0x323ba2b0744fc94, 0x322494c90c6e420, 0x3211abfea23de5c, 0x31fedb822e2bad4, 0x31e8f84e27da7ba,
    0x31d9594b16ce133, 0x31c63900fcdc3b9, 0x31b17e02b8c03e1, 0x319f644833e4891, 0x31891077a6c33c6,
    0x317b2ccd3af9cc9, 0x31647bb34e88bd8, 0x31533ff19541314, 0x313c1fddca35ec5, 0x312f3fa856772d5,
    0x3118dea1310d8d0, 0x310438a52cf5660, 0x30f18b965b1b115, 0x30e2145edafc83c, 0x30cdd49d6700a30,
    0x30b95b3a977569b, 0x30a9a848b84ebce, 0x3094ebdf12cf9cf, 0x308498e4298fa1d, 0x30720f404af2a61,
    0x305d865a546f964, 0x304c892da022670, 0x303a808733f645a, 0x302aae2cca20774, 0x30149bb9fa7006c,
    0x3005831d8235fcd, 0x2ff2dadbdfecf33, 0x2fe0dd53f5c184c, 0x2fcf23547705c32, 0x2fbf832c19feef6,
    0x2faa5de11469f33, 0x2f9b4d1804d520a, 0x2f8a3f18cfb748d, 0x2f75472b79cded8, 0x2f65ad420a33a5d,
    0x2f51d326e5fa7fe, 0x2f422fdb37b7d45, 0x2f30baf4e9dd1da, 0x2f1cc514a84f2f1, 0x2f0e37953d27aba,
    0x2efd1f1cd1ae594, 0x2ee99fe0e149a60, 0x2ed94971ea5e4ca, 0x2eca9321769f86f, 0x2ebb75d90b6546f,
    0x2ea6fe061d01ed2, 0x2e94c47034c848d, 0x2e84d5e02c2f5ef, 0x2e77333d707faaf, 0x2e603cff1a56a5d,
    0x2e530c4c16be5da, 0x2e4186e2b09c645, 0x2e31c1a9da0b9ed, 0x2e22507ddd8a2a8, 0x2e1246e0a54cd65,
    0x2dff54003c76ab2, 0x2def8c9bb62fc6e, 0x2ddea6253125dc0, 0x2dcdda691a07604, 0x2dbee68ad0813cb,
    0x2dac0bbc92e7e3d, 0x2d9c0ff8ac41dde, 0x2d8e3ebbe75ad25, 0x2d7e69c1498c9b5, 0x2d6ce9bf17f2879,
    0x2d5e9f2529c19ea, 0x2d4cf2dc8a87763, 0x2d3dd7086f17fb8, 0x2d2fc7c87ff9785, 0x2d1dcbfc7c25132,
    0x2d0f760936f916e, 0x2cfce49ef4416f9, 0x2ceec3812541fcd, 0x2cde4c4f89b5a5a, 0x2ccd4750b7bc763,
    0x2cbe0c3e0dba848, 0x2caf83111130df6, 0x2c9d24d23da16c3, 0x2c8efc69469648c, 0x2c7da76ecfed134,
    0x2c71d46cf569ec7, 0x2c6368d67f20ddb, 0x2c507d34281bc9b, 0x2c43dc9b3b144e7, 0x2c30e8ca77762bb,
    0x2c239b046fed8b6, 0x2c14bf81c449450, 0x2c04eee38cd2c59, 0x2bf6c60fdd891f9, 0x2be47e2b0e46a1f,
    0x2bd939fda922cdc, 0x2bc9c9e52f46d90, 0x2bb87d1ec870a49, 0x2ba9d918a3c9c2b, 0x2b9e46bdad24260,
    0x2b8ee9e641ee767, 0x2b7edb695527dd5, 0x2b712fb087a8767, 0x2b61b351a3fda36, 0x2b52f094665268a,
    0x2b475a1b96e114d, 0x2b36df5215b5aee, 0x2b25629908b7e1d, 0x2b1a0fe6c5d6ffe, 0x2b091e4b2c12ce0,
    0x2afa5c35006e5be, 0x2aefa4b3afb7ed1, 0x2adc615709b754a, 0x2ad21579e561a47, 0x2ac00e0b71e5b8e,
    0x2ab2738f6066288, 0x2aa463f2a27a633, 0x2a957e9d3829063, 0x2a8ac3ef4696096, 0x2a79adf95cc4b01,
    0x2a6efef38600252, 0x2a5e87f629e0f92, 0x2a536705c566e51, 0x2a421dcd0cb4493, 0x2a34e07dc89265e,
    0x2a251cfc42d3dd3, 0x2a1af37b1747e5b, 0x2a0ae0de5df4e20, 0x29ffdd9589b1707, 0x29ed847c73d36fc,
    0x29e0a3c8e54c2f7, 0x29d5570f066a3cd, 0x29c5249c77a3934, 0x29b8c9a010d7d33, 0x29a82a87a07a849,
    0x299cf1f398430b1, 0x299118f092317b5, 0x29829e3abcd514a, 0x297723364d09365, 0x29689ba4275a2b8,
    0x29582dc4caeb293, 0x294f818abc34d43, 0x2940104c41b9013, 0x293199c783c39e6, 0x2927db53505e67c,
    0x291a5d9303db1eb, 0x2909f9c76a9cfb7, 0x28fc792869f1d1c, 0x28f107df2a406ab, 0x28e5f08eadab26c,
    0x28d4950dfd0c66a, 0x28c8a937c9b4fec, 0x28be9526240480c, 0x28b1c1411f70a03, 0x28a16b752690ff2,
    0x28963ae8ad89fab, 0x28898a7003e4a40, 0x287fe5f95589275, 0x286ecdff71bf24a, 0x2860c87354ef87e,
    0x2856e45795d177f, 0x284ad706c2edec1, 0x283e9b58c91d773, 0x283071f5e6cdb98, 0x28217049604428e,
    0x28174cf8a382a5f, 0x280a0fe1e8e7ed6, 0x27fd2bfe8fcac48, 0x27f05bdaf208701, 0x27e7a1ec76f22bf,
    0x27db48e827c5290, 0x27cfe419c6974b5, 0x27c24fbb68a4d0d, 0x27b03600e3c91bd, 0x27a443cb4f5187a,
    0x2799bdefe7968cf, 0x278ec0b27ab08d8, 0x2781b3213266ecd, 0x2775476f8479b16, 0x27687b51ad4cb25,
    0x275e9858b5f14e7, 0x2753344f068dc5c, 0x274631958623716, 0x273bbf8148b73af, 0x272c5ab9cce1e0c,
    0x2720cd97c9cfc5f, 0x271630848eba438, 0x2709ea59f4e6ac2, 0x26fdb0c2e539745, 0x26f3889c726e3b0,
    0x26e5c6578907b6b, 0x26db0e5b360ce28, 0x26ce556785ab1ac, 0x26c2e0f8fad738c, 0x26b447aca10a210,
    0x26af4f397355ee4, 0x26a04f700a681c8, 0x26954c0a3ab0cc0, 0x268b087e584936e, 0x267e9b3e5411153,
    0x26716e1f4c2417f, 0x26653ec1be11f8f, 0x26581efa5c08af7, 0x264c753b8622f21, 0x264565d2dd22b85,
    0x263b4b98813b954, 0x262d596e55fb586, 0x26232f99c44e85f, 0x2614c4f2b731da7, 0x260a6750ce3b02f,
    0x25fcbbf93c83076, 0x25f7b13b3730f83, 0x25eb543f282e47c, 0x25dc66533b1a890, 0x25d0d1057053958,
    0x25c6d75b23c359d, 0x25be7581f9bff70, 0x25b196cd5833c1d, 0x25a769e759af02d, 0x259b7db331f6733,
    0x2592cfd2ca00003, 0x2587f7a64ccd537, 0x257bf36da80e3fc, 0x256fa406f06f165, 0x25650dfad86d88e,
    0x2559dd2677d2feb, 0x254e81fa4e0b348, 0x254135908df8ec9, 0x253b0c794bcb4a2, 0x252f20dedc0ebd1,
    0x25210350b4a093a, 0x251bfe5f2b6ee66, 0x250d0e84d6f32b3, 0x2502589b6080f71, 0x24f81bb69fe79e1,
    0x24eedd1cdd99d7e, 0x24e2fa3ca9ae3bd, 0x24d9fae39d27fd2, 0x24ce65423aabb57, 0x24c00c7907e8299,
    0x24bba28ce3c0381, 0x24ad0924d34e2dc, 0x24a256a4a25195f, 0x249acd7cb2b5e6c, 0x248ff8d89fc3034,
    0x24862c97aaeb63e, 0x24792faac473e6a, 0x246c77d0b6b74b9, 0x2467c2e63b5305f, 0x2458bc75b6b437a,
    0x24509c245008698, 0x244623cf9379442, 0x243fcdb4cb6b078, 0x2432a8c11efc8e4, 0x2424c2a0a530494,
    0x241f7a18d58caac, 0x2411bf618780748, 0x240901ab5d2ccdf, 0x23fd41d169f0074, 0x23f6eb81c16e730,
    0x23e8edf9d74304a, 0x23e02d1badba7fc, 0x23d5b5bf9e82e94, 0x23cf0cc5e8fd7ea, 0x23c3e045967638b,
    0x23b9290556b0ae3, 0x23af11640fbda57, 0x23a78016c2445b9, 0x239a51353b3d90e, 0x23927783baff66f,
    0x238413b6cb8ce38, 0x237de3ccc77bffc, 0x237240811939543, 0x236910293902b0c, 0x2363c2ce03944bb,
    0x2356c65ce822dcc, 0x234cb285bb9ecd5, 0x234156a4250add6, 0x2339347e5b565ed, 0x232e9fb6274a399,
    0x232495e37ba5e1d, 0x231f6e32f3777dc, 0x2311bdb897aa62a, 0x230bb8b5087587d, 0x22ff3512b6dc8a2,
    0x22f7f63f32260ec, 0x22ec747dbf95d9a, 0x22e3d3fd6dbecb3, 0x22d9123d5448bed, 0x22ceb54b8031cc2,
    0x22c7e7417f71c0a, 0x22bf1cf1f83fdd7, 0x22b19788921de42, 0x22abc59f5a938a4, 0x22a291f496cbd32,
    0x229690252b07a71, 0x228e578686ce562, 0x22868bfc8712bb1, 0x227b0c8bc2d8624, 0x2271466465794b1,
    0x2268f466697fce2, 0x225f5d64ed9b550, 0x22552cb3930e6dc, 0x224eb37b3f1e154, 0x2245642f7d4d079,
    0x2239c6cf99ae5bf, 0x2233e17ce3a5004, 0x222b05f0e6b2a95, 0x221e2490ba13c5a, 0x2217f87bb5bdea4,
    0x220ffb9c911ef3e, 0x220475086074ce5, 0x21fa06f94ee6531, 0x21f3d0ac35e4b7e, 0x21e8dee28e0a8da,
    0x21e3f31124ac34b, 0x21d5e758d9219e8, 0x21ce4d599d9b715, 0x21c5376af5c0f56, 0x21bde36d39ba7d4,
    0x21b0cd323682bdd, 0x21a84451d4719c5, 0x21a3b2970dd974c, 0x219ad46495f5939, 0x21918283d9af9fc,
    0x21871f32c81325d, 0x217fbbe68d33fad, 0x21743cde4874485, 0x216cfc02c12d007, 0x2166703a0c388ca,
    0x215d2d835781dac, 0x21513e18a0e14f7, 0x214b797c60a25d8, 0x2141eaa942160e1, 0x2139a9eadd6e7aa,
    0x2133ed411c95ce4, 0x212a087ce2dcb27, 0x211c972c1807fd1, 0x2117e1871ea800b, 0x210c959156a7ca7,
    0x21048eae44a619a, 0x20fdc6b270691f2, 0x20f65600f0e5301, 0x20ec73a91c2562d, 0x20e675845b4a6f2,
    0x20daac0f0998c29, 0x20d06b1e14ebaf3, 0x20cb2f0274f5ad8, 0x20c1d997da24fd7, 0x20bb6c2aa449836,
    0x20b30796a638791, 0x20abec660f1a3a9, 0x20a17af07999918, 0x209b337a212c417, 0x2090b6533dacf80,
    0x2089c3f7857f233, 0x207f013a47d3e87, 0x207528333fec8db, 0x206cfac95d0bef2, 0x2066cbc60e036c0,
    0x205f0ece46d4e4e, 0x2056588302d2e98, 0x204d5ea1eefef56, 0x2044f8263ce190b, 0x203e1d699e1894a,
    0x2035e84568d83a0, 0x202d9433e59c024, 0x20267e71c644f6f, 0x201e261fc6e3245, 0x20162c647868a26,
    0x200c548e3584ead, 0x200000000000000,
};

/* -log2(c/4096) in units of 2^-32 */
static const uint64_t rtlgen_pow_m[512] = {
    0x0, 0x115676c, 0x1cecb0f, 0x2888bef, 0x342aa6b, 0x3fd26e1, 0x4a0a12b, 0x55bced7, 0x6175b90,
    0x6d347b7, 0x77804ee, 0x834a50a, 0x8f1a5ad, 0x99755b8, 0xa550c64, 0xafb5c50, 0xbb9ca64,
    0xc60bb68, 0xd1fe249, 0xdc7759c, 0xe8756b2, 0xf2f8d93, 0xfd81133, 0x109905f7, 0x11422efc,
    0x11eba59f, 0x12adb12e, 0x1357cf14, 0x14023b7b, 0x14acf6a9, 0x155800e9, 0x16035a83, 0x16af03c2,
    0x177394c9, 0x181fe9ac, 0x18cc8f1d, 0x19798568, 0x1a26ccd9, 0x1abb940b, 0x1b6972fb, 0x1c17a3ed,
    0x1cc6272d, 0x1d74fd0a, 0x1e2425d2, 0x1ed3a1d4, 0x1f6a4e99, 0x201a65fd, 0x20cad17f, 0x21624c42,
    0x221354d0, 0x22c4b263, 0x235cfd5b, 0x240ef9ab, 0x24c14beb, 0x255a6958, 0x260d5c0d, 0x26a7037f,
    0x275a97cb, 0x27f4ca3c, 0x288f3d29, 0x2943bfaf, 0x29debf0c, 0x2a93e601, 0x2b2f72ce, 0x2bcb413b,
    0x2c815a9e, 0x2d1db7f7, 0x2dba57a0, 0x2e5739d0, 0x2f0e9614, 0x2fac092d, 0x3049bf82, 0x30e7b94d,
    0x3185f6c6, 0x3224782a, 0x32c33db1, 0x33624797, 0x34019616, 0x34bbc8ad, 0x355bac9a, 0x35fbd5de,
    0x368182b8, 0x37222bb7, 0x37c31ab6, 0x38644ff5, 0x3905cbb0, 0x39a78e25, 0x3a499792, 0x3aebe836,
    0x3b7361fc, 0x3c1635d1, 0x3cb95190, 0x3d5cb576, 0x3de51559, 0x3e88fe31, 0x3f2d2fe7, 0x3fd1aabd,
    0x405af3cf, 0x40fff55e, 0x4189af11, 0x422f3836, 0x42d50bae, 0x435f74de, 0x4405d147, 0x4490acf3,
    0x4537932f, 0x45c2e216, 0x466a530b, 0x46f615ec, 0x479e1281, 0x482a4a1e, 0x48b6b70a, 0x495f8058,
    0x49ec631e, 0x4a95ba4e, 0x4b2313b3, 0x4bb0a346, 0x4c5aca81, 0x4ce8d1d7, 0x4d770fe1, 0x4e0584c8,
    0x4eb0c01f, 0x4f3fae50, 0x4fced3e6, 0x505e310e, 0x50edc5f1, 0x519a5c04, 0x522a6c1e, 0x52bab480,
    0x534b3555, 0x53dbeecb, 0x546ce10c, 0x54fe0c47, 0x558f70a7, 0x56210e5b, 0x56b2e58e, 0x5744f670,
    0x57d7412c, 0x5869c5f2, 0x58fc84ef, 0x598f7e52, 0x5a22b24a, 0x5ab62104, 0x5b49cab0, 0x5bddaf7e,
    0x5c542ad5, 0x5ce87a89, 0x5d7d05e4, 0x5e11cd15, 0x5ea6d04e, 0x5f1e316d, 0x5fb3a12d, 0x60494d7b,
    0x60df368b, 0x6157500f, 0x61eda6f6, 0x62843b28, 0x631b0cd7, 0x6393e0fe, 0x642b21db, 0x64c2a0c3,
    0x653bffe4, 0x65d3eefa, 0x664da81c, 0x66e60806, 0x677ea6e8, 0x67f8ed16, 0x6891fdd2, 0x690c9f59,
    0x69a6229b, 0x6a212004, 0x6abb1676, 0x6b36704c, 0x6bd0da9c, 0x6c4c9169, 0x6ce77047, 0x6d638498,
    0x6ddfc2a7, 0x6e7b4b17, 0x6ef7e777, 0x6f93e626, 0x7010e167, 0x708e0702, 0x712ab1bd, 0x71a8370a,
    0x7225e70f, 0x72c33f53, 0x73414fdf, 0x73bf8b81, 0x743df257, 0x74dc2fd1, 0x755af849, 0x75d9ec55,
    0x76590c13, 0x76f83163, 0x7777b3e1, 0x77f76275, 0x78773d3c, 0x78f74455, 0x797777df, 0x7a17f6f9,
    0x7a988ef2, 0x7b1953c1, 0x7b9a4585, 0x7c1b645d, 0x7c9cb06a, 0x7d1e29ca, 0x7d9fd09d, 0x7e21a504,
    0x7ea3a71f, 0x7f25d70d, 0x7fa834f0, 0x802ac0e7, 0x80ad7b13, 0x81306396, 0x81b37a8f, 0x8236c021,
    0x82ba346b, 0x833dd790, 0x83c1a9b1, 0x8445aaef, 0x84c9db6c, 0x854e3b4b, 0x85d2caac, 0x865789b3,
    0x86bb3851, 0x87404b0b, 0x87c58dca, 0x884b00ae, 0x88d0a3dd, 0x89567777, 0x89baf608, 0x8a411eb5,
    0x8ac7782f, 0x8b4e029b, 0x8bb30a9f, 0x8c39eb06, 0x8cc0fcc1, 0x8d483ff3, 0x8dadd2e5, 0x8e356d00,
    0x8ebd38f7, 0x8f2332bf, 0x8fab564f, 0x9033ac20, 0x909a0d8e, 0x9122bbab, 0x91ab9c70, 0x92126658,
    0x929ba01d, 0x93250cf1, 0x938c4029, 0x941606b5, 0x947d7d62, 0x95079e1a, 0x9591f28d, 0x95f9d3ef,
    0x96848349, 0x96eca904, 0x9777b3bd, 0x97e01e2c, 0x986b84bc, 0x98d4343a, 0x995ff71b, 0x99c8ec04,
    0x9a550bb0, 0x9abe465f, 0x9b4ac352, 0x9bb44425, 0x9c411edc, 0x9caae631, 0x9d14cbda, 0x9da22d5d,
    0x9e0c5a0f, 0x9e9a1a88, 0x9f048ea2, 0x9f6f2174, 0x9ffd6a73, 0xa0684537, 0xa0d33eef, 0xa162117d,
    0xa1cd53b1, 0xa238b516, 0xa2c8123d, 0xa333bcab, 0xa39f8686, 0xa42f6f55, 0xa49b82c9, 0xa507b5e6,
    0xa57408bf, 0xa604a8b4, 0xa67145e2, 0xa6de030a, 0xa74ae040, 0xa7dc392f, 0xa8496178, 0xa8b6aa0e,
    0xa9241303, 0xa9b626c8, 0xaa23db93, 0xaa91b0fd, 0xaaffa71b, 0xab6dbe00, 0xabdbf5c0, 0xac6f1dfc,
    0xacdda2b0, 0xad4c4881, 0xadbb0f82, 0xae29f7c7, 0xae990163, 0xaf082c6c, 0xaf7778f5, 0xafe6e713,
    0xb07bae45, 0xb0eb6b0c, 0xb15b49ab, 0xb1cb4a37, 0xb23b6cc5, 0xb2abb169, 0xb31c1838, 0xb38ca146,
    0xb3fd4ca9, 0xb46e1a76, 0xb4df0ac1, 0xb5501da1, 0xb5c15329, 0xb632ab6f, 0xb6a42689, 0xb715c48c,
    0xb787858d, 0xb7f969a3, 0xb86b70e2, 0xb8dd9b61, 0xb94fe935, 0xb9c25a75, 0xba0eb9ac, 0xba816625,
    0xbaf43643, 0xbb672a1d, 0xbbda41ca, 0xbc4d7d60, 0xbcc0dcf5, 0xbd3460a0, 0xbda80877, 0xbdf5372a,
    0xbe691b7d, 0xbedd243a, 0xbf515176, 0xbfc5a34a, 0xc03a19cb, 0xc0aeb512, 0xc0fc8664, 0xc1715f27,
    0xc1e65cee, 0xc25b7fcf, 0xc2d0c7e2, 0xc31f0ca5, 0xc39492ec, 0xc40a3ea4, 0xc4800fe6, 0xc4ceb04e,
    0xc544c055, 0xc5baf626, 0xc63151d9, 0xc6804ebe, 0xc6f6e9ca, 0xc76daaf9, 0xc7e49264, 0xc833ec9f,
    0xc8ab13f9, 0xc92261d1, 0xc9720079, 0xc9e98eaf, 0xca6143a4, 0xcab12731, 0xcb291cf3, 0xcba139b9,
    0xcbf162a1, 0xcc69c0a5, 0xcce245f1, 0xcd32b4ac, 0xcdab7ba8, 0xce246a2f, 0xce751f39, 0xceee4fe3,
    0xcf3f311d, 0xcfb8a433, 0xd0323f46, 0xd0836796, 0xd0fd458a, 0xd14e9a89, 0xd1c8bba6, 0xd21a3d84,
    0xd294a216, 0xd30f2f45, 0xd360f956, 0xd3dbca71, 0xd42dc1e4, 0xd4a8d736, 0xd4fafc3c, 0xd5765612,
    0xd5c8a8df, 0xd6444784, 0xd696c84a, 0xd712ac0c, 0xd7655b00, 0xd7e1842c, 0xd8346180, 0xd8b0d065,
    0xd903dc4e, 0xd980913a, 0xd9d3cbec, 0xda50c72d, 0xdaa430de, 0xdaf7ad69, 0xdb750ba8, 0xdbc8b77d,
    0xdc465cd1, 0xdc9a3824, 0xdd1824de, 0xdd6c2fe6, 0xddc04e11, 0xde3e9f4a, 0xde92ed76, 0xdf1186d9,
    0xdf66053d, 0xdfba96fb, 0xe03995f0, 0xe08e5833, 0xe10da01a, 0xe1629319, 0xe1b799a7, 0xe237483b,
    0xe28c7fd4, 0xe2e1cb1c, 0xe361e102, 0xe3b75da5, 0xe40cee16, 0xe48d6bf6, 0xe4e32e13, 0xe539041e,
    0xe5b9eaa1, 0xe60ff2a9, 0xe6660ebf, 0xe6bc3eee, 0xe73dacf6, 0xe7940f8a, 0xe7ea8658, 0xe86c5e8d,
    0xe8c30813, 0xe919c5f4, 0xe970983a, 0xe9f2f9f2, 0xea49ff5b, 0xeaa1194b, 0xeaf847c9, 0xeb7b342a,
    0xebd2963a, 0xec2a0cfc, 0xec819879, 0xed0510aa, 0xed5cd027, 0xedb4a481, 0xee0c8dc4, 0xee648bf9,
    0xeee8b0a3, 0xef40e360, 0xef992b33, 0xeff18824, 0xf049fa3e, 0xf0a2818c, 0xf1277457, 0xf18030d1,
    0xf1d902a3, 0xf231e9d6, 0xf28ae674, 0xf2e3f889, 0xf369bbfc, 0xf3c303e4, 0xf41c6168, 0xf475d490,
    0xf4cf5d67, 0xf528fbf8, 0xf582b04e, 0xf5dc7a72, 0xf66352a4, 0xf6bd537d, 0xf7176a49, 0xf7719715,
    0xf7cbd9ea, 0xf82632d4, 0xf880a1dd, 0xf8db2711, 0xf935c279, 0xf9907422, 0xf9eb3c15, 0xfa7391e6,
    0xface91c5, 0xfb29a815, 0xfb84d4e1, 0xfbe01835, 0xfc3b721c, 0xfc96e2a1, 0xfcf269cf, 0xfd4e07b1,
    0xfda9bc53, 0xfe0587c0, 0xfe616a03, 0xfebd6328, 0xff19733a, 0xff759a45, 0x100000000,
};

/* A product of 27 bits. */
static uint64_t rtlgen_pow_long(uint64_t a, uint64_t b) { return (a & 0x7ffffff) * (b & 0x3ffffff); }

static uint64_t rtlgen_pow(uint64_t x, uint64_t y)
{
  uint64_t size_x = x & 0x7fffffffffffffff, size_y = y & 0x7fffffffffffffff;

  /* |x| = 2^k (1 + mantissa/2^52); a subnormal one is shifted up */
  uint64_t s0 = x & 0xfffffffffffff;
  uint32_t s_16 = rtlgen_sixteen(s0), s_4 = rtlgen_four(s_16);
  int shift = rtlgen_zeros(s0, s_16, s_4) - 12;
  int is_subnormal = size_x >> 52 == 0;
  uint64_t mantissa = is_subnormal ? s0 << (shift + 1 & 63) & 0xfffffffffffff : s0;
  int k = is_subnormal ? -1023 - shift : (int)(size_x >> 52) - 1023;

  uint32_t part = mantissa >> 43;
  int near = (k == 0 && part == 0) || (k == -1 && part == 511);
  uint64_t row = rtlgen_pow_c[part], row_m = rtlgen_pow_m[part];

  /* |z| in units of 2^-64; beside 1 shifted up to 55 bits */
  uint64_t c = row >> 46 & 0x1fff;
  uint64_t z = (c << 52) + ((mantissa >> 34) * c << 34) + ((mantissa >> 17 & 0x1ffff) * c << 17) + (mantissa & 0x1ffff) * c;
  int below = (int)(z >> 63);
  uint64_t w = (below ? 0 - z : z) & 0x7fffffffffffff;
  uint32_t w_16 = rtlgen_sixteen(w), w_4 = rtlgen_four(w_16);
  int scale_x = near ? rtlgen_zeros(w, w_16, w_4) - 9 : 0;
  uint64_t scaled = w << (scale_x & 63) & 0x7fffffffffffff;

  /* q in units of 2^-71, p in units of 2^-64 */
  uint64_t h = w << 9;
  uint64_t t6 = rtlgen_short(h, 0x34c2fe49156aa417) >> 9;
  uint64_t p5 = below ? 0x3d8e27eb178d29c2 + t6 : 0x3d8e27eb178d29c2 - t6;
  uint64_t t5 = rtlgen_short(h, p5) >> 9;
  uint64_t p4 = below ? 0x49ddb143bc3175c3 + t5 : 0x49ddb143bc3175c3 - t5;
  uint64_t t4 = rtlgen_middle(h, p4) >> 9;
  uint64_t p3 = below ? 0x5c551d94ab85a3bd + t4 : 0x5c551d94ab85a3bd - t4;
  uint64_t t3 = rtlgen_middle(h, p3) >> 9;
  uint64_t p2 = below ? 0x7b1c2770e80ff5e4 + t3 : 0x7b1c2770e80ff5e4 - t3;
  uint64_t t2 = rtlgen_high(h, p2) >> 9;
  uint64_t p1 = below ? 0xb8aa3b295c17f0d0 + t2 : 0xb8aa3b295c17f0d0 - t2;
  uint64_t t1 = rtlgen_high(h, p1) >> 2;
  uint64_t q = below ? 0xaa3b295c17f0bbbf + t1 : 0xaa3b295c17f0bbbf - t1;
  uint64_t b = rtlgen_high(scaled << 9, q) >> 2;

  /* |log2(1 + z)| and log2 x in units of 2^-78: 46 bits, and what is above */
  uint64_t a = scaled * 23;
  int64_t size_low = ((a & 0xfffffffff) << 10) + (b & 0x3fffffffffff), size_high = (a >> 36) + (b >> 46);
  int64_t row_low = row & 0x3fffffffffff, row_high = row_m;
  int64_t base_low = near ? 0 : row_low, base_high = near ? 0 : row_high + k * 0x100000000l;
  int64_t sum = below ? base_low - size_low : base_low + size_low;
  int64_t high = (below ? base_high - size_high : base_high + size_high) + (sum >> 46);
  uint64_t low = sum & 0x3fffffffffff;

  /* |log2 x| in units of 2^-78, from 1 on 2^-67: 78 bits */
  int less_than_1 = high < 0;
  uint64_t l_low = (less_than_1 ? 0 - low : low) & 0x3fffffffffff;
  uint64_t l_high = less_than_1 ? (uint64_t)(0 - high) - (low != 0) : (uint64_t)high;
  int is_far = l_high >> 32 != 0;
  uint64_t f_low = is_far ? (l_high & 0x7ff) << 35 | l_low >> 11 : l_low;
  uint64_t f_high = (is_far ? l_high >> 11 : l_high) & 0xffffffff;

  /* y log2 x: r_high and the 26 bits of r_low, then in units of 2^-64 with 7 bits behind */
  int exponent_y = (int)(size_y >> 52);
  uint64_t m = y & 0xfffffffffffff | 0x10000000000000;
  uint64_t m0 = m & 0x3ffffff, m1 = m >> 26;
  uint64_t f0 = f_low & 0x3ffffff, f1 = (f_low >> 26 | f_high << 20) & 0x3ffffff, f2 = f_high >> 6;
  uint64_t r1 = rtlgen_pow_long(m0, f1) + rtlgen_pow_long(m1, f0);
  uint64_t r2 = rtlgen_pow_long(m0, f2) + rtlgen_pow_long(m1, f1) + (r1 >> 26);
  uint64_t r_high = rtlgen_pow_long(m1, f2) + (r2 >> 26);
  uint64_t r_low = r2 & 0x3ffffff;
  uint64_t whole = r_high >> 31 & 0x3fffff, fraction = r_high << 33 | r_low << 7;
  int right = 1044 + scale_x - (is_far ? 11 : 0) - exponent_y;
  uint64_t whole_power = right > 63 ? 0 : whole >> (right & 63);
  uint64_t size = right > 127 ? 0
                  : right > 63 ? whole >> (right & 63)
                               : fraction >> (right & 63) | whole << 1 << (63 - right & 63);
  int is_large = right < 0 || whole_power >> 11 != 0;
  int negative = less_than_1 ^ (int)(y >> 63);
  uint64_t power = negative ? 0 - size : size;
  int k_2 = negative ? -(int)(whole_power & 0x7ff) - (size != 0) : (int)(whole_power & 0x7ff);

  uint64_t b_2 = rtlgen_exp2_minus_1(power & 0x7fffffffffffff);
  uint64_t p = rtlgen_exp2_times(rtlgen_exp2_e[power >> 55], b_2);

  int scale = k_2 + (int)(p >> 62 & 1);
  uint64_t rounded = rtlgen_exp2_rounded(p, scale, power != 0);
  uint64_t finite = is_large ? (negative ? 0 : 0x7ff0000000000000) : scale > 1023 ? 0x7ff0000000000000 : rounded;

  /* whole numbers y, and odd ones */
  int places = exponent_y - 1023;
  uint64_t placed = m << (places & 63);
  int has_places = places >= 0 && places <= 52 && (placed & 0xfffffffffffff) == 0;
  int is_whole = places > 52 || has_places;
  int is_odd = has_places && (placed >> 52 & 1);
  uint64_t sign = is_odd ? x & 0x8000000000000000 : 0;

  int grows = (size_x > 0x3ff0000000000000) ^ (int)(y >> 63);
  int is_limit = size_x == 0 || size_x == 0x7ff0000000000000 || size_y == 0x7ff0000000000000;
  int is_one = size_y == 0 || x == 0x3ff0000000000000 || (x == 0xbff0000000000000 && size_y == 0x7ff0000000000000);
  int is_nan = size_x > 0x7ff0000000000000 || size_y > 0x7ff0000000000000
               || (x >> 63 && size_x != 0 && size_x < 0x7ff0000000000000 && size_y < 0x7ff0000000000000 && !is_whole);

  return is_one     ? 0x3ff0000000000000
         : is_nan   ? 0x7ff8000000000000
         : is_limit ? sign | (grows ? 0x7ff0000000000000 : 0)
                    : sign | (size_x == 0x3ff0000000000000 ? 0x3ff0000000000000 : finite);
}
