package io.outboard.cuda.agent;

import examples.fake.FakeNatives;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.FileSystem;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
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

    private FakeJCuda() {}

    /** Writes the classes into a folder. */
    static void writeTo(final Path folder) throws IOException {
        writeTo(folder, Jvm.homeOf(Pointer.class));
    }

    /** Writes the classes of a JCuda's jar into a folder. */
    static void writeTo(final Path folder, final Path jar) throws IOException {
        try (FileSystem files = FileSystems.newFileSystem(jar)) {
            write(folder, files.getPath("jcuda/runtime/JCuda.class"));
            write(folder, files.getPath("jcuda/driver/JCudaDriver.class"));
            // This class loads the native libraries, under its old name or its new one.
            final Path old = files.getPath("jcuda/LibUtils.class");
            write(folder, Files.exists(old) ? old : files.getPath("jcuda/LibUtilsCuda.class"));
        }
    }

    private static void write(final Path folder, final Path original) throws IOException {
        final Path file = folder.resolve(original.toString());
        Files.createDirectories(Objects.requireNonNull(file.getParent()));
        try (InputStream stream = Files.newInputStream(original)) {
            final ClassReader reader = new ClassReader(stream);
            final ClassWriter writer = new ClassWriter(ClassWriter.COMPUTE_MAXS);
            reader.accept(new WithoutNatives(writer), 0);
            Files.write(file, writer.toByteArray());
        }
    }

    private static final class WithoutNatives extends ClassVisitor {

        WithoutNatives(final ClassVisitor next) {
            super(Opcodes.ASM9, next);
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
            if (!isNative && !name.equals("loadLibrary")) {
                return body;
            }
            body.visitCode();
            final Type result = Type.getReturnType(descriptor);
            if (Arrays.stream(FakeNatives.class.getMethods())
                    .anyMatch(method -> method.getName().equals(name))) {
                callFake(body, name, descriptor);
            } else if (result.getSort() == Type.INT) {
                body.visitInsn(Opcodes.ICONST_0);
            } else if (result.getSort() == Type.LONG) {
                body.visitInsn(Opcodes.LCONST_0);
            } else if (result.getSort() != Type.VOID) {
                body.visitInsn(Opcodes.ACONST_NULL);
            }
            body.visitInsn(result.getOpcode(Opcodes.IRETURN));
            body.visitMaxs(0, 0);
            body.visitEnd();
            // The visitor drops the real body.
            return new MethodVisitor(api) {};
        }

        /** Calls the fake's function, which takes any object. */
        private static void callFake(final MethodVisitor body, final String name, final String descriptor) {
            final StringBuilder fake = new StringBuilder("(");
            int local = 0;
            for (final Type argument : Type.getArgumentTypes(descriptor)) {
                body.visitVarInsn(argument.getOpcode(Opcodes.ILOAD), local);
                local += argument.getSize();
                fake.append(argument.getSort() == Type.OBJECT ? "Ljava/lang/Object;" : argument.getDescriptor());
            }
            body.visitMethodInsn(
                    Opcodes.INVOKESTATIC, Type.getInternalName(FakeNatives.class), name, fake + ")I", false);
        }
    }
}
