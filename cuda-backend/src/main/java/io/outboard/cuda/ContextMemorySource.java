package io.outboard.cuda;

import io.outboard.core.MemorySource;
import io.outboard.core.Region;

/**
 * A memory source whose regions all belong to one CUDA context, whichever thread takes them. Safe for any number of
 * threads.
 */
// A scope is used by being open.
@SuppressWarnings("try")
final class ContextMemorySource implements MemorySource {

    private final CudaCalls calls;
    private final long context;
    private final CudaMemorySource source;

    ContextMemorySource(final CudaCalls calls, final long context, final CudaMemorySource source) {
        this.calls = calls;
        this.context = context;
        this.source = source;
    }

    @Override
    public Region take(final long sizeBytes) {
        try (ContextScope scope = new ContextScope(calls, context)) {
            return source.take(sizeBytes);
        }
    }

    @Override
    public void giveBack(final Region region) {
        try (ContextScope scope = new ContextScope(calls, context)) {
            source.giveBack(region);
        }
    }

    @Override
    public long availableBytes() {
        try (ContextScope scope = new ContextScope(calls, context)) {
            return source.availableBytes();
        }
    }

    @Override
    public void close() {
        try (ContextScope scope = new ContextScope(calls, context)) {
            source.close();
        }
    }
}
