package io.outboard.pool;

import io.outboard.core.BlockVisitor;
import io.outboard.core.Region;
import io.outboard.core.Strategy;
import io.outboard.core.StrategyModule;
import io.outboard.core.StrategyOptions;
import io.outboard.core.StrategyProvider;
import io.outboard.core.spi.AbstractStrategy;
import java.util.List;

/** The cheapest strategy: a region is one block. jcstress makes millions of pools. */
public final class OneBlockProvider implements StrategyProvider, StrategyModule {

    @Override
    public List<StrategyProvider> strategies() {
        return List.of(this);
    }

    @Override
    public String name() {
        return "one-block";
    }

    @Override
    public String description() {
        return "a region is one block";
    }

    @Override
    public Strategy create(final Region region, final StrategyOptions options) {
        return new OneBlock(region, options);
    }

    private static final class OneBlock extends AbstractStrategy {

        private static final long ONLY_BLOCK = 0;

        private boolean used;
        private boolean retired;

        OneBlock(final Region region, final StrategyOptions options) {
            super(region, options);
        }

        @Override
        protected long blockSize(final long size) {
            return granules();
        }

        @Override
        protected long place(final long size) {
            if (used) {
                return NO_SPACE;
            }
            used = true;
            return 0;
        }

        @Override
        protected long placeAligned(final long size, final long alignmentMask) {
            return padding(0, alignmentMask) == 0 ? place(size) : NO_SPACE;
        }

        @Override
        protected long end(final int start) {
            final long size = sizeAt(start);
            used &= size == 0;
            return size;
        }

        @Override
        protected long withdraw(final int start) {
            if (sizeAt(start) == 0) {
                return NO_BLOCK;
            }
            retired = true;
            return ONLY_BLOCK;
        }

        @Override
        protected long endRetired(final long block) {
            retired = false;
            used = false;
            return granules();
        }

        @Override
        protected void readmit(final long block) {
            retired = false;
        }

        @Override
        protected long retiredStart(final long block) {
            return 0;
        }

        @Override
        protected long retiredSize(final long block) {
            return granules();
        }

        @Override
        protected long sizeAt(final int start) {
            return used && !retired && start == 0 ? granules() : 0;
        }

        @Override
        protected void shrink(final int start, final long size, final long newSize) {
            throw new AssertionError("a block has the one size there is");
        }

        @Override
        protected boolean grow(final int start, final long size, final long newSize) {
            return false;
        }

        @Override
        public int liveBlocks() {
            return used ? 1 : 0;
        }

        @Override
        public long hostBytes() {
            return 0;
        }

        @Override
        public void forEachBlock(final BlockVisitor visitor) {
            show(visitor, 0, granules(), !used);
        }
    }
}
