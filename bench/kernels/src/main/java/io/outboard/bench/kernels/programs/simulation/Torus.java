package io.outboard.bench.kernels.programs.simulation;

/** A torus has places in rows, whose sides meet, and chooses among a place's sides as the programs' kernels do. */
final class Torus {

    private Torus() {}

    /** Returns the place on a side: left, right, above, below. */
    static int side(final int width, final int places, final int place, final int number) {
        final int column = place % width;
        final int row = place - column;
        return switch (number) {
            case 0 -> row + (column + width - 1) % width;
            case 1 -> row + (column + 1) % width;
            case 2 -> (place + places - width) % places;
            default -> (place + width) % places;
        };
    }

    /** Returns the set bit that has {@code before} set bits below it. */
    static int nth(final int bits, final int before) {
        int left = bits;
        for (int i = 0; i < before; i++) {
            left &= left - 1;
        }
        return Integer.numberOfTrailingZeros(left);
    }
}
