package examples.fake;

import java.lang.instrument.ClassFileTransformer;
import java.lang.instrument.Instrumentation;
import java.security.ProtectionDomain;
import org.jspecify.annotations.Nullable;
import org.objectweb.asm.ClassReader;
import org.objectweb.asm.ClassWriter;
import org.objectweb.asm.Opcodes;

/**
 * Another agent adds a field to each class whose name begins with its argument, which the virtual machine doesn't allow
 * once the class is loaded.
 */
public final class FieldAgent implements ClassFileTransformer {

    private final String prefix;

    private FieldAgent(final String prefix) {
        this.prefix = prefix;
    }

    public static void premain(final String prefix, final Instrumentation instrumentation) {
        instrumentation.addTransformer(new FieldAgent(prefix.replace('.', '/')), true);
    }

    @Override
    public byte @Nullable [] transform(
            final @Nullable ClassLoader loader,
            final String internalName,
            final @Nullable Class<?> redefined,
            final @Nullable ProtectionDomain domain,
            final byte[] bytes) {
        if (loader == null || !internalName.startsWith(prefix)) {
            return null;
        }
        final ClassReader reader = new ClassReader(bytes);
        if ((reader.getAccess() & Opcodes.ACC_INTERFACE) != 0) {
            return null;
        }
        final ClassWriter writer = new ClassWriter(reader, 0);
        reader.accept(writer, 0);
        writer.visitField(Opcodes.ACC_PRIVATE | Opcodes.ACC_STATIC, "added", "I", null, null);
        return writer.toByteArray();
    }
}
