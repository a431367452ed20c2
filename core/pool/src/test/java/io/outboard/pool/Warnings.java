package io.outboard.pool;

import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.logging.Handler;
import java.util.logging.LogRecord;
import java.util.logging.Logger;

/** This handler collects what pools log while it is open, instead of printing it. Safe for any number of threads. */
final class Warnings extends Handler implements AutoCloseable {

    private final Logger logger = Logger.getLogger("io.outboard.pool");
    private final BlockingQueue<LogRecord> records = new LinkedBlockingQueue<>();

    Warnings() {
        logger.setUseParentHandlers(false);
        logger.addHandler(this);
    }

    BlockingQueue<LogRecord> records() {
        return records;
    }

    @Override
    public void publish(final LogRecord record) {
        records.add(record);
    }

    @Override
    public void flush() {}

    @Override
    public void close() {
        logger.removeHandler(this);
        logger.setUseParentHandlers(true);
    }
}
