package io.outboard.cuda.kernels.internal;

import static io.outboard.cuda.Gpu.messageOf;
import static org.junit.jupiter.api.Assertions.assertAll;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.zip.GZIPOutputStream;
import java.util.zip.ZipException;
import org.junit.jupiter.api.Test;

class TextResourceTest {

    private static final String TEXT = "ä line\nand another\n";

    @Test
    void shouldUnpackWhatIsNamedAsPacked() throws IOException {
        final ByteArrayOutputStream packed = new ByteArrayOutputStream();
        try (GZIPOutputStream out = new GZIPOutputStream(packed)) {
            out.write(TEXT.getBytes(StandardCharsets.UTF_8));
        }

        assertEquals(TEXT, TextResource.read(new ByteArrayInputStream(packed.toByteArray()), "a.ptx.gz"));
    }

    @Test
    void shouldReadOtherTextAsItIs() throws IOException {
        final InputStream plain = new ByteArrayInputStream(TEXT.getBytes(StandardCharsets.UTF_8));

        assertEquals(TEXT, TextResource.read(plain, "gz.txt"));
    }

    @Test
    void shouldRefuseWhatIsNotThereOrNotPacked() {
        final InputStream plain = new ByteArrayInputStream(TEXT.getBytes(StandardCharsets.UTF_8));

        assertAll(
                () -> assertEquals(
                        "resource=none.ptx.gz must be on the class path, beside " + TextResourceTest.class,
                        messageOf(assertThrows(
                                IllegalStateException.class,
                                () -> TextResource.read(TextResourceTest.class, "none.ptx.gz")))),
                () -> assertThrows(ZipException.class, () -> TextResource.read(plain, "a.ptx.gz")));
    }
}
