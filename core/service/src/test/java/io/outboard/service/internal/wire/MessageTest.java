package io.outboard.service.internal.wire;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.net.ProtocolException;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

class MessageTest {

    @Test
    void shouldBeLaidOutAsThePageSays() {
        final byte[] bytes = new Message(MessageType.LEASE, 0x01020304, 0x1122334455667788L, -2, 3, "ab").toBytes();

        assertEquals(
                "03000000" + "04030201" + "8877665544332211" + "feffffffffffffff" + "0300000000000000" + "6162"
                        + "00".repeat(30),
                HexFormat.of().formatHex(bytes));
    }

    @ParameterizedTest
    @EnumSource(MessageType.class)
    void shouldBeReadAsItWasWritten(final MessageType type) throws ProtocolException {
        final Message message =
                new Message(type, -7, Long.MIN_VALUE, Long.MAX_VALUE, 5, "0123456789abcdef0123456789abcdef");

        assertEquals(message, Message.read(Arrays.copyOf(message.toBytes(), 65), 64));
    }

    @Test
    void shouldHaveANumberForEachTypeAndRefusal() {
        final TreeSet<Integer> codes = new TreeSet<>();
        for (final MessageType type : MessageType.values()) {
            codes.add(type.code());
        }
        assertEquals(MessageType.values().length, codes.size());
        for (final Refusal refusal : Refusal.values()) {
            assertEquals(refusal, Refusal.of(refusal.code()));
        }
        assertEquals(Refusal.FAILED, Refusal.of(1234));
    }

    /** The characters have two bytes each, and four. */
    @Test
    void shouldCutTextsBetweenCharacters() throws ProtocolException {
        assertEquals("a" + "\u00e4".repeat(15), textAfter("a" + "\u00e4".repeat(16)));
        assertEquals("ab" + "\ud83d\ude80".repeat(7), textAfter("ab" + "\ud83d\ude80".repeat(8)));
    }

    private static String textAfter(final String text) throws ProtocolException {
        return Message.read(new Message(MessageType.HELLO, 0, 0, 0, 0, text).toBytes(), 64)
                .text();
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 32, 63, 65})
    void shouldRefuseOtherLengths(final int length) {
        assertThrows(ProtocolException.class, () -> Message.read(new byte[65], length));
    }

    @Test
    void shouldRefuseTypesThatThereAreNot() {
        final byte[] bytes = Message.of(MessageType.LIST, 0).toBytes();
        bytes[0] = 99;

        assertThrows(ProtocolException.class, () -> Message.read(bytes, 64));
        assertArrayEquals(new byte[56], Arrays.copyOfRange(bytes, 8, 64));
    }
}
