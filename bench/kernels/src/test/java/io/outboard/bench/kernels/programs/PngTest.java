package io.outboard.bench.kernels.programs;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.awt.image.BufferedImage;
import java.io.ByteArrayInputStream;
import java.util.Base64;
import javax.imageio.ImageIO;
import org.junit.jupiter.api.Test;

class PngTest {

    @Test
    void shouldBeWhatOthersRead() throws Exception {
        final byte[] file = Base64.getDecoder()
                .decode(Png.base64(3, (byte) 0, (byte) 128, (byte) 255, (byte) 1, (byte) 2, (byte) 3));

        final BufferedImage image = ImageIO.read(new ByteArrayInputStream(file));

        assertEquals(3, image.getWidth());
        assertEquals(2, image.getHeight());
        assertEquals(128, image.getRaster().getSample(1, 0, 0));
        assertEquals(3, image.getRaster().getSample(2, 1, 0));
    }
}
