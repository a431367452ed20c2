package io.outboard.pool.internal.guard;

/**
 * Makes sure that what follows finds stack enough. A {@link StackOverflowError} in the middle of a strategy would leave it half
 * changed; here nothing has changed yet.
 *
 * <p>The virtual machine finds an overflow when a method is entered, by touching the stack a fixed distance below its frame,
 * whoever executes it. So a method that is entered from within a large frame finds it before any that is entered from as many
 * small ones: {@link #claim} has such a frame, of 2 KiB, in the interpreter by its local variables, compiled by the arguments of
 * a call. It makes that call once in a thousand times, which is enough for the frame to be that large always. Critical sections
 * need less, and compiled much less. Tested at every depth and with every compiler.
 *
 * <p>Safe for any number of threads. Cost: two calls, some two nanoseconds.
 *
 * <p>Public for the pool's other packages, not for applications.
 */
public final class StackReserve {

    private static final int CALLED_EVERY = 1024;

    /** Compiled, each takes some 24 bytes. */
    private static final int MORE_FRAMES = 256;

    private StackReserve() {}

    /**
     * Throws {@link StackOverflowError}, or leaves 2 KiB.
     *
     * @param n counts, so that it isn't always the same
     */
    // Not formatted: a local variable a line is no help to anyone.
    static int claim(final int n) {
        if ((n & (CALLED_EVERY - 1)) != 0) {
            return enter(n);
        }
        final int p0 = n + 0, p1 = n + 1, p2 = n + 2, p3 = n + 3, p4 = n + 4, p5 = n + 5, p6 = n + 6, p7 = n + 7;
        final int p8 = n + 8, p9 = n + 9, p10 = n + 10, p11 = n + 11, p12 = n + 12, p13 = n + 13, p14 = n + 14, p15 = n + 15;
        final int p16 = n + 16, p17 = n + 17, p18 = n + 18, p19 = n + 19, p20 = n + 20, p21 = n + 21, p22 = n + 22, p23 = n + 23;
        final int p24 = n + 24, p25 = n + 25, p26 = n + 26, p27 = n + 27, p28 = n + 28, p29 = n + 29, p30 = n + 30, p31 = n + 31;
        final int p32 = n + 32, p33 = n + 33, p34 = n + 34, p35 = n + 35, p36 = n + 36, p37 = n + 37, p38 = n + 38, p39 = n + 39;
        final int p40 = n + 40, p41 = n + 41, p42 = n + 42, p43 = n + 43, p44 = n + 44, p45 = n + 45, p46 = n + 46, p47 = n + 47;
        final int p48 = n + 48, p49 = n + 49, p50 = n + 50, p51 = n + 51, p52 = n + 52, p53 = n + 53, p54 = n + 54, p55 = n + 55;
        final int p56 = n + 56, p57 = n + 57, p58 = n + 58, p59 = n + 59, p60 = n + 60, p61 = n + 61, p62 = n + 62, p63 = n + 63;
        final int p64 = n + 64, p65 = n + 65, p66 = n + 66, p67 = n + 67, p68 = n + 68, p69 = n + 69, p70 = n + 70, p71 = n + 71;
        final int p72 = n + 72, p73 = n + 73, p74 = n + 74, p75 = n + 75, p76 = n + 76, p77 = n + 77, p78 = n + 78, p79 = n + 79;
        final int p80 = n + 80, p81 = n + 81, p82 = n + 82, p83 = n + 83, p84 = n + 84, p85 = n + 85, p86 = n + 86, p87 = n + 87;
        final int p88 = n + 88, p89 = n + 89, p90 = n + 90, p91 = n + 91, p92 = n + 92, p93 = n + 93, p94 = n + 94, p95 = n + 95;
        final int p96 = n + 96, p97 = n + 97, p98 = n + 98, p99 = n + 99, p100 = n + 100, p101 = n + 101, p102 = n + 102, p103 = n + 103;
        final int p104 = n + 104, p105 = n + 105, p106 = n + 106, p107 = n + 107, p108 = n + 108, p109 = n + 109, p110 = n + 110, p111 = n + 111;
        final int p112 = n + 112, p113 = n + 113, p114 = n + 114, p115 = n + 115, p116 = n + 116, p117 = n + 117, p118 = n + 118, p119 = n + 119;
        final int p120 = n + 120, p121 = n + 121, p122 = n + 122, p123 = n + 123, p124 = n + 124, p125 = n + 125, p126 = n + 126, p127 = n + 127;
        final int p128 = n + 128, p129 = n + 129, p130 = n + 130, p131 = n + 131, p132 = n + 132, p133 = n + 133, p134 = n + 134, p135 = n + 135;
        final int p136 = n + 136, p137 = n + 137, p138 = n + 138, p139 = n + 139, p140 = n + 140, p141 = n + 141, p142 = n + 142, p143 = n + 143;
        final int p144 = n + 144, p145 = n + 145, p146 = n + 146, p147 = n + 147, p148 = n + 148, p149 = n + 149, p150 = n + 150, p151 = n + 151;
        final int p152 = n + 152, p153 = n + 153, p154 = n + 154, p155 = n + 155, p156 = n + 156, p157 = n + 157, p158 = n + 158, p159 = n + 159;
        final int p160 = n + 160, p161 = n + 161, p162 = n + 162, p163 = n + 163, p164 = n + 164, p165 = n + 165, p166 = n + 166, p167 = n + 167;
        final int p168 = n + 168, p169 = n + 169, p170 = n + 170, p171 = n + 171, p172 = n + 172, p173 = n + 173, p174 = n + 174, p175 = n + 175;
        final int p176 = n + 176, p177 = n + 177, p178 = n + 178, p179 = n + 179, p180 = n + 180, p181 = n + 181, p182 = n + 182, p183 = n + 183;
        final int p184 = n + 184, p185 = n + 185, p186 = n + 186, p187 = n + 187, p188 = n + 188, p189 = n + 189, p190 = n + 190, p191 = n + 191;
        final int p192 = n + 192, p193 = n + 193, p194 = n + 194, p195 = n + 195, p196 = n + 196, p197 = n + 197, p198 = n + 198, p199 = n + 199;
        final int p200 = n + 200, p201 = n + 201, p202 = n + 202, p203 = n + 203, p204 = n + 204, p205 = n + 205, p206 = n + 206, p207 = n + 207;
        final int p208 = n + 208, p209 = n + 209, p210 = n + 210, p211 = n + 211, p212 = n + 212, p213 = n + 213, p214 = n + 214, p215 = n + 215;
        final int p216 = n + 216, p217 = n + 217, p218 = n + 218, p219 = n + 219, p220 = n + 220, p221 = n + 221, p222 = n + 222, p223 = n + 223;
        final int p224 = n + 224, p225 = n + 225, p226 = n + 226, p227 = n + 227, p228 = n + 228, p229 = n + 229, p230 = n + 230, p231 = n + 231;
        final int p232 = n + 232, p233 = n + 233, p234 = n + 234, p235 = n + 235, p236 = n + 236, p237 = n + 237, p238 = n + 238, p239 = n + 239;
        final int p240 = n + 240, p241 = n + 241, p242 = n + 242, p243 = n + 243, p244 = n + 244, p245 = n + 245, p246 = n + 246, p247 = n + 247;
        final int p248 = n + 248, p249 = n + 249;
        return fill(
                p0, p1, p2, p3, p4, p5, p6, p7, p8, p9, p10, p11, p12, p13, p14, p15, p16, p17, p18, p19, p20, p21,
                p22, p23, p24, p25, p26, p27, p28, p29, p30, p31, p32, p33, p34, p35, p36, p37, p38, p39, p40, p41,
                p42, p43, p44, p45, p46, p47, p48, p49, p50, p51, p52, p53, p54, p55, p56, p57, p58, p59, p60, p61,
                p62, p63, p64, p65, p66, p67, p68, p69, p70, p71, p72, p73, p74, p75, p76, p77, p78, p79, p80, p81,
                p82, p83, p84, p85, p86, p87, p88, p89, p90, p91, p92, p93, p94, p95, p96, p97, p98, p99, p100,
                p101, p102, p103, p104, p105, p106, p107, p108, p109, p110, p111, p112, p113, p114, p115, p116,
                p117, p118, p119, p120, p121, p122, p123, p124, p125, p126, p127, p128, p129, p130, p131, p132,
                p133, p134, p135, p136, p137, p138, p139, p140, p141, p142, p143, p144, p145, p146, p147, p148,
                p149, p150, p151, p152, p153, p154, p155, p156, p157, p158, p159, p160, p161, p162, p163, p164,
                p165, p166, p167, p168, p169, p170, p171, p172, p173, p174, p175, p176, p177, p178, p179, p180,
                p181, p182, p183, p184, p185, p186, p187, p188, p189, p190, p191, p192, p193, p194, p195, p196,
                p197, p198, p199, p200, p201, p202, p203, p204, p205, p206, p207, p208, p209, p210, p211, p212,
                p213, p214, p215, p216, p217, p218, p219, p220, p221, p222, p223, p224, p225, p226, p227, p228,
                p229, p230, p231, p232, p233, p234, p235, p236, p237, p238, p239, p240, p241, p242, p243, p244,
                p245, p246, p247, p248, p249);
    }

    /** Throws {@link StackOverflowError}, or leaves 8 KiB and more: for what takes other locks and calls the device. */
    public static void claimMore() {
        if (descend(MORE_FRAMES) < 0) {
            throw new AssertionError("it counts up");
        }
    }

    private static int descend(final int frames) {
        return frames == 0 ? claim(CALLED_EVERY) & 1 : descend(frames - 1) + 1;
    }

    /** Too large to be inlined, so that it is entered. */
    private static int enter(final int n) {
        int mixed = n;
        if (n == Integer.MIN_VALUE) {
            mixed = (mixed ^ (mixed >>> 1)) * 73244475;
            mixed = (mixed ^ (mixed >>> 2)) * 73244477;
            mixed = (mixed ^ (mixed >>> 3)) * 73244479;
            mixed = (mixed ^ (mixed >>> 4)) * 73244481;
            mixed = (mixed ^ (mixed >>> 5)) * 73244483;
            mixed = (mixed ^ (mixed >>> 6)) * 73244485;
            mixed = (mixed ^ (mixed >>> 7)) * 73244487;
            mixed = (mixed ^ (mixed >>> 8)) * 73244489;
            mixed = (mixed ^ (mixed >>> 9)) * 73244491;
            mixed = (mixed ^ (mixed >>> 10)) * 73244493;
            mixed = (mixed ^ (mixed >>> 11)) * 73244495;
            mixed = (mixed ^ (mixed >>> 12)) * 73244497;
            mixed = (mixed ^ (mixed >>> 13)) * 73244499;
            mixed = (mixed ^ (mixed >>> 1)) * 73244501;
            mixed = (mixed ^ (mixed >>> 2)) * 73244503;
            mixed = (mixed ^ (mixed >>> 3)) * 73244505;
            mixed = (mixed ^ (mixed >>> 4)) * 73244507;
            mixed = (mixed ^ (mixed >>> 5)) * 73244509;
            mixed = (mixed ^ (mixed >>> 6)) * 73244511;
            mixed = (mixed ^ (mixed >>> 7)) * 73244513;
            mixed = (mixed ^ (mixed >>> 8)) * 73244515;
            mixed = (mixed ^ (mixed >>> 9)) * 73244517;
            mixed = (mixed ^ (mixed >>> 10)) * 73244519;
            mixed = (mixed ^ (mixed >>> 11)) * 73244521;
            mixed = (mixed ^ (mixed >>> 12)) * 73244523;
            mixed = (mixed ^ (mixed >>> 13)) * 73244525;
            mixed = (mixed ^ (mixed >>> 1)) * 73244527;
            mixed = (mixed ^ (mixed >>> 2)) * 73244529;
            mixed = (mixed ^ (mixed >>> 3)) * 73244531;
            mixed = (mixed ^ (mixed >>> 4)) * 73244533;
            mixed = (mixed ^ (mixed >>> 5)) * 73244535;
            mixed = (mixed ^ (mixed >>> 6)) * 73244537;
            mixed = (mixed ^ (mixed >>> 7)) * 73244539;
            mixed = (mixed ^ (mixed >>> 8)) * 73244541;
            mixed = (mixed ^ (mixed >>> 9)) * 73244543;
            mixed = (mixed ^ (mixed >>> 10)) * 73244545;
            mixed = (mixed ^ (mixed >>> 11)) * 73244547;
            mixed = (mixed ^ (mixed >>> 12)) * 73244549;
            mixed = (mixed ^ (mixed >>> 13)) * 73244551;
            mixed = (mixed ^ (mixed >>> 1)) * 73244553;
        }
        return mixed;
    }

    @SuppressWarnings("UnusedVariable") // What counts is that there are so many.
    private static int fill(
            int p0, int p1, int p2, int p3, int p4, int p5, int p6, int p7, int p8, int p9, int p10, int p11,
            int p12, int p13, int p14, int p15, int p16, int p17, int p18, int p19, int p20, int p21, int p22,
            int p23, int p24, int p25, int p26, int p27, int p28, int p29, int p30, int p31, int p32, int p33,
            int p34, int p35, int p36, int p37, int p38, int p39, int p40, int p41, int p42, int p43, int p44,
            int p45, int p46, int p47, int p48, int p49, int p50, int p51, int p52, int p53, int p54, int p55,
            int p56, int p57, int p58, int p59, int p60, int p61, int p62, int p63, int p64, int p65, int p66,
            int p67, int p68, int p69, int p70, int p71, int p72, int p73, int p74, int p75, int p76, int p77,
            int p78, int p79, int p80, int p81, int p82, int p83, int p84, int p85, int p86, int p87, int p88,
            int p89, int p90, int p91, int p92, int p93, int p94, int p95, int p96, int p97, int p98, int p99,
            int p100, int p101, int p102, int p103, int p104, int p105, int p106, int p107, int p108, int p109,
            int p110, int p111, int p112, int p113, int p114, int p115, int p116, int p117, int p118, int p119,
            int p120, int p121, int p122, int p123, int p124, int p125, int p126, int p127, int p128, int p129,
            int p130, int p131, int p132, int p133, int p134, int p135, int p136, int p137, int p138, int p139,
            int p140, int p141, int p142, int p143, int p144, int p145, int p146, int p147, int p148, int p149,
            int p150, int p151, int p152, int p153, int p154, int p155, int p156, int p157, int p158, int p159,
            int p160, int p161, int p162, int p163, int p164, int p165, int p166, int p167, int p168, int p169,
            int p170, int p171, int p172, int p173, int p174, int p175, int p176, int p177, int p178, int p179,
            int p180, int p181, int p182, int p183, int p184, int p185, int p186, int p187, int p188, int p189,
            int p190, int p191, int p192, int p193, int p194, int p195, int p196, int p197, int p198, int p199,
            int p200, int p201, int p202, int p203, int p204, int p205, int p206, int p207, int p208, int p209,
            int p210, int p211, int p212, int p213, int p214, int p215, int p216, int p217, int p218, int p219,
            int p220, int p221, int p222, int p223, int p224, int p225, int p226, int p227, int p228, int p229,
            int p230, int p231, int p232, int p233, int p234, int p235, int p236, int p237, int p238, int p239,
            int p240, int p241, int p242, int p243, int p244, int p245, int p246, int p247, int p248, int p249) {
        return enter(p0 ^ p249);
    }
}
