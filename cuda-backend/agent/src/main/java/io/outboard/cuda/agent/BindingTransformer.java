package io.outboard.cuda.agent;

import io.outboard.cuda.internal.foreign.Bindings;
import io.outboard.cuda.internal.foreign.FunctionNames;
import java.lang.instrument.ClassFileTransformer;
import java.security.ProtectionDomain;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.objectweb.asm.ClassReader;
import org.objectweb.asm.ClassVisitor;
import org.objectweb.asm.ClassWriter;
import org.objectweb.asm.Handle;
import org.objectweb.asm.MethodVisitor;
import org.objectweb.asm.Opcodes;
import org.objectweb.asm.Type;

/**
 * The transformer replaces functions of a binding's class as the class is loaded. Each static function that has the
 * name of one of CUDA's gets another name and stays as it is, even if it is native; one with the old name calls the
 * facade. A function that calls another version of itself in the same class, such as {@code ncuMemAlloc} or {@code
 * cuMemAlloc_v2}, only converts arguments, and stays; the other version is changed.
 *
 * <p>Safe for any number of threads. Cost: a look at the name of each class that is loaded.
 */
final class BindingTransformer implements ClassFileTransformer {

    private static final String BINDINGS = Bindings.class.getName();
    private static final Handle LINK = new Handle(
            Opcodes.H_INVOKESTATIC,
            BINDINGS.replace('.', '/'),
            "link",
            "(Ljava/lang/invoke/MethodHandles$Lookup;Ljava/lang/String;Ljava/lang/invoke/MethodType;)"
                    + "Ljava/lang/invoke/CallSite;",
            false);

    /** The first class files that may have such calls are those for Java 7. */
    private static final int OLDEST = Opcodes.V1_7;

    private final Set<String> bindings;
    private final Set<String> functions;
    private final Consumer<String> warnings;
    private final Map<String, Integer> functionsByClass = new ConcurrentHashMap<>();

    /** Begins with the names of bindings' classes, and the names of CUDA's functions. */
    BindingTransformer(final Set<String> bindings, final Set<String> functions, final Consumer<String> warnings) {
        this.bindings = Set.copyOf(bindings);
        this.functions = functions;
        this.warnings = warnings;
    }

    /** Counts the functions that were changed, by the name of the binding's class. */
    Map<String, Integer> functionsByClass() {
        return Map.copyOf(functionsByClass);
    }

    /** Warns if a class that was loaded before the agent is a binding's. */
    void sayThatLoaded(final String className) {
        if (bindings.contains(className)) {
            warn(className, "it was loaded before the agent");
        }
    }

    @Override
    public byte @Nullable [] transform(
            final Module module,
            final @Nullable ClassLoader loader,
            final @Nullable String internalName,
            final @Nullable Class<?> redefined,
            final @Nullable ProtectionDomain domain,
            final byte[] bytes) {
        final String className = internalName == null ? "" : internalName.replace('/', '.');
        if (!bindings.contains(className) || (redefined != null && !functionsByClass.containsKey(className))) {
            return null;
        }
        if (functions.isEmpty()) {
            warn(className, "JDK 22 or newer is needed");
        } else if (module.isNamed()) {
            warn(className, "it is on the module path");
        } else if (!Bindings.mayWrite()) {
            warn(className, "native access is forbidden; to allow it: --enable-native-access=ALL-UNNAMED");
        } else if (!seesFacades(loader)) {
            warn(className, "its class loader doesn't see " + BINDINGS);
        } else {
            try {
                return withFacades(className, new ClassReader(bytes));
            } catch (final RuntimeException | Error e) {
                // The virtual machine would swallow the exception.
                warn(className, "it can't be read, or not be written anew: " + e);
            }
        }
        return null;
    }

    private void warn(final String className, final String reason) {
        warnings.accept("class=" + className + " isn't redirected, so calls of it stay as they are: " + reason);
    }

    private static boolean seesFacades(final @Nullable ClassLoader loader) {
        try {
            return Class.forName(BINDINGS, false, loader) == Bindings.class;
        } catch (final ClassNotFoundException | LinkageError | RuntimeException e) {
            return false;
        }
    }

    private byte @Nullable [] withFacades(final String className, final ClassReader reader) {
        if (reader.readUnsignedShort(6) < OLDEST) {
            warn(className, "it was compiled for Java 6 or older");
            return null;
        }
        final Converters converters = new Converters();
        reader.accept(converters, ClassReader.SKIP_DEBUG | ClassReader.SKIP_FRAMES);
        final ClassWriter writer = new ClassWriter(reader, ClassWriter.COMPUTE_MAXS);
        final Wrapper wrapper = new Wrapper(writer, converters.found);
        reader.accept(wrapper, 0);
        if (wrapper.count == 0) {
            return null;
        }
        functionsByClass.put(className, wrapper.count);
        return writer.toByteArray();
    }

    /** Finds the functions that call another version of themselves. */
    private static final class Converters extends ClassVisitor {

        final Set<String> found = new HashSet<>();
        private String className = "";

        Converters() {
            super(Opcodes.ASM9);
        }

        @Override
        public void visit(
                final int version,
                final int access,
                final String name,
                final @Nullable String signature,
                final @Nullable String superName,
                final String @Nullable [] interfaces) {
            className = name;
        }

        @Override
        public MethodVisitor visitMethod(
                final int access,
                final String name,
                final String descriptor,
                final @Nullable String signature,
                final String @Nullable [] exceptions) {
            return new MethodVisitor(api) {
                @Override
                public void visitMethodInsn(
                        final int opcode,
                        final String owner,
                        final String called,
                        final String calledDescriptor,
                        final boolean isInterface) {
                    if (owner.equals(className)
                            && FunctionNames.baseOf(called).equals(FunctionNames.baseOf(name))
                            && !(called + calledDescriptor).equals(name + descriptor)) {
                        found.add(name + descriptor);
                    }
                }
            };
        }
    }

    private final class Wrapper extends ClassVisitor {

        private final Set<String> converters;
        private int count;

        Wrapper(final ClassVisitor next, final Set<String> converters) {
            super(Opcodes.ASM9, next);
            this.converters = converters;
        }

        @Override
        public MethodVisitor visitMethod(
                final int access,
                final String name,
                final String descriptor,
                final @Nullable String signature,
                final String @Nullable [] exceptions) {
            if ((access & Opcodes.ACC_STATIC) == 0
                    || !functions.contains(FunctionNames.baseOf(name))
                    || converters.contains(name + descriptor)) {
                return super.visitMethod(access, name, descriptor, signature, exceptions);
            }
            count++;
            final MethodVisitor facade =
                    super.visitMethod(access & ~Opcodes.ACC_NATIVE, name, descriptor, signature, exceptions);
            facade.visitCode();
            int local = 0;
            for (final Type argument : Type.getArgumentTypes(descriptor)) {
                facade.visitVarInsn(argument.getOpcode(Opcodes.ILOAD), local);
                local += argument.getSize();
            }
            facade.visitInvokeDynamicInsn(name, descriptor, LINK);
            facade.visitInsn(Type.getReturnType(descriptor).getOpcode(Opcodes.IRETURN));
            facade.visitMaxs(0, 0);
            facade.visitEnd();
            final int seen = Opcodes.ACC_PUBLIC | Opcodes.ACC_PROTECTED;
            return super.visitMethod(
                    (access & ~seen) | Opcodes.ACC_PRIVATE | Opcodes.ACC_SYNTHETIC,
                    Bindings.PREFIX + name,
                    descriptor,
                    signature,
                    exceptions);
        }
    }
}
