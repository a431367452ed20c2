package io.outboard.bench.check;

/** What a broken strategy does wrong, and part of what is said of it. */
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
    LARGEST_TOO_SMALL("largestFreeBlockBytes="),
    LARGEST_TOO_LARGE("largestFreeBlockBytes="),
    PLACES_OTHERWISE_LATER("though nothing was in use before"),
    FREE_BLOCK_TOO_LONG("forEachFree shows"),
    NO_FREE_BLOCK("forEachFree shows no block"),
    PART_ELSEWHERE("has the address"),
    ENDS_BY_AN_ERROR("an unexpected java.lang.ArrayIndexOutOfBoundsException");

    private final String message;

    Fault(final String message) {
        this.message = message;
    }

    String message() {
        return message;
    }
}
