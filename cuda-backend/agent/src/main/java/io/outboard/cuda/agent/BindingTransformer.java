package io.outboard.cuda.agent;

import io.outboard.cuda.internal.foreign.Bindings;
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
 * The transformer puts facades into the class of a binding as the class is loaded. Each static function that has the
 * name of one of CUDA's gets another name and stays as it is, even if it is native; one with the old name calls the
 * facade. A binding has functions whose names begin with {@code n} for others that convert their arguments and call
 * them: then only the inner ones are changed.
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

    @Override
    public byte @Nullable [] transform(
            final @Nullable ClassLoader loader,
            final @Nullable String internalName,
            final @Nullable Class<?> redefined,
            final @Nullable ProtectionDomain domain,
            final byte[] bytes) {
        if (internalName == null || !bindings.contains(internalName.replace('/', '.')) || redefined != null) {
            return null;
        }
        final String className = internalName.replace('/', '.');
        if (functions.isEmpty()) {
            warn(className, "JDK 22 or newer is needed");
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
        final Set<String> methods = new HashSet<>();
        reader.accept(new Names(methods), ClassReader.SKIP_CODE);
        final ClassWriter writer = new ClassWriter(reader, ClassWriter.COMPUTE_MAXS);
        final Wrapper wrapper = new Wrapper(writer, methods);
        reader.accept(wrapper, 0);
        if (wrapper.count == 0) {
            return null;
        }
        functionsByClass.put(className, wrapper.count);
        return writer.toByteArray();
    }

    /** Answers whether CUDA has a function of this name, of whatever version. */
    private boolean isOfCuda(final String name) {
        return functions.contains(name.replaceFirst("_v\\d$", ""));
    }

    private static final class Names extends ClassVisitor {

        private final Set<String> methods;

        Names(final Set<String> methods) {
            super(Opcodes.ASM9);
            this.methods = methods;
        }

        @Override
        public @Nullable MethodVisitor visitMethod(
                final int access,
                final String name,
                final String descriptor,
                final @Nullable String signature,
                final String @Nullable [] exceptions) {
            methods.add(name);
            return null;
        }
    }

    private final class Wrapper extends ClassVisitor {

        private final Set<String> methods;
        private int count;

        Wrapper(final ClassVisitor next, final Set<String> methods) {
            super(Opcodes.ASM9, next);
            this.methods = methods;
        }

        @Override
        public MethodVisitor visitMethod(
                final int access,
                final String name,
                final String descriptor,
                final @Nullable String signature,
                final String @Nullable [] exceptions) {
            if ((access & Opcodes.ACC_STATIC) == 0 || !isInnermost(name)) {
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

        private boolean isInnermost(final String name) {
            return isOfCuda(name) ? !methods.contains("n" + name) : name.startsWith("n") && isOfCuda(name.substring(1));
        }
    }
}
