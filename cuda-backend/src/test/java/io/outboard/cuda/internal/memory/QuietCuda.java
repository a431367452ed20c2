package io.outboard.cuda.internal.memory;

/** The fake simulates a device on which either everything has finished, or nothing has; its answers make no garbage. */
public class QuietCuda extends FakeCuda {

    private static final long CONTEXT = 0xC0_0000;

    private int answer;

    public QuietCuda() {
        super(1);
    }

    public void answer(final int code) {
        answer = code;
    }

    @Override
    public int currentContext(final long[] context) {
        context[0] = CONTEXT;
        return SUCCESS;
    }

    @Override
    public int synchronize() {
        return SUCCESS;
    }

    @Override
    public int queryStream(final long stream) {
        return answer;
    }

    @Override
    public int queryEvent(final long event) {
        return answer;
    }

    @Override
    public int recordEvent(final long event, final long stream) {
        return SUCCESS;
    }

    @Override
    public int recordContext(final long event, final long context) {
        return SUCCESS;
    }

    @Override
    public int streamId(final long[] id, final long stream) {
        id[0] = stream;
        return SUCCESS;
    }

    @Override
    public int createEvent(final long[] event) {
        event[0] = 8;
        return SUCCESS;
    }

    @Override
    public int captureStatus(final int[] status, final long stream) {
        status[0] = 0;
        return SUCCESS;
    }
}
