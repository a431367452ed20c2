package io.outboard.hal;

/**
 * This bitmap makes its words by the page, when one of a page is first written: many bits take little memory as long as
 * most of them are alike. For few bits, {@link BoundaryBitmap} is faster: the JVM inlines its methods as long as a
 * program has no paged bitmap.
 *
 * <p>Confined to one thread. No garbage.
 */
class PagedBitmap extends BoundaryBitmap {

    /** The words of a page: 64 KiB, which are made in some microseconds. */
    static final int PAGE_WORDS = 1 << 13;

    private final long[][] pages;
    private final int pageLog2;
    private int pagesMade;

    /**
     * Makes bits that are all 0.
     *
     * @param length how many, from 1 to 2^32
     * @param pageWords words of a page, a power of two, no less than a node has
     */
    PagedBitmap(final long length, final int pageWords) {
        super(length, 0);
        pageLog2 = Integer.numberOfTrailingZeros(pageWords);
        pages = new long[((wordsFor(length) - 1) >>> pageLog2) + 1][];
    }

    @Override
    long hostBytes() {
        return super.hostBytes() + Integer.BYTES * (long) pages.length + (((long) pagesMade * Long.BYTES) << pageLog2);
    }

    @Override
    long word(final int word) {
        return arrayOf(word)[indexOf(word)];
    }

    @Override
    long[] arrayOf(final int word) {
        return pages[word >>> pageLog2];
    }

    @Override
    int indexOf(final int word) {
        return word & ((1 << pageLog2) - 1);
    }

    /**
     * {@inheritDoc} Where that is a node's first, no part of a node changes. Where a block ends, both values are, so
     * there is a page: a free makes none.
     */
    @Override
    void prepare(final long end) {
        final int page = (int) (end >>> WORD_LOG2) >>> pageLog2;
        if (end % NODE_BITS != 0 && pages[page] == null) {
            pages[page] = new long[1 << pageLog2];
            pagesMade++;
        }
    }
}
