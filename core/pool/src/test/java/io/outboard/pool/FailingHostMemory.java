package io.outboard.pool;

import io.outboard.pool.simulated.SimulatedDevice;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.URL;
import java.util.Arrays;
import java.util.Set;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.objectweb.asm.ClassReader;
import org.objectweb.asm.ClassVisitor;
import org.objectweb.asm.ClassWriter;
import org.objectweb.asm.Handle;
import org.objectweb.asm.MethodVisitor;
import org.objectweb.asm.Opcodes;
import org.objectweb.asm.Type;

/**
 * This class makes host memory end at the n-th allocation. It loads the classes of the pool and of its tests anew. The
 * pool's classes then call {@link #check} where they allocate, box numbers, or call methods of the JDK that allocate
 * for collections. So no agent is needed, and the code that is shipped knows nothing of it.
 *
 * <p>Only one thread may use this class at a time: its state is static, since instrumented code must find it.
 */
public final class FailingHostMemory extends ClassLoader {

    private static final String POOL_CLASSES =
            Pool.class.getProtectionDomain().getCodeSource().getLocation().toString();

    /** The package that stands for a device, which needs no host memory of the program. */
    private static final String SIMULATED = SimulatedDevice.class.getPackageName();

    private static final Set<String> ALLOCATING = Set.of(
            ("add addAll clone copyOf copyOfRange entrySet filter forEach iterator limit map mapToLong of put sort stream "
                            + "subList subMap toArray toList")
                    .split(" "));

    /** The methods that allocate what they return, if they return something. */
    private static final Set<String> FINDING =
            Set.of("ceilingEntry", "firstEntry", "floorEntry", "higherEntry", "lastEntry", "lowerEntry");

    private static final AtomicReference<@Nullable OutOfMemoryError> THROWN = new AtomicReference<>();

    private static int places;

    /**
     * For each allocation, its place in the code in the lower half, and the place of the allocation before in the upper
     * half, which tells what was being done.
     */
    private static long[] passed = new long[1024];

    private static int count;
    private static int failing;
    private static boolean counting;

    FailingHostMemory() {
        super(FailingHostMemory.class.getClassLoader());
    }

    /**
     * Makes one allocation fail, the one with this number, counted from 0 from now on; a negative number makes none
     * fail.
     */
    static void failAt(final int allocation) {
        count = 0;
        failing = allocation;
        THROWN.set(null);
    }

    /** Sets whether allocations count; those of the test don't. */
    public static void counts(final boolean newCounting) {
        counting = newCounting;
    }

    /** Returns, for each allocation so far, in order, a number for the way in which the code came there. */
    static long[] passed() {
        return Arrays.copyOf(passed, count);
    }

    /** Returns the error that was thrown; null if none was. */
    static @Nullable OutOfMemoryError thrown() {
        return THROWN.get();
    }

    // Instrumented code calls these methods.

    public static void check(final int place) {
        if (counting) {
            passed = count < passed.length ? passed : Arrays.copyOf(passed, 2 * count);
            passed[count] = (count == 0 ? 0 : passed[count - 1] << Integer.SIZE) | place;
            if (count++ == failing) {
                final OutOfMemoryError error = new OutOfMemoryError("simulated");
                THROWN.set(error);
                throw error;
            }
        }
    }

    public static void check(final @Nullable Object found, final int place) {
        if (found != null) {
            check(place);
        }
    }

    @Override
    protected Class<?> loadClass(final String name, final boolean resolve) throws ClassNotFoundException {
        if (!name.startsWith("io.outboard.pool.") || name.equals(FailingHostMemory.class.getName())) {
            return super.loadClass(name, resolve);
        }
        synchronized (getClassLoadingLock(name)) {
            final Class<?> loaded = findLoadedClass(name);
            return loaded == null ? define(name) : loaded;
        }
    }

    private Class<?> define(final String name) throws ClassNotFoundException {
        final URL file = getResource(name.replace('.', '/') + ".class");
        if (file == null) {
            throw new ClassNotFoundException(name);
        }
        try (InputStream in = file.openStream()) {
            final byte[] original = in.readAllBytes();
            final boolean isOfPool = file.toString().contains(POOL_CLASSES) && !name.startsWith(SIMULATED);
            final byte[] defined = isOfPool ? instrumented(original) : original;
            return defineClass(name, defined, 0, defined.length);
        } catch (final IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static byte[] instrumented(final byte[] original) {
        final ClassWriter writer = new ClassWriter(ClassWriter.COMPUTE_MAXS);
        final ClassVisitor instrumenter = new ClassVisitor(Opcodes.ASM9, writer) {
            @Override
            public MethodVisitor visitMethod(
                    final int access,
                    final String name,
                    final String descriptor,
                    final String signature,
                    final String[] exceptions) {
                final MethodVisitor method = super.visitMethod(access, name, descriptor, signature, exceptions);
                // A class whose initialization failed would be lost for all programs.
                return name.equals("<clinit>") ? method : new Checks(method);
            }
        };
        new ClassReader(original).accept(instrumenter, 0);
        return writer.toByteArray();
    }

    private static final class Checks extends MethodVisitor {

        Checks(final MethodVisitor method) {
            super(Opcodes.ASM9, method);
        }

        private void check(final boolean allocates, final String descriptor) {
            if (allocates) {
                super.visitLdcInsn(++places);
                super.visitMethodInsn(
                        Opcodes.INVOKESTATIC,
                        Type.getInternalName(FailingHostMemory.class),
                        "check",
                        descriptor,
                        false);
            }
        }

        @Override
        public void visitTypeInsn(final int opcode, final String type) {
            check(opcode == Opcodes.ANEWARRAY, "(I)V");
            super.visitTypeInsn(opcode, type);
            // This call comes after the instruction, since stack maps name the instruction.
            check(opcode == Opcodes.NEW, "(I)V");
        }

        @Override
        public void visitIntInsn(final int opcode, final int operand) {
            check(opcode == Opcodes.NEWARRAY, "(I)V");
            super.visitIntInsn(opcode, operand);
        }

        /** Counts lambdas that capture, and texts that are joined. */
        @Override
        public void visitInvokeDynamicInsn(
                final String name, final String descriptor, final Handle bootstrap, final Object... arguments) {
            check(!descriptor.startsWith("()"), "(I)V");
            super.visitInvokeDynamicInsn(name, descriptor, bootstrap, arguments);
        }

        @Override
        public void visitMethodInsn(
                final int opcode,
                final String owner,
                final String name,
                final String descriptor,
                final boolean isInterface) {
            final boolean isOfJdk = owner.startsWith("java/util/") || owner.startsWith("[");
            final boolean boxes = owner.startsWith("java/lang/") && name.equals("valueOf");
            check(boxes || (isOfJdk && ALLOCATING.contains(name)), "(I)V");
            super.visitMethodInsn(opcode, owner, name, descriptor, isInterface);
            if (isOfJdk && FINDING.contains(name)) {
                super.visitInsn(Opcodes.DUP);
                check(true, "(Ljava/lang/Object;I)V");
            }
        }
    }
}
