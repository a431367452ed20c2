package io.outboard.cuda.agent;

import examples.fake.FakeNatives;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.FileSystem;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Map;
import java.util.Objects;
import jcuda.Pointer;
import org.objectweb.asm.ClassReader;
import org.objectweb.asm.ClassVisitor;
import org.objectweb.asm.ClassWriter;
import org.objectweb.asm.MethodVisitor;
import org.objectweb.asm.Opcodes;
import org.objectweb.asm.Type;

/**
 * A JCuda without its native library has the classes of the real one, whose native functions are {@link FakeNatives}'s.
 * The classes have to stand on the class path before the real jar.
 */
final class FakeJCuda {

    /** The method that loads the native library. */
    private static final String LOADS = "loadLibrary";

    private FakeJCuda() {}

    /** Writes the classes into a folder. */
    static void writeTo(final Path folder) throws IOException {
        writeTo(folder, Jvm.homeOf(Pointer.class));
    }

    /** Writes the classes of a JCuda's jar into a folder. */
    static void writeTo(final Path folder, final Path jar) throws IOException {
        try (FileSystem files = FileSystems.newFileSystem(jar)) {
            write(folder, files.getPath("jcuda/runtime/JCuda.class"), FakeNatives.class, LOADS);
            write(folder, files.getPath("jcuda/driver/JCudaDriver.class"), FakeNatives.class, LOADS);
            // This class loads the native libraries, under its old name or its new one.
            final Path old = files.getPath("jcuda/LibUtils.class");
            write(
                    folder,
                    Files.exists(old) ? old : files.getPath("jcuda/LibUtilsCuda.class"),
                    FakeNatives.class,
                    LOADS);
        }
    }

    /** Writes a class whose native functions are a fake's, and whose method that loads them does nothing. */
    static void write(final Path folder, final Path original, final Class<?> fake, final String loads)
            throws IOException {
        final Path file = folder.resolve(original.toString());
        Files.createDirectories(Objects.requireNonNull(file.getParent()));
        try (InputStream stream = Files.newInputStream(original)) {
            final ClassReader reader = new ClassReader(stream);
            final ClassWriter writer = new ClassWriter(ClassWriter.COMPUTE_MAXS);
            reader.accept(new WithoutNatives(writer, fake, loads), 0);
            Files.write(file, writer.toByteArray());
        }
    }

    private static final class WithoutNatives extends ClassVisitor {

        /** What pushes 0, by the kind of type. */
        private static final Map<Integer, Integer> ZEROS = Map.of(
                Type.BOOLEAN, Opcodes.ICONST_0,
                Type.BYTE, Opcodes.ICONST_0,
                Type.SHORT, Opcodes.ICONST_0,
                Type.INT, Opcodes.ICONST_0,
                Type.LONG, Opcodes.LCONST_0,
                Type.FLOAT, Opcodes.FCONST_0,
                Type.DOUBLE, Opcodes.DCONST_0,
                Type.ARRAY, Opcodes.ACONST_NULL,
                Type.OBJECT, Opcodes.ACONST_NULL);

        private final Class<?> fake;
        private final String loads;

        WithoutNatives(final ClassVisitor next, final Class<?> fake, final String loads) {
            super(Opcodes.ASM9, next);
            this.fake = fake;
            this.loads = loads;
        }

        @Override
        public MethodVisitor visitMethod(
                final int access,
                final String name,
                final String descriptor,
                final String signature,
                final String[] exceptions) {
            final boolean isNative = (access & Opcodes.ACC_NATIVE) != 0;
            final MethodVisitor body =
                    super.visitMethod(access & ~Opcodes.ACC_NATIVE, name, descriptor, signature, exceptions);
            if (!isNative && !name.equals(loads)) {
                return body;
            }
            body.visitCode();
            final Type result = Type.getReturnType(descriptor);
            if (Arrays.stream(fake.getMethods())
                    .anyMatch(method -> method.getName().equals(name))) {
                callFake(body, name, descriptor);
            } else {
                final Integer zero = ZEROS.get(result.getSort());
                if (zero != null) {
                    body.visitInsn(zero);
                }
            }
            body.visitInsn(result.getOpcode(Opcodes.IRETURN));
            body.visitMaxs(0, 0);
            body.visitEnd();
            // The visitor drops the real body.
            return new MethodVisitor(api) {};
        }

        /** Calls the fake's function, which takes any object. */
        private void callFake(final MethodVisitor body, final String name, final String descriptor) {
            final StringBuilder types = new StringBuilder("(");
            int local = 0;
            for (final Type argument : Type.getArgumentTypes(descriptor)) {
                body.visitVarInsn(argument.getOpcode(Opcodes.ILOAD), local);
                local += argument.getSize();
                types.append(argument.getSort() == Type.OBJECT ? "Ljava/lang/Object;" : argument.getDescriptor());
            }
            body.visitMethodInsn(Opcodes.INVOKESTATIC, Type.getInternalName(fake), name, types + ")I", false);
        }
    }
}
