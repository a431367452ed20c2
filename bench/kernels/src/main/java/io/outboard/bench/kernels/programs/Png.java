package io.outboard.bench.kernels.programs;

import java.io.ByteArrayOutputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.zip.CRC32;
import java.util.zip.DeflaterOutputStream;

/**
 * The class writes grey pictures as PNG (ISO/IEC 15948), with one byte for each pixel. The JDK's writer isn't used,
 * since it needs {@code java.desktop}, which would double the size of the runtime that is copied to GPU machines.
 */
public final class Png {

    private static final byte[] SIGNATURE = {(byte) 0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n'};
    private static final int BITS = 8;

    private Png() {}

    /**
     * Returns a picture in base64.
     *
     * @param columns a row has, {@code 0 < columns}
     * @param shades row by row, 0 is black
     */
    public static String base64(final int columns, final byte... shades) {
        return Base64.getEncoder().encodeToString(of(columns, shades));
    }

    static byte[] of(final int columns, final byte... shades) {
        try {
            final ByteArrayOutputStream file = new ByteArrayOutputStream();
            file.write(SIGNATURE);
            final ByteArrayOutputStream header = new ByteArrayOutputStream();
            final DataOutputStream fields = new DataOutputStream(header);
            fields.writeInt(columns);
            fields.writeInt(shades.length / columns);
            // The fields say: grey, deflated, a filter for each row, not interlaced.
            fields.write(new byte[] {BITS, 0, 0, 0, 0});
            chunk(file, "IHDR", header.toByteArray());
            final ByteArrayOutputStream data = new ByteArrayOutputStream();
            try (DeflaterOutputStream rows = new DeflaterOutputStream(data)) {
                for (int from = 0; from < shades.length; from += columns) {
                    rows.write(0); // Filter 0 is none.
                    rows.write(shades, from, columns);
                }
            }
            chunk(file, "IDAT", data.toByteArray());
            chunk(file, "IEND");
            return file.toByteArray();
        } catch (final IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static void chunk(final ByteArrayOutputStream file, final String type, final byte... data)
            throws IOException {
        final byte[] name = type.getBytes(StandardCharsets.US_ASCII);
        final CRC32 check = new CRC32();
        check.update(name);
        check.update(data);
        final DataOutputStream fields = new DataOutputStream(file);
        fields.writeInt(data.length);
        fields.write(name);
        fields.write(data);
        fields.writeInt((int) check.getValue());
    }
}
