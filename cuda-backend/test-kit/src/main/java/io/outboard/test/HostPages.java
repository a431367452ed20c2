package io.outboard.test;

import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;

/**
 * These pages of host memory are behind device addresses. A page is made when it is first touched, so a large device
 * costs no more than what a test uses of it. External lock required.
 */
final class HostPages {

    /** The value of bytes that nobody has written: fresh device memory isn't zero, so tests mustn't rely on that. */
    static final byte FRESH = (byte) 0xA5;

    private static final int PAGE_BYTES = 1 << 16;

    private final Map<Long, byte[]> pages = new HashMap<>();

    /** Does something with a part of a page. */
    private interface PartVisitor {
        void visit(byte[] page, int from, int bytes, int done);
    }

    void read(final long address, final byte[] to) {
        forEachPart(address, to.length, (page, from, bytes, done) -> System.arraycopy(page, from, to, done, bytes));
    }

    void write(final long address, final byte[] bytes) {
        forEachPart(address, bytes.length, (page, from, part, done) -> System.arraycopy(bytes, done, page, from, part));
    }

    void fill(final long address, final long sizeBytes, final byte value) {
        for (long done = 0; done < sizeBytes; done += PAGE_BYTES) {
            final int part = (int) Math.min(PAGE_BYTES, sizeBytes - done);
            forEachPart(address + done, part, (page, from, bytes, at) -> Arrays.fill(page, from, from + bytes, value));
        }
    }

    private void forEachPart(final long address, final int sizeBytes, final PartVisitor visitor) {
        int done = 0;
        while (done < sizeBytes) {
            final long at = address + done;
            final int from = (int) (at & (PAGE_BYTES - 1));
            final int bytes = Math.min(PAGE_BYTES - from, sizeBytes - done);
            visitor.visit(pages.computeIfAbsent(at / PAGE_BYTES, number -> freshPage()), from, bytes, done);
            done += bytes;
        }
    }

    private static byte[] freshPage() {
        final byte[] page = new byte[PAGE_BYTES];
        Arrays.fill(page, FRESH);
        return page;
    }
}
