package io.outboard.bench.measure.check;

/** A fault is what a broken strategy does wrong, with a part of the message that reports it. */
enum Fault {
    OVERLAP("which aren't all free"),
    OUTSIDE("not all in the region"),
    UNALIGNED("isn't aligned"),
    NO_SPACE_AT_TIMES("no space for"),
    FULL_AT_TIMES("are said to be in the tables"),
    BLOCK_TOO_LARGE("sizeOf answers"),
    LOST_BYTES("freeBytes="),
    LOST_BLOCK("liveBlocks="),
    FREE_TAKES_ALL("accepts the wrong address"),
    WRONG_ADDRESS_FREES("freeBytes="),
    OTHER_ADDRESS_NAMED("in place of"),
    WRONG_SIZE_TAKEN("accepts a wrong size"),
    TRIM_DOES_NOTHING("trim to"),
    EXTEND_REFUSES("isn't granted"),
    EXTEND_DOES_NOTHING("sizeOf answers"),
    HANDLE_TOO_LARGE("must be from 0 to 2^48 - 1"),
    SAME_HANDLE("has the address"),
    RELEASE_ANSWERS_LESS("bytes of the block of"),
    RESTORE_ANSWERS_ANOTHER("restore answers"),
    UNMERGED("are free and not merged"),
    BLOCK_HIDDEN("where a block begins"),
    LAST_BLOCK_HIDDEN("the walk ends"),
    TAKEN_SHOWN_AS_FREE("is taken"),
    FREE_SHOWN_AS_TAKEN("as taken"),
    PLACES_OTHERWISE_LATER("though nothing was in use before"),
    FREE_BLOCK_TOO_LONG("forEachFree shows"),
    NO_FREE_BLOCK("forEachFree shows no block"),
    PART_ELSEWHERE("has the address"),
    HANDLE_NEGATIVE("must not be negative"),
    HANDLE_AT_ANOTHER_ADDRESS("addressOf answers"),
    HANDLE_OF_ANOTHER_SIZE("sizeByHandle answers"),
    HANDLE_OTHER_EACH_TIME("which the same block had before"),
    HANDLE_NAMES_NOTHING_LATER("an unexpected io.outboard.core.InvalidAddressException: void"),
    NAMED_BY_ANOTHER_ADDRESS("nameByAddress answers"),
    NO_SPACE_BY_HANDLE("no space for"),
    FREE_BY_HANDLE_DOES_NOTHING("freeBytes="),
    RETIRE_BY_HANDLE_RETIRES_ANOTHER("has the address"),
    OLD_HANDLE_TAKEN("accepts the wrong handle"),
    OLD_HANDLE_OF_A_RECORD_IN_USE_TAKEN("accepts the wrong handle"),
    OLD_HANDLE_OF_A_START_IN_USE_TAKEN("accepts the wrong handle"),
    HANDLE_OF_A_BLOCK_BY_ADDRESS_TAKEN("accepts the wrong handle"),
    ADDRESS_TAKEN_AS_HANDLE("accepts the wrong handle"),
    MADE_UP_HANDLE_TAKEN("accepts the wrong handle"),
    HELD_BLOCK_FREED_BY_ADDRESS("accepts the wrong address"),
    WRONG_HANDLE_FREES("freeBytes="),
    WRONG_HANDLE_NAMES_ANOTHER("an unexpected io.outboard.core.InvalidAddressException: handle"),
    OTHER_ADDRESS_NAMED_BY_HANDLE("in place of"),
    ENDS_BY_AN_ERROR("an unexpected java.lang.ArrayIndexOutOfBoundsException");

    private final String message;

    Fault(final String message) {
        this.message = message;
    }

    String message() {
        return message;
    }
}
