package examples.onnx;

import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;

/** Writes a model of some layers, each a product with a matrix and a rectifier, as ONNX's protocol buffers have it. */
final class OnnxModel {

    private static final int VARINT = 0;
    private static final int BYTES = 2;
    private static final int FLOAT = 1;
    private static final int IR_VERSION = 8;
    private static final int OPERATORS = 13;

    private final ByteArrayOutputStream out = new ByteArrayOutputStream();

    private OnnxModel() {}

    /** From {@code x}, rows of the first matrix's height, to {@code y}. */
    static byte[] of(final float[][][] layers) {
        final OnnxModel graph = new OnnxModel();
        String from = "x";
        for (int i = 0; i < layers.length; i++) {
            final String to = i == layers.length - 1 ? "y" : "r" + i;
            graph.message(1, node("MatMul", "p" + i, from, "w" + i));
            graph.message(1, node("Relu", to, "p" + i));
            from = to;
        }
        graph.text(2, "layers");
        for (int i = 0; i < layers.length; i++) {
            graph.message(5, tensor("w" + i, layers[i]));
        }
        graph.message(11, value("x", layers[0].length));
        graph.message(12, value("y", layers[layers.length - 1][0].length));

        final OnnxModel model = new OnnxModel();
        model.number(1, IR_VERSION);
        model.message(7, graph);
        final OnnxModel operators = new OnnxModel();
        operators.text(1, "");
        operators.number(2, OPERATORS);
        model.message(8, operators);
        return model.out.toByteArray();
    }

    private static OnnxModel node(final String operator, final String output, final String... inputs) {
        final OnnxModel node = new OnnxModel();
        for (final String input : inputs) {
            node.text(1, input);
        }
        node.text(2, output);
        node.text(4, operator);
        return node;
    }

    private static OnnxModel tensor(final String name, final float[][] matrix) {
        final OnnxModel tensor = new OnnxModel();
        tensor.number(1, matrix.length);
        tensor.number(1, matrix[0].length);
        tensor.number(2, FLOAT);
        tensor.text(8, name);
        final ByteBuffer bytes = ByteBuffer.allocate(Float.BYTES * matrix.length * matrix[0].length)
                .order(ByteOrder.LITTLE_ENDIAN);
        for (final float[] row : matrix) {
            bytes.asFloatBuffer().put(row);
            bytes.position(bytes.position() + Float.BYTES * row.length);
        }
        tensor.bytes(9, bytes.array());
        return tensor;
    }

    private static OnnxModel value(final String name, final int width) {
        final OnnxModel rows = new OnnxModel();
        rows.text(2, "rows");
        final OnnxModel columns = new OnnxModel();
        columns.number(1, width);
        final OnnxModel shape = new OnnxModel();
        shape.message(1, rows);
        shape.message(1, columns);
        final OnnxModel tensor = new OnnxModel();
        tensor.number(1, FLOAT);
        tensor.message(2, shape);
        final OnnxModel type = new OnnxModel();
        type.message(1, tensor);
        final OnnxModel value = new OnnxModel();
        value.text(1, name);
        value.message(2, type);
        return value;
    }

    private void number(final int field, final long value) {
        varint((long) field << 3 | VARINT);
        varint(value);
    }

    private void text(final int field, final String value) {
        bytes(field, value.getBytes(StandardCharsets.UTF_8));
    }

    private void message(final int field, final OnnxModel value) {
        bytes(field, value.out.toByteArray());
    }

    private void bytes(final int field, final byte[] value) {
        varint((long) field << 3 | BYTES);
        varint(value.length);
        out.writeBytes(value);
    }

    private void varint(final long value) {
        long left = value;
        while (left > 127) {
            out.write((int) ((left & 127) | 128));
            left >>>= 7;
        }
        out.write((int) left);
    }
}
