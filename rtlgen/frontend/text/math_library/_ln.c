/* A multiple of log on the bits of a double, within 0.51 units in the last place.
 *
 * Method: x = 2^k m, 1 <= m < 2, in 512 parts of which each has a factor c near 4096/m, of 13 bits: so
 * m c/4096 = 1 + z is exact, |z| < 2^-9, and log x = k ln 2 - log(c/4096) + log(1 + z). Beside 1, c is
 * 4096, or 2048 with k = -1: there log x is log(1 + z) alone, and z is shifted up first, so that the
 * error is relative. log(1 + z) = z - z d, d = z (c1 - z (c2 - z (c3 - z (c4 - z c5)))).
 *
 * Errors: of log(1 + z), the polynomial's 2^-60.8 of itself, the products' 2^-65; of the sum, 2^-68, of
 * which the last place is 2^-61 at least; of the factor, 2^-62: in all less than a
 * hundredth of a unit in the last place.
 */
#pragma once
#include "_integers.c"

/* the low 46 bits of -log(c/4096) in units of 2^-78; from bit 46 on, c */
static const uint64_t rtlgen_ln_c[512] = {
    0x400000000000000, 0x3fd05130b80d2d5, 0x3fb11e1e3871df0, 0x3f92c389feabb6a, 0x3f71cf78f448e31,
    0x3f505a9fe304542, 0x3f36848f80a4af6, 0x3f15f82e618408e, 0x3ef724f443fa522, 0x3ed63abfc0d7cb2,
    0x3eb873edb774de5, 0x3e990e37decd00c, 0x3e7b937a81ca192, 0x3e5e5511f52bc36, 0x3e3d8613e5db8fe,
    0x3e2013ce515d6d1, 0x3e03ce8888e02e8, 0x3de4e0ca73ab832, 0x3dc41c40b8ea356, 0x3da8342beeac6c3,
    0x3d892baaf994c47, 0x3d6eb950df6f712, 0x3d50f1df6f4affe, 0x3d32a1ceee41dc0, 0x3d14f9a235ce872,
    0x3cfae7e4929ede8, 0x3cda09c7b129a64, 0x3cbcf09dcd2499e, 0x3ca0d1e8407973d, 0x3c86e691245a3be,
    0x3c697f12eb81f4a, 0x3c4c057f326ba6a, 0x3c32ff8a453c8aa, 0x3c139d1111c05cf, 0x3bf4e27279d6e46,
    0x3bd8b1e6af93f48, 0x3bbc3e63930ef36, 0x3ba1e1527633f04, 0x3b893d5752b6f66, 0x3b6cc7f7b879b97,
    0x3b51d25c5044a3c, 0x3b373a1b3262dec, 0x3b190def0f4a5e2, 0x3afc8ffa0ed5aa0, 0x3ae0380e0eba063,
    0x3acb98e788f326b, 0x3aac720a99a67c0, 0x3a90620ed79e604, 0x3a7848f879770a0, 0x3a5e8d930baf0f3,
    0x3a41038fc06e7cb, 0x3a2b820afb05bce, 0x3a0c83a5f97feab, 0x39f132f9d0cfa33, 0x39d9c7a58907a13,
    0x39bcb6db985449b, 0x39a4eae71b0ed14, 0x39898f9246f5c7f, 0x3971b5a5d15f2af, 0x395ae9497bf391d,
    0x393fd5dd0cd696d, 0x39261dd6cb91345, 0x390b192900b80e8, 0x38f119b6e2befb4, 0x38db889090213b3,
    0x38bfa57836face9, 0x38a62df0e14410c, 0x388eac4ff2759ab, 0x387551da1991c7d, 0x3858169a3d314c8,
    0x3840f1d034451ff, 0x382bb9db2811cef, 0x3813e787d92ef94, 0x37f9c09d77cc416, 0x37e2593d85a5520,
    0x37cb9546ac5132c, 0x37b029ba8f8f1ba, 0x379b9e26a34a057, 0x377e2764154f308, 0x37677444e700f93,
    0x374ef646e7c6b1c, 0x3739dfa312204e2, 0x3721d27c263b8e9, 0x370b68889f8e1d9, 0x36f013a3c43eae9,
    0x36da23eb9df4453, 0x36c0c9465c4f033, 0x36a814eb0d8ea16, 0x3690faedb632f87, 0x367d03a49b6a1fe,
    0x366503f562ed3e8, 0x364d853ace482bd, 0x3636efc06446875, 0x36200c66ea9e9ae, 0x360859545c275ca,
    0x35f260b8c7d0313, 0x35da16caecb65fb, 0x35c61c989603be5, 0x35ad6a14a7c61cb, 0x359ae89a8f73a65,
    0x3583ab55dce434c, 0x356a7195accce44, 0x3556ab2ff7263eb, 0x353f4bb1da71646, 0x352b3545d72606d,
    0x3512ccea74140bb, 0x34fd34a62860f4b, 0x34e70100f583521, 0x34d3d8cd29918fe, 0x34b94c94d652747,
    0x34a5bb40de5138a, 0x3492ca4c4570eaf, 0x347905cab1ac474, 0x34646ac4a14cfb3, 0x344f9951a3238e8,
    0x343b8d488646623, 0x342607c2adc086c, 0x340f63c4f61f121, 0x33f87e6a2fc4703, 0x33e6fdb562f5292,
    0x33d3e0da31a5479, 0x33b99cdc077c885, 0x33a633b07ae8ec1, 0x33932568cb9fd11, 0x337fb039e57cbee,
    0x336b9d6b0ce523a, 0x33502e668a53579, 0x333f195f8bda811, 0x33286811e25370a, 0x3316352f2c9d66b,
    0x33032af3dac0c52, 0x32ee8408843d62a, 0x32d80c64f933e86, 0x32c4223512803f5, 0x32b3b6bf44e658e,
    0x329c4f4cfb7e0a6, 0x32880614bd963fc, 0x32758b2624537f2, 0x32602557a4598dd, 0x324fb3362fdc055,
    0x3238abf6b57dcd2, 0x322420698073b64, 0x3213bbef7e6ae9a, 0x31fdc5716fc0742, 0x31e9205906a3fcb,
    0x31da11a6d435b69, 0x31c60045cbfb694, 0x31b1060627fe2a6, 0x319c620b0481307, 0x3189f4bfb5d9a8d,
    0x317adba905d474e, 0x316702d129ab1f7, 0x31539e278f87ea5, 0x313cfc51f93f796, 0x312ea4091966647,
    0x311af2bafd01bd2, 0x310525115179c2f, 0x30f00713b2948a1, 0x30e36778301e093, 0x30ce9dec9fe22ec,
    0x30bab34301f1369, 0x30a9139d01a3270, 0x30942e70b3bca81, 0x30855759ff5be8a, 0x30716c2454ccf88,
    0x305e3fe30ff9760, 0x304f95068ccd5de, 0x30380381c1720df, 0x302b2483845498e, 0x301787ff46f5381,
    0x3007feb9274dd21, 0x2ff0d8c9cceffe9, 0x2fe186b7bcf5234, 0x2fcf8cc2bd8f001, 0x2fbeb516496ce6a,
    0x2faadd025256f9b, 0x2f9a2edc349fc30, 0x2f8801d29f4b148, 0x2f765cc1ba00e04, 0x2f65593b5892890,
    0x2f5182c8acc8ed3, 0x2f43e1116ecdb0f, 0x2f3164cb1c36d8c, 0x2f1d60e74919e4d, 0x2f0fc8d0ef5b4c6,
    0x2efd7541d6bad11, 0x2eea049fb1a5158, 0x2ed9a82de671225, 0x2ec8137d66a2806, 0x2ebb0c3b8af9336,
    0x2ea4e55129967b7, 0x2e97cb3b1abaa85, 0x2e8747fba91cec1, 0x2e7689ae7a9b126, 0x2e63cc41eccd36c,
    0x2e5267e9a4b97f0, 0x2e4172c3beedc9f, 0x2e318baca5b5787, 0x2e23a980fa9cd34, 0x2e111b97c65205f,
    0x2dfc3f9896cebe9, 0x2defe6eae2a5d96, 0x2dde8d3c515857a, 0x2dceff52b07e021, 0x2dbc64fd74b4b90,
    0x2dae4195358885b, 0x2d9c747c08d0bcd, 0x2d8f399ebf58db8, 0x2d7f29f704b04e1, 0x2d6d3c0e6400e4d,
    0x2d5ec48233d0576, 0x2d4d76886a95e7c, 0x2d3f64755e11ed2, 0x2d2f00426f59d7f, 0x2d1f1c15a59015c,
    0x2d0eeaca39441bb, 0x2cfe007a127bd30, 0x2cec53083b6c9e1, 0x2cde3aac49ef3b3, 0x2ccc727ec1bee5b,
    0x2cbc190671993f0, 0x2caeb0c6cd59c37, 0x2c9e20cf4730d45, 0x2c8cb54baa1bb98, 0x2c7d201577c8628,
    0x2c729572b8410a7, 0x2c6147174bb9c98, 0x2c504915f46227f, 0x2c43cfb3d8fa5e0, 0x2c3077a46f82d76,
    0x2c2346a0d9ef1ff, 0x2c15647b834b2a2, 0x2c06ab963458c11, 0x2bf70bdf7093181, 0x2be51a3c1bb734c,
    0x2bd8c9a4034b327, 0x2bc843c4752f891, 0x2bbab395660c78f, 0x2ba845c0f772d64, 0x2b9da2f003cb205,
    0x2b8e0894c91041e, 0x2b7f45a313eebaf, 0x2b725a0bdba95a9, 0x2b6349b83789d8e, 0x2b5214aa0628621,
    0x2b467932b568eec, 0x2b37ab912179222, 0x2b27195e7f7b392, 0x2b1b55521007c8d, 0x2b09cce16a9cd9c,
    0x2afa4a1c7d6a0b2, 0x2aefef9299b8137, 0x2ade1ec37ccf09e, 0x2ad3e48155ac6f6, 0x2ac15ed3b0c3de6,
    0x2ab34eea12e74f4, 0x2aa547012963610, 0x2a973b46d2df741, 0x2a8b7eb3ca633fa, 0x2a798dd091f05d6,
    0x2a6e23acaddac19, 0x2a5ef6570bc938e, 0x2a53d5d202e480d, 0x2a40ad9e36f2bea, 0x2a37c322011a3d2,
    0x2a248167d31c62b, 0x2a19b3cd8cb16ab, 0x2a08e0a50253286, 0x29fe167b29d562d, 0x29ece7d08d64ce2,
    0x29e20cb2e0c18ef, 0x29d6aa94812ef33, 0x29c77773b712da5, 0x29bae0a3303523b, 0x29a903f365cc897,
    0x299c226c557512f, 0x299274f219fbf61, 0x29800e2fb0b7e81, 0x29742bdded2446a, 0x29682ab9d9c8647,
    0x295920354dbf4d5, 0x294d565a980fdf5, 0x2943fa39d900ffd, 0x2930850af2ddeda, 0x292633743fc7d97,
    0x291ac2db4152247, 0x290b8f4fac0a9a5, 0x28fe74d163568aa, 0x28f29cbbbea4d0e, 0x28e785c5a3a5b08,
    0x28d73ece4a70b42, 0x28cb2bc7645ec43, 0x28bcc90b4f9bbb9, 0x28b05b658f55899, 0x28a1f46ae766296,
    0x28950b65cbbed31, 0x2889a184066aa9f, 0x287cc5a2be80e70, 0x286ec3382aed4ad, 0x2861e7d9fba88ef,
    0x2855cce138cb093, 0x28484f5387b9b2d, 0x283f7c613464176, 0x2831919eb06f71c, 0x2822f90f0467f38,
    0x2817d7bbcae66e5, 0x2809cc438cdf8ab, 0x27ffe88d58882f3, 0x27f1701cc1734e2, 0x27e5d84d8a0492a,
    0x27d8c88fa6ad8f3, 0x27ce1aa39b97ca6, 0x27c1dad7355f592, 0x27b136dc11e25f3, 0x27a5b7658e62fa4,
    0x2798e9e872a9cdf, 0x278fb887e66e257, 0x2783413e4fe8b49, 0x2774d61c5c7e051, 0x2769fd88695401e,
    0x275c727e4c81fc9, 0x275224cf7f8bff2, 0x27453963abdbb6d, 0x27380a7999eac21, 0x272d27e883d3acc,
    0x27235761cc006b3, 0x271594b318aead0, 0x270b1208d503ee2, 0x26ff3831186cba7, 0x26f1a6def504301,
    0x26e634ee2dc2609, 0x26d8f0a75531d0a, 0x26ce2004556df3f, 0x26c240f5622e274, 0x26b609a655a252d,
    0x26ae7321f3238fd, 0x26a12c7e8ffb0c1, 0x269688641f4a8e9, 0x26880d86cb65f40, 0x267f7c1fb1d7165,
    0x2672ce34ac670d5, 0x266437e08a47104, 0x265a279bba2b616, 0x264f4685662c7aa, 0x26470fc6d8c8e30,
    0x26380723f06203a, 0x262c66f0cd2d5d6, 0x2623b1d35fb8287, 0x2615a67379d5b76, 0x260a3fc67f3ab81,
    0x25fdb55b8d94d5a, 0x25f488dc167b753, 0x25e9721a1263477, 0x25dda0fa3237fba, 0x25d22dd2705bb0f,
    0x25c46efc2d0378a, 0x25bf424975f52f2, 0x25b235b8567b139, 0x25a64a981b2d730, 0x2599bd4a6e5bf74,
    0x2590101efc5cb55, 0x2584fc8f7bc6717, 0x257b1efcc5d119d, 0x256d9e0d9ba957a, 0x256533cd71698c9,
    0x255b8bc274934cb, 0x254e8efe26b03ab, 0x254252c244d0bae, 0x253935f4a365d93, 0x252ce3eec9674db,
    0x2520233f4eba847, 0x251b40ba175a31a, 0x250ca5d13db62d2, 0x25024794cc4ef8b, 0x24f9ecc215e45b0,
    0x24ef0c179c478fc, 0x24e2f4678ac4981, 0x24dac5c1345e558, 0x24ceaa7ae807fef, 0x24c1cc00e566f77,
    0x24b8d0b40741801, 0x24af9f88fb26f97, 0x24a00d28836a176, 0x2498baebbd86d89, 0x248fc3fdeb46799,
    0x248666671b849d0, 0x247909e8cd72346, 0x246edaed1398eae, 0x2464968d164aa49, 0x245a4c07f18e5bf,
    0x24514d538fa9847, 0x2447494620341a6, 0x243c42339cf103b, 0x243039466b731be, 0x24264550d6fe3c6,
    0x241dbafafbb140d, 0x2411aaec48dd008, 0x240aaa95d25704d, 0x23fdb15ff937eec, 0x23f42682f473bd5,
    0x23e8d470e478e1f, 0x23e19470713619b, 0x23d7da319c13abf, 0x23cca66472a12a1, 0x23c1d820da57cf3,
    0x23b95fe1879be3d, 0x23ac38566c3a6e4, 0x23a61b195731fde, 0x239abebea15fc41, 0x23938e2ded991b1,
    0x23878e64736993a, 0x237cd081d44cabf, 0x23732eca96516fb, 0x236b60172755bd3, 0x2362c66f333f748,
    0x235726fdda9a2b4, 0x234c337f0fa446b, 0x234280d162d874c, 0x233a08853ac43b8, 0x232e4045f6c2bf5,
    0x23261637b4c4307, 0x231c3832e3598fe, 0x2310ac45999f350, 0x230a8c99f9e227c, 0x22fc9f0aaa401d7,
    0x22f67ba93bfad56, 0x22eccbaa5ef34ad, 0x22e269fad7e7abe, 0x22db9226286a814, 0x22cf4ec77f43060,
    0x22c60556e1ff5dc, 0x22bdb5a2cc3d3db, 0x22b0c07ce67188a, 0x22a859d04dbdeb0, 0x22a0ae2225c03d1,
    0x2297be680019a71, 0x228c6950edd5c4b, 0x2286663076a96c1, 0x227a951452e9ebf, 0x22736fc56b23fe0,
    0x226b0bd3b0d87f5, 0x225de2cded80ea6, 0x2255046d526c1e0, 0x224d320221aa2e8, 0x2244605eb7ad202,
    0x223b3bb3359cfc0, 0x2231f2a1ee80dcb, 0x222b12e44b05e9e, 0x221ec98f7dc597f, 0x2215111403ec076,
    0x220e0c252a289ac, 0x220442f7c04dfef, 0x21f91d4d27ff367, 0x21f2f87dbb3bf05, 0x21eb8019411fc3a,
    0x21e19127428b600, 0x21d67ed3c3ec93b, 0x21ce6ba26eeca87, 0x21c67de756a6460, 0x21bde8e7d280946,
    0x21b3ff997cc1a89, 0x21ab47f8f46dd92, 0x21a1b5760fb4572, 0x219ad306a8d9251, 0x21923f5048e93ae,
    0x21845108f47a5f2, 0x217eda0ff788afa, 0x2174f92ac9968a5, 0x216ea67f2d44f00, 0x2167ee4af34eba7,
    0x215cf0f73ea9c4d, 0x2150ac1badbddcb, 0x214894d0733d884, 0x214349c3275d24e, 0x21394710b8f8063,
    0x21331d6d007e1cb, 0x212972369ca8e97, 0x211cbb434f97bff, 0x211627f13e32e18, 0x210cf9b97cfb04b,
    0x210633f3782de68, 0x20feef105064905, 0x20f458af558f185, 0x20efb3b29acf93b, 0x20e65853a35881b,
    0x20d85f083cd86ee, 0x20d22a78d262252, 0x20ca9d8dd891cd4, 0x20c3718ccc05ffa, 0x20ba758615bf7fb,
    0x20b18e6a5e1b6a7, 0x20aab71ff9e8c9a, 0x20a0009871bff2f, 0x209b91e623c2573, 0x2093a851ffe9ab9,
    0x208a97715f0d979, 0x207d62632dac20d, 0x2076b00c7702ec2, 0x206dabcb7ca4b22, 0x20650e9e883bdbb,
    0x205fa84a4f5e328, 0x20545f707c021e0, 0x204e31a650d8b87, 0x2044338b69b6347, 0x203d90e09832562,
    0x20358c9edcab0a2, 0x202f810e7bd36dc, 0x2026dfde30f9e62, 0x201f323a7d302e1, 0x201418e513808cc,
    0x200d4c4c625bb3c, 0x2003473de6af279,
};

/* -log(c/4096) in units of 2^-32 */
static const uint64_t rtlgen_ln_m[512] = {
    0x0, 0xc04824, 0x140c8a7, 0x1c189cb, 0x2428bd2, 0x2c3cefd, 0x3351f65, 0x3b6dd65, 0x438dd47,
    0x4bb1f4f, 0x52d4f8e, 0x5b00e52, 0x6330ffe, 0x6a5e88e, 0x7296868, 0x79cafca, 0x820aec4,
    0x89465cf, 0x918e4e2, 0x98d0c6e, 0xa120c92, 0xa86a57b, 0xafb7398, 0xb8132d2, 0xbf67393,
    0xc6bea20, 0xcf26a99, 0xd685517, 0xdde75fe, 0xe54cd80, 0xecb5bd1, 0xf422123, 0xfb91da8,
    0x10415d89, 0x10b8d108, 0x11307c5d, 0x11a85fbd, 0x12207b5c, 0x12879b64, 0x13002006, 0x1378dd7f,
    0x13f1d405, 0x146b03cf, 0x14e46d12, 0x155e1005, 0x15c6809f, 0x16408f47, 0x16bad83c, 0x1723d7a0,
    0x179e8d70, 0x18197e2f, 0x18830de4, 0x18fe6cab, 0x197a0702, 0x19e42898, 0x1a603228, 0x1acab369,
    0x1b472cfa, 0x1bb20e93, 0x1c1d1cde, 0x1c9a3b90, 0x1d05ab34, 0x1d833bdf, 0x1def0d8d, 0x1e5b0cb6,
    0x1ed9456c, 0x1f45a7a7, 0x1fb237d8, 0x201ef627, 0x209e0eab, 0x210b316b, 0x217882c5, 0x21e602e2,
    0x2253b1ea, 0x22c19004, 0x232f9d59, 0x239dda13, 0x240c4658, 0x248d564f, 0x24fc2a28, 0x256b2e11,
    0x25c7d628, 0x2637329a, 0x26a6bf92, 0x27167d3c, 0x27866bc0, 0x27f68b4b, 0x2866dc07, 0x28d75e1f,
    0x293545b2, 0x29a622ba, 0x2a17319a, 0x2a88727e, 0x2ae6f992, 0x2b58969c, 0x2bca6628, 0x2c3c6864,
    0x2c9b9119, 0x2d0df0b7, 0x2d6d677d, 0x2de02516, 0x2e531634, 0x2eb3069e, 0x2f2656a7, 0x2f86966c,
    0x2ffa45fe, 0x305ad5a2, 0x30cee55b, 0x312fc562, 0x31a435e4, 0x320566d5, 0x3266bcba, 0x32dbbb23,
    0x333d62b8, 0x33b2c378, 0x3414bd46, 0x3476dca2, 0x34eccd97, 0x354f3ff7, 0x35b1d840, 0x36149691,
    0x368b46e9, 0x36ee594c, 0x37519215, 0x37b4f162, 0x38187751, 0x38901800, 0x38f3f356, 0x3957f5b0,
    0x39bc1f2a, 0x3a206fe4, 0x3a84e7fd, 0x3ae98794, 0x3b4e4ec7, 0x3bb33db5, 0x3c185480, 0x3c7d9345,
    0x3ce2fa24, 0x3d48893e, 0x3dae40b1, 0x3e1420a0, 0x3e7a2929, 0x3ee05a6c, 0x3f46b48c, 0x3fad37a8,
    0x3fff57bd, 0x406624f2, 0x40cd1b80, 0x41343b88, 0x419b852b, 0x41ee4486, 0x4255d963, 0x42bd983a,
    0x4325812e, 0x4378c059, 0x43e0f56f, 0x44495502, 0x44b1df34, 0x45059fbc, 0x456e76fe, 0x45d77941,
    0x462b9a1f, 0x4694ea24, 0x46e94964, 0x4752e79e, 0x47bcb17d, 0x48117281, 0x487b8b4c, 0x48d08ba1,
    0x493af3cc, 0x499033d2, 0x49faebd6, 0x4a506bec, 0x4abb743f, 0x4b1134c6, 0x4b7c8de3, 0x4bd28f3c,
    0x4c28ad84, 0x4c947c2a, 0x4ceadbd2, 0x4d56fc6f, 0x4dad9dda, 0x4e045ca1, 0x4e70f47f, 0x4ec7f59a,
    0x4f1f1452, 0x4f8c2479, 0x4fe38619, 0x503b0597, 0x5092a306, 0x5100520e, 0x51583329, 0x51b0327a,
    0x52085015, 0x52769fce, 0x52cf01dc, 0x53278278, 0x538021b7, 0x53d8dfae, 0x5431bc74, 0x54a0fbdd,
    0x54fa1e3f, 0x55535fb6, 0x55acc056, 0x56064036, 0x565fdf6a, 0x56b99e0a, 0x57137c2a, 0x576d79e2,
    0x57c79748, 0x5821d471, 0x587c3175, 0x58d6ae69, 0x59314b65, 0x598c087f, 0x59e6e5ce, 0x5a41e369,
    0x5a9d0167, 0x5af83fde, 0x5b539ee7, 0x5baf1e98, 0x5c0abf08, 0x5c668050, 0x5cc26287, 0x5d1e65c4,
    0x5d637dec, 0x5dbfbb2e, 0x5e1c19b8, 0x5e7899a1, 0x5ed53b04, 0x5f31fdf6, 0x5f77a642, 0x5fd4a42c,
    0x6031c3ea, 0x608f0595, 0x60d50d27, 0x61328a6b, 0x619029df, 0x61edeb9e, 0x6234537c, 0x62925178,
    0x62f07203, 0x63372129, 0x63957e6c, 0x63f3fe85, 0x643af583, 0x6499b2cf, 0x64f89338, 0x653fd2a1,
    0x659ef0bb, 0x65fe3239, 0x6645baa1, 0x66a53a4f, 0x66ecf179, 0x674cafa8, 0x67ac91b2, 0x67f492d3,
    0x6854b3df, 0x689ce460, 0x68fd44c2, 0x6945a4e2, 0x69a644ec, 0x69eed4ea, 0x6a4fb4f2, 0x6a98750d,
    0x6af99567, 0x6b4285e0, 0x6ba3e6e1, 0x6bed07f8, 0x6c4ea9f7, 0x6c97fbed, 0x6ce162e9, 0x6d436257,
    0x6d8cfa90, 0x6def3bd1, 0x6e390589, 0x6e82e48b, 0x6ee5846e, 0x6f2f954f, 0x6f79bba4, 0x6fdcbadf,
    0x70271373, 0x707181a4, 0x70d4e0f2, 0x711f81c4, 0x716a385e, 0x71cdf878, 0x7218e216, 0x7263e1a6,
    0x72aef735, 0x73133642, 0x735e7f57, 0x73a9de97, 0x73f5540e, 0x745a1352, 0x74a5bcd3, 0x74f17cb7,
    0x753d530c, 0x75a293d1, 0x75ee9eb6, 0x763ac038, 0x7686f865, 0x76d34749, 0x771facf4, 0x7785ad5b,
    0x77d2485d, 0x781efa53, 0x786bc349, 0x78b8a34f, 0x79059a71, 0x7952a8be, 0x799fce43, 0x79ed0b0f,
    0x7a542b17, 0x7aa19e69, 0x7aef2931, 0x7b3ccb7c, 0x7b8a855a, 0x7bd856d9, 0x7c264006, 0x7c7440f1,
    0x7cc259a7, 0x7d108a38, 0x7d5ed2b2, 0x7dad3323, 0x7dfbab9a, 0x7e4a3c27, 0x7e98e4d7, 0x7ee7a5ba,
    0x7f367edf, 0x7f857054, 0x7fd47a29, 0x80239c6c, 0x8072d72d, 0x80c22a7b, 0x80f71a5a, 0x814696b5,
    0x81962bc5, 0x81e5d99b, 0x8235a044, 0x82857fd2, 0x82d57854, 0x832589d8, 0x8375b46f, 0x83ab341f,
    0x83fb88a4, 0x844bf665, 0x849c7d72, 0x84ed1ddd, 0x853dd7b4, 0x858eab08, 0x85c49b71, 0x86159963,
    0x8666b0fd, 0x86b7e24f, 0x87092d6a, 0x873f6dd6, 0x8790e40e, 0x87e2743a, 0x88341e6b, 0x886a9e5e,
    0x88bc7411, 0x890e63f5, 0x89606e1c, 0x89972e2a, 0x89e96439, 0x8a3bb4b8, 0x8a8e1fb7, 0x8ac52078,
    0x8b17b7c8, 0x8b6a69c6, 0x8ba199f4, 0x8bf47890, 0x8c477207, 0x8c7ed1f6, 0x8cd1f858, 0x8d2539c5,
    0x8d5cc9c7, 0x8db0386d, 0x8e03c24d, 0x8e3b82b6, 0x8e8f3a1d, 0x8ee30cef, 0x8f1afe13, 0x8f6efebb,
    0x8fa70e80, 0x8ffb3d33, 0x904f879d, 0x9087c8a9, 0x90dc416e, 0x9114a172, 0x916948c5, 0x91a1c7e4,
    0x91f69df9, 0x924b9034, 0x9284415e, 0x92d962ae, 0x9312334c, 0x936783e5, 0x93a0741b, 0x93f5f431,
    0x942f0421, 0x9484b3e9, 0x94bde3b8, 0x9513c368, 0x954d1338, 0x95a32306, 0x95dc92fb, 0x9632d31c,
    0x966c635b, 0x96c2d406, 0x96fc84b4, 0x9753261f, 0x978cf75f, 0x97c6d5b1, 0x981dbbba, 0x9857bad3,
    0x98aed221, 0x98e8f225, 0x99403af1, 0x997a7c06, 0x99b4ca60, 0x9a0c58d4, 0x9a46c873, 0x9a9e88ed,
    0x9ad919f8, 0x9b13b86d, 0x9b6bbf4e, 0x9ba67f64, 0x9bfeb8d5, 0x9c399ab4, 0x9c748a21, 0x9ccd0abd,
    0x9d081c29, 0x9d433b39, 0x9d9c0372, 0x9dd744b9, 0x9e1293b9, 0x9e6ba405, 0x9ea71573, 0x9ee294b2,
    0x9f3bed86, 0x9f778f6b, 0x9fb33f37, 0x9feefcf1, 0xa048b3b3, 0xa084945c, 0xa0c08309, 0xa11a8364,
    0xa156953a, 0xa192b52b, 0xa1cee33f, 0xa22942eb, 0xa2659471, 0xa2a1f431, 0xa2de6232, 0xa33921fa,
    0xa375b3b9, 0xa3b253d0, 0xa3ef0246, 0xa44a22f7, 0xa486f578, 0xa4c3d670, 0xa500c5e5, 0xa53dc3df,
    0xa5995c1e, 0xa5d67e81, 0xa613af82, 0xa650ef26, 0xa68e3d75, 0xa6cb9a77, 0xa727c196, 0xa7654373,
    0xa7a2d41a, 0xa7e07394, 0xa81e21e6, 0xa85bdf19, 0xa8b896d9, 0xa8f6795b, 0xa9346ad7, 0xa9726b53,
    0xa9b07ad7, 0xa9ee996b, 0xaa2cc714, 0xaa6b03dc, 0xaac87b70, 0xab06de22, 0xab45500c, 0xab83d135,
    0xabc261a5, 0xac010163, 0xac3fb076, 0xac7e6ee7, 0xacbd3cbb, 0xacfc19fc, 0xad3b06b1, 0xad9986ca,
    0xadd89a41, 0xae17bd47, 0xae56efe3, 0xae96321c, 0xaed583fc, 0xaf14e588, 0xaf5456ca, 0xaf93d7c8,
    0xafd3688b, 0xb013091a, 0xb052b97e, 0xb09279be, 0xb0d249e3, 0xb11229f3, 0xb17217f7,
};

/* z in units of 2^-64, of 1 + 52 bits of m, and c */
static uint64_t rtlgen_ln_z(uint64_t c, uint64_t mantissa)
{
  return (c << 52) + ((mantissa >> 34) * c << 34) + ((mantissa >> 17 & 0x1ffff) * c << 17) + (mantissa & 0x1ffff) * c;
}

/* the logarithm of 2^k m times a factor in [1, 2), in units of 2^-63, times 2^up, rounded so that the last bits are 0,
 * so many; |z| is w, in units of 2^-64, and `scaled`, beside 1 in units of 2^-64 2^-scale */
static uint64_t rtlgen_ln_of(int k, int near, uint64_t row, uint64_t row_m, int below, uint64_t w, uint64_t scaled, int scale,
                             uint64_t factor, int up, int zero_bits)
{
  /* d in units of 2^-73, p in units of 2^-64 */
  uint64_t h = w << 9;
  uint64_t t5 = rtlgen_short(h, 0x2aaab4aaacaaab0f) >> 9;
  uint64_t p4 = below ? 0x33333ea0ec4784e5 + t5 : 0x33333ea0ec4784e5 - t5;
  uint64_t t4 = rtlgen_short(h, p4) >> 9;
  uint64_t p3 = below ? 0x3fffffffff5fffd8 + t4 : 0x3fffffffff5fffd8 - t4;
  uint64_t t3 = rtlgen_middle(h, p3) >> 9;
  uint64_t p2 = below ? 0x55555555549e79bb + t3 : 0x55555555549e79bb - t3;
  uint64_t t2 = rtlgen_middle(h, p2) >> 9;
  uint64_t p1 = below ? 0x8000000000000000 + t2 : 0x8000000000000000 - t2;
  uint64_t d = rtlgen_high(h, p1);
  uint64_t b = rtlgen_high(scaled << 9, d) >> 4;

  /* |log(1 + z)| and log x in units of 2^-78: 46 bits, and what is above */
  int64_t b_low = b & 0x3fffffffffff, b_high = b >> 46;
  int64_t z_low = (scaled & 0xffffffff) << 14, z_high = scaled >> 32;
  int64_t size_low = below ? z_low + b_low : z_low - b_low, size_high = below ? z_high + b_high : z_high - b_high;
  int64_t row_low = row & 0x3fffffffffff, row_high = row_m;
  int64_t base_low = near ? 0 : row_low + k * 0x3473de6af279, base_high = near ? 0 : row_high + k * 0xb17217f7l;
  int64_t sum = below ? base_low - size_low : base_low + size_low;
  int64_t high = (below ? base_high - size_high : base_high + size_high) + (sum >> 46);
  uint64_t low = sum & 0x3fffffffffff;

  /* |log x| in units of 2^-64, from 1 on 2^-54 */
  int negative = high < 0;
  uint64_t low_bits = (negative ? 0 - low : low) & 0x3fffffffffff;
  uint64_t high_bits = negative ? (uint64_t)(0 - high) - (low != 0) : (uint64_t)high;
  int is_large = high_bits >> 32 != 0;
  uint64_t v = is_large ? high_bits << 22 | low_bits >> 24 : high_bits << 32 | low_bits >> 14;
  uint32_t v_16 = rtlgen_sixteen(v), v_4 = rtlgen_four(v_16);
  int zeros = rtlgen_zeros(v, v_16, v_4);
  uint64_t rest = low_bits << (is_large ? 40 : 50);
  uint64_t p = rtlgen_high(v << (zeros & 63) | rest >> 1 >> (63 - zeros & 63), factor);
  uint64_t exponent = (is_large ? 1031 : 1021) - zeros - scale + up + (p >> 63);
  uint64_t guarded = p >> 63 ? p >> 10 : p >> 9;
  uint64_t rounded = (exponent << 52) + (guarded + (1ul << zero_bits) >> zero_bits + 1 << zero_bits);

  return (negative ? 0x8000000000000000 : 0) | rounded;
}

/* log x times a factor, likewise */
static uint64_t rtlgen_ln_times(uint64_t x, uint64_t factor, int up, int zero_bits)
{
  /* a subnormal x is shifted up */
  uint64_t s0 = x & 0xfffffffffffff;
  uint32_t s_16 = rtlgen_sixteen(s0), s_4 = rtlgen_four(s_16);
  int shift = rtlgen_zeros(s0, s_16, s_4) - 12;
  int is_subnormal = (x >> 52 & 0x7ff) == 0;
  uint64_t mantissa = is_subnormal ? s0 << (shift + 1 & 63) & 0xfffffffffffff : s0;
  int k = is_subnormal ? -1023 - shift : (int)(x >> 52 & 0x7ff) - 1023;

  uint32_t part = mantissa >> 43;
  int near = (k == 0 && part == 0) || (k == -1 && part == 511);
  uint64_t row = rtlgen_ln_c[part];

  /* beside 1, |z| is shifted up to 55 bits */
  uint64_t z = rtlgen_ln_z(row >> 46 & 0x1fff, mantissa);
  int below = (int)(z >> 63);
  uint64_t w = (below ? 0 - z : z) & 0x7fffffffffffff;
  uint32_t w_16 = rtlgen_sixteen(w), w_4 = rtlgen_four(w_16);
  int scale = near ? rtlgen_zeros(w, w_16, w_4) - 9 : 0;
  uint64_t scaled = w << (scale & 63) & 0x7fffffffffffff;
  uint64_t found = rtlgen_ln_of(k, near, row, rtlgen_ln_m[part], below, w, scaled, scale, factor, up, zero_bits);

  return (x & 0x7fffffffffffffff) == 0 ? 0xfff0000000000000
         : x > 0x7ff0000000000000      ? 0x7ff8000000000000
         : x == 0x7ff0000000000000     ? 0x7ff0000000000000
         : x == 0x3ff0000000000000     ? 0
                                       : found;
}
