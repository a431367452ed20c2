package io.outboard.cuda.agent;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.InputStream;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.jar.JarEntry;
import java.util.jar.JarFile;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.objectweb.asm.ClassReader;
import org.objectweb.asm.ClassVisitor;
import org.objectweb.asm.Handle;
import org.objectweb.asm.MethodVisitor;
import org.objectweb.asm.Opcodes;

/**
 * This class tests what the agent does to the published jar of Apache SystemDS, which the build has with {@code
 * -Psystemds} alone. The jar isn't run: each class goes through the transformer as if it were loaded.
 */
@EnabledIfSystemProperty(
        named = SystemDsTest.PROPERTY,
        matches = ".+",
        disabledReason = "skipped, needs -Psystemds, which downloads the jar")
class SystemDsTest {

    static final String PROPERTY = "outboard.systemds.jar";
    private static final String CLASS_FILE = ".class";

    /** The pattern of the names of functions that allocate or free, in whichever class of JCuda or its libraries. */
    private static final String ALLOCATES_OR_FREES = "(?i).*(alloc|free).*";

    private static final List<String> WARNINGS = new ArrayList<>();
    private static final RedirectingTransformer TRANSFORMER =
            new RedirectingTransformer(OutboardAgent.redirections(), WARNINGS::add);

    /**
     * The functions of JCuda and of the facades that the jar calls once it is redirected, with their classes, and how
     * often each is called.
     */
    private static final Map<String, Integer> CALLS = new TreeMap<>();

    @BeforeAll
    static void transformTheJar() throws IOException {
        final Path jar = Path.of(Objects.requireNonNull(System.getProperty(PROPERTY)));
        // The loader's parent alone is asked for classes: JCuda's and the facades'.
        try (JarFile file = new JarFile(jar.toFile());
                URLClassLoader loader =
                        new URLClassLoader(new URL[] {jar.toUri().toURL()}, SystemDsTest.class.getClassLoader())) {
            for (final JarEntry entry : file.stream().toList()) {
                if (entry.getName().endsWith(CLASS_FILE)) {
                    transform(loader, entry.getName(), file.getInputStream(entry));
                }
            }
        }
    }

    private static void transform(final ClassLoader loader, final String entry, final InputStream stream)
            throws IOException {
        final byte[] bytes = stream.readAllBytes();
        final String internalName = entry.substring(0, entry.length() - CLASS_FILE.length());
        final byte[] changed = TRANSFORMER.transform(loader, internalName, null, null, bytes);
        new ClassReader(changed == null ? bytes : changed).accept(new Calls(), 0);
    }

    /** The visitor counts static calls, and handles to static functions in compiled lambdas and method references. */
    private static final class Calls extends ClassVisitor {

        Calls() {
            super(Opcodes.ASM9);
        }

        @Override
        public MethodVisitor visitMethod(
                final int access,
                final String name,
                final String descriptor,
                final String signature,
                final String[] exceptions) {
            return new MethodVisitor(api) {

                @Override
                public void visitMethodInsn(
                        final int opcode,
                        final String owner,
                        final String function,
                        final String functionDescriptor,
                        final boolean isInterface) {
                    count(opcode == Opcodes.INVOKESTATIC, owner, function);
                }

                @Override
                public void visitInvokeDynamicInsn(
                        final String method,
                        final String methodDescriptor,
                        final Handle bootstrap,
                        final Object... arguments) {
                    for (final Object argument : arguments) {
                        if (argument instanceof Handle handle) {
                            count(handle.getTag() == Opcodes.H_INVOKESTATIC, handle.getOwner(), handle.getName());
                        }
                    }
                }
            };
        }

        private static void count(final boolean isStatic, final String owner, final String function) {
            if (isStatic && (owner.startsWith("jcuda/") || owner.startsWith("io/outboard/"))) {
                CALLS.merge(owner.substring(owner.lastIndexOf('/') + 1) + "." + function, 1, Integer::sum);
            }
        }
    }

    @Test
    void shouldRedirectElevenCallsInFiveClasses() {
        final String home = "org.apache.sysds.runtime.instructions.gpu.context.";

        assertEquals(
                Map.of(
                        home + "CudaMemoryAllocator", 3,
                        home + "GPUContext", 2,
                        home + "GPUContextPool", 2,
                        home + "GPUMemoryManager", 2,
                        home + "UnifiedMemoryAllocator", 2),
                TRANSFORMER.callsByClass());
        assertEquals(List.of(), WARNINGS);
    }

    @Test
    void shouldRedirectTheseFunctions() {
        final Map<String, Integer> redirected = new TreeMap<>(CALLS);
        redirected.keySet().removeIf(function -> !function.startsWith("Outboard"));

        assertEquals(
                Map.of(
                        "OutboardDriver.setExceptionsEnabled", 1,
                        "OutboardRuntime.setExceptionsEnabled", 1,
                        "OutboardRuntime.cudaSetDevice", 2,
                        "OutboardRuntime.cudaMemGetInfo", 4,
                        "OutboardRuntime.cudaMalloc", 1,
                        "OutboardRuntime.cudaFree", 2),
                redirected);
    }

    /** Managed memory is the driver's own, and the facades pass it through when it is freed. */
    @Test
    void shouldLeaveManagedMemoryAloneToJCuda() {
        final Set<String> left = new TreeSet<>(CALLS.keySet());
        left.removeIf(function -> function.startsWith("Outboard"));
        assertTrue(left.contains("JCuda.cudaMemcpy"), "must see calls that aren't redirected");

        left.removeIf(function -> !function.matches(ALLOCATES_OR_FREES));

        assertEquals(Set.of("JCuda.cudaMallocManaged"), left);
    }
}
