package io.outboard.core;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.Arrays;
import java.util.Map;
import java.util.Set;
import org.objectweb.asm.ClassReader;
import org.objectweb.asm.ClassVisitor;
import org.objectweb.asm.ClassWriter;
import org.objectweb.asm.MethodVisitor;
import org.objectweb.asm.Opcodes;
import org.objectweb.asm.Type;

/**
 * This class counts the records that code touches. It loads classes anew, with every access to an element of an {@code
 * int[]} or {@code long[]}, and every copy and fill of a range, replaced by a call. The call notes which half cache
 * line of which array was accessed; that is the size of a record. So the code that runs is what is counted, and the
 * code that is shipped knows nothing of it.
 *
 * <p>Confined to one thread: the notes are static, since instrumented code must find them.
 */
public final class TouchedRecords extends ClassLoader {

    private static final String PREFIX = "io.outboard.";
    private static final int RECORD_BYTES = 32;

    /** The bytes of an array in front of its elements. Large arrays begin with a cache line. */
    private static final long HEADER_BYTES = 16;

    /** The touched records, each as its array's identity and the record's number: the first {@link #count} elements. */
    private static long[] touched = new long[64];

    private static int count;
    private static boolean counting;

    private static final Map<Integer, String> REPLACED = Map.of(
            Opcodes.IALOAD, "load([II)I",
            Opcodes.LALOAD, "load([JI)J",
            Opcodes.IASTORE, "store([III)V",
            Opcodes.LASTORE, "store([JIJ)V");

    /** The methods of the JDK that access ranges; here they have the same names. */
    private static final Set<String> RANGES =
            Set.of("arraycopy(Ljava/lang/Object;ILjava/lang/Object;II)V", "fill([JIIJ)V");

    /** Creates a loader that has loaded nothing yet. */
    public TouchedRecords() {
        super(TouchedRecords.class.getClassLoader());
    }

    /** Begins counting. */
    public static void start() {
        count = 0;
        counting = true;
    }

    /** Ends counting, and returns how many records were touched since the start. */
    public static int stop() {
        counting = false;
        return count;
    }

    /** Returns an instance of a class, loaded so that the accesses of the class and of all that it uses are counted. */
    public Object newInstance(final Class<?> type) {
        try {
            return loadClass(type.getName()).getDeclaredConstructor().newInstance();
        } catch (final ReflectiveOperationException e) {
            throw new LinkageError(e.getMessage(), e);
        }
    }

    // Instrumented code calls these methods in place of array accesses.

    public static int load(final int[] array, final int index) {
        touch(array, index, Integer.BYTES);
        return array[index];
    }

    public static long load(final long[] array, final int index) {
        touch(array, index, Long.BYTES);
        return array[index];
    }

    public static void store(final int[] array, final int index, final int value) {
        touch(array, index, Integer.BYTES);
        array[index] = value;
    }

    public static void store(final long[] array, final int index, final long value) {
        touch(array, index, Long.BYTES);
        array[index] = value;
    }

    public static void arraycopy(
            final Object from, final int fromIndex, final Object to, final int toIndex, final int length) {
        for (int i = 0; i < length; i++) {
            touch(from, fromIndex + i, Integer.BYTES);
            touch(to, toIndex + i, Integer.BYTES);
        }
        System.arraycopy(from, fromIndex, to, toIndex, length);
    }

    public static void fill(final long[] array, final int from, final int to, final long value) {
        for (int i = from; i < to; i++) {
            touch(array, i, Long.BYTES);
        }
        Arrays.fill(array, from, to, value);
    }

    private static void touch(final Object array, final int index, final int elementBytes) {
        if (!counting) {
            return;
        }
        final long record = ((long) System.identityHashCode(array) << 32)
                | ((HEADER_BYTES + index * (long) elementBytes) / RECORD_BYTES);
        // What was touched last is touched again as a rule.
        for (int i = count - 1; i >= 0; i--) {
            if (touched[i] == record) {
                return;
            }
        }
        if (count == touched.length) {
            touched = Arrays.copyOf(touched, 2 * count);
        }
        touched[count++] = record;
    }

    @Override
    protected Class<?> loadClass(final String name, final boolean resolve) throws ClassNotFoundException {
        if (!name.startsWith(PREFIX) || name.equals(TouchedRecords.class.getName())) {
            return super.loadClass(name, resolve);
        }
        final Class<?> loaded = findLoadedClass(name);
        return loaded == null ? define(name) : loaded;
    }

    private Class<?> define(final String name) throws ClassNotFoundException {
        final byte[] instrumented;
        try (InputStream in = getParent().getResourceAsStream(name.replace('.', '/') + ".class")) {
            if (in == null) {
                throw new ClassNotFoundException(name);
            }
            final ClassReader reader = new ClassReader(in);
            final ClassWriter writer = new ClassWriter(reader, 0);
            reader.accept(new Instrumenter(writer), 0);
            instrumented = writer.toByteArray();
        } catch (final IOException e) {
            throw new UncheckedIOException(e);
        }
        return defineClass(name, instrumented, 0, instrumented.length);
    }

    private static final class Instrumenter extends ClassVisitor {

        Instrumenter(final ClassWriter writer) {
            super(Opcodes.ASM9, writer);
        }

        @Override
        public MethodVisitor visitMethod(
                final int access,
                final String name,
                final String descriptor,
                final String signature,
                final String[] exceptions) {
            return new MethodVisitor(Opcodes.ASM9, super.visitMethod(access, name, descriptor, signature, exceptions)) {
                @Override
                public void visitMethodInsn(
                        final int opcode,
                        final String owner,
                        final String method,
                        final String type,
                        final boolean isInterface) {
                    final boolean ofRange = opcode == Opcodes.INVOKESTATIC && RANGES.contains(method + type);
                    super.visitMethodInsn(
                            opcode,
                            ofRange ? Type.getInternalName(TouchedRecords.class) : owner,
                            method,
                            type,
                            isInterface);
                }

                @Override
                public void visitInsn(final int opcode) {
                    final String call = REPLACED.get(opcode);
                    if (call == null) {
                        super.visitInsn(opcode);
                    } else {
                        final int parenthesis = call.indexOf('(');
                        super.visitMethodInsn(
                                Opcodes.INVOKESTATIC,
                                Type.getInternalName(TouchedRecords.class),
                                call.substring(0, parenthesis),
                                call.substring(parenthesis),
                                false);
                    }
                }
            };
        }
    }
}
