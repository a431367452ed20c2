package io.outboard.cuda.agent;

import static org.junit.jupiter.api.Assertions.assertAll;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import examples.fake.Caller;
import examples.fake.Facade;
import examples.fake.Original;
import io.outboard.cuda.OutboardDriver;
import io.outboard.cuda.OutboardRuntime;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.function.IntSupplier;
import java.util.function.Supplier;
import java.util.jar.JarEntry;
import java.util.jar.JarFile;
import jcuda.Pointer;
import jcuda.runtime.JCuda;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.objectweb.asm.ClassReader;
import org.objectweb.asm.ClassWriter;
import org.objectweb.asm.ConstantDynamic;
import org.objectweb.asm.Handle;
import org.objectweb.asm.MethodVisitor;
import org.objectweb.asm.Opcodes;

/** This class tests the transformer on {@link Original}, which has JCuda's shape, and {@link Facade}. */
class RedirectingTransformerTest {

    private static final Map<String, Integer> ORIGINAL = Map.of(
            "call", 1, "reference", 1, "lambda", 1, "otherDescriptor", 2, "otherReturnType", 3, "notInFacade", 4);
    private static final Map<String, Integer> REDIRECTED = Map.of(
            "call", 100, "reference", 100, "lambda", 100, "otherDescriptor", 2, "otherReturnType", 3, "notInFacade", 4);

    /**
     * The count in a class file has 16 bits, and one more than there are constants; see the specification, section 4.1.
     */
    private static final int MOST_CONSTANTS = 65_535;

    private final List<String> warnings = new ArrayList<>();
    private final RedirectingTransformer transformer = new RedirectingTransformer(
            List.of(Redirection.between(Original.class.getName(), Facade.class)), warnings::add);

    /** The loader loads some classes anew, through the transformer, and all others from its parent. */
    private final class TransformingLoader extends ClassLoader {

        private final Map<String, byte[]> own;

        TransformingLoader(final ClassLoader parent, final Map<String, byte[]> own) {
            super(parent);
            this.own = own;
        }

        @Override
        protected synchronized Class<?> loadClass(final String name, final boolean resolve)
                throws ClassNotFoundException {
            final Class<?> loaded = findLoadedClass(name);
            if (loaded != null || !own.containsKey(name)) {
                return loaded != null ? loaded : super.loadClass(name, resolve);
            }
            final byte[] bytes = own.get(name);
            final byte[] changed = transformer.transform(this, name.replace('.', '/'), null, null, bytes);
            final byte[] used = changed == null ? bytes : changed;
            return defineClass(name, used, 0, used.length);
        }
    }

    @Test
    void shouldRedirectCallsAndReferencesOfTheFacadesFunctionsOnly() throws Exception {
        final ClassLoader loader = loaderOf(parent(), Caller.class);

        assertEquals(REDIRECTED, resultsIn(loader));
        assertEquals(Map.of(Caller.class.getName(), 3), transformer.callsByClass());
        assertEquals(List.of(), warnings);
    }

    @Test
    void shouldFindTheFunctionsThatBothClassesHave() {
        final Redirection redirection = Redirection.between(Original.class.getName(), Facade.class);

        assertEquals(Set.of("allocate(J)I"), redirection.functions());
    }

    @Test
    void shouldFindAllFunctionsOfTheFacadesInJCuda() {
        final Redirection runtime = Redirection.between("jcuda.runtime.JCuda", OutboardRuntime.class);
        final Redirection driver = Redirection.between("jcuda.driver.JCudaDriver", OutboardDriver.class);

        assertAll(
                () -> assertEquals(
                        publicMethods(OutboardRuntime.class),
                        runtime.functions().size()),
                () -> assertEquals(
                        publicMethods(OutboardDriver.class), driver.functions().size()),
                () -> assertTrue(runtime.functions().contains("cudaMalloc(Ljcuda/Pointer;J)I")),
                () -> assertTrue(driver.functions().contains("cuMemFree(Ljcuda/driver/CUdeviceptr;)I")));
    }

    private static int publicMethods(final Class<?> facade) {
        // The methods of Object are subtracted: the facades inherit no other public ones.
        return facade.getMethods().length - Object.class.getMethods().length;
    }

    @Test
    void shouldRedirectHandlesAmongConstants() throws Exception {
        final Map<String, byte[]> own = Map.of("examples.Loads", loads("examples/Loads"));
        final Class<?> type = new TransformingLoader(parent(), own).loadClass("examples.Loads");

        final IntSupplier constants =
                (IntSupplier) type.getDeclaredConstructor().newInstance();

        assertEquals(107 + 109, constants.getAsInt());
        assertEquals(Map.of("examples.Loads", 2), transformer.callsByClass());
    }

    /** Adds a class that gets a method handle as a constant, and by a dynamic constant with such a handle in it. */
    private static byte[] loads(final String internalName) {
        final Handle allocate = new Handle(Opcodes.H_INVOKESTATIC, "examples/fake/Original", "allocate", "(J)I", false);
        final Handle invoke = new Handle(
                Opcodes.H_INVOKESTATIC,
                "java/lang/invoke/ConstantBootstraps",
                "invoke",
                "(Ljava/lang/invoke/MethodHandles$Lookup;Ljava/lang/String;Ljava/lang/Class;"
                        + "Ljava/lang/invoke/MethodHandle;[Ljava/lang/Object;)Ljava/lang/Object;",
                false);
        final ClassWriter writer = new ClassWriter(ClassWriter.COMPUTE_MAXS);
        writer.visit(Opcodes.V17, Opcodes.ACC_PUBLIC, internalName, null, "java/lang/Object", new String[] {
            "java/util/function/IntSupplier"
        });
        final MethodVisitor constructor = writer.visitMethod(Opcodes.ACC_PUBLIC, "<init>", "()V", null, null);
        constructor.visitVarInsn(Opcodes.ALOAD, 0);
        constructor.visitMethodInsn(Opcodes.INVOKESPECIAL, "java/lang/Object", "<init>", "()V", false);
        constructor.visitInsn(Opcodes.RETURN);
        constructor.visitMaxs(0, 0);
        final MethodVisitor get = writer.visitMethod(Opcodes.ACC_PUBLIC, "getAsInt", "()I", null, null);
        get.visitLdcInsn(allocate);
        get.visitLdcInsn(7L);
        get.visitMethodInsn(Opcodes.INVOKEVIRTUAL, "java/lang/invoke/MethodHandle", "invokeExact", "(J)I", false);
        get.visitLdcInsn(new ConstantDynamic("constant", "I", invoke, allocate, 9L));
        get.visitInsn(Opcodes.IADD);
        get.visitInsn(Opcodes.IRETURN);
        get.visitMaxs(0, 0);
        writer.visitEnd();
        return writer.toByteArray();
    }

    @Test
    void shouldLeaveAClassAloneThatSeesAnotherOriginal() throws Exception {
        final ClassLoader loader = loaderOf(parent(), Caller.class, Original.class);

        assertEquals(ORIGINAL, resultsIn(loader));
        assertEquals(Map.of(), transformer.callsByClass());
        assertEquals(1, warnings.size());
        assertTrue(
                warnings.get(0)
                        .startsWith("class=examples.fake.Caller must see the examples.fake.Original of the class path"),
                warnings.get(0));
    }

    @Test
    void shouldLeaveAClassAloneThatDoesNotSeeTheFacade() throws Exception {
        final ClassLoader original = loaderOf(ClassLoader.getPlatformClassLoader(), Original.class);
        final ClassLoader loader = loaderOf(original, Caller.class);

        assertEquals(ORIGINAL, resultsIn(loader));
        assertEquals(1, warnings.size());
    }

    @Test
    void shouldWarnOnce() throws Exception {
        loaderOf(parent(), Caller.class, Original.class).loadClass(Caller.class.getName());
        loaderOf(parent(), Caller.class, Original.class).loadClass(Caller.class.getName());

        assertEquals(1, warnings.size());
    }

    /** What one class doesn't see mustn't hide that another doesn't see JCuda. */
    @Test
    void shouldWarnOnceOfTheJdkAndOnceOfABinding() throws Exception {
        final RedirectingTransformer both = new RedirectingTransformer(
                List.of(
                        Redirection.between("java.util.Map", Facade.class),
                        Redirection.between(Original.class.getName(), Facade.class)),
                warnings::add);
        final ClassLoader original = loaderOf(ClassLoader.getPlatformClassLoader(), Original.class);

        both.transform(original, "Some", null, null, bytesOf(Caller.class));
        both.transform(original, "Some", null, null, bytesOf(Caller.class));

        assertEquals(2, warnings.size(), warnings::toString);
    }

    @Test
    void shouldRedirectNothingWhereTheOriginalIsMissing() throws Exception {
        final Redirection redirection = Redirection.between("examples.fake.Missing", Facade.class);

        assertEquals(Set.of(), redirection.functions());
        assertTrue(!redirection.holdsIn(parent()));
    }

    @Test
    void shouldSayNothingOfAnOriginalThatAProgramDoesNotHave() throws Exception {
        final RedirectingTransformer both = new RedirectingTransformer(
                List.of(
                        Redirection.between("examples.fake.Missing", Facade.class),
                        Redirection.between(Original.class.getName(), Facade.class)),
                warnings::add);

        assertNotNull(both.transform(parent(), "Some", null, null, bytesOf(Caller.class)));
        assertEquals(List.of(), warnings);
    }

    @Test
    void shouldRedirectWhatItCanBesideWhatItCannot() throws Exception {
        final RedirectingTransformer both = new RedirectingTransformer(
                List.of(
                        Redirection.between("java.util.Map", Facade.class),
                        Redirection.between(Original.class.getName(), Facade.class)),
                warnings::add);

        assertNotNull(both.transform(parent(), "Some", null, null, bytesOf(Caller.class)));
        assertEquals(
                List.of("class=examples.fake.Caller must see examples.fake.Facade to be redirected; it doesn't, so its"
                        + " calls, and those of classes like it, stay as they are"),
                warnings);
    }

    @Test
    void shouldLeaveJCudaAndOutboardAlone() throws Exception {
        assertAll(
                () -> assertNull(transform(parent(), loads("jcuda/runtime/Loads"))),
                () -> assertNull(transform(parent(), loads("io/outboard/cuda/Loads"))),
                () -> assertNotNull(transform(parent(), loads("jcudax/Loads"))));
    }

    /** Programs in packages whose names only begin like JCuda's call JCuda as any program does. */
    @Test
    void shouldNotTakeProgramsForJCudaThatAreCalledAfterIt() {
        for (final String program :
                List.of("jcuda.samples.Sample", "jcuda.utils.KernelLauncher", "jcudaprogram.Main", "Main")) {
            assertFalse(RedirectingTransformer.isLeftAlone(program), program);
        }
    }

    @Test
    void shouldKnowAllPackagesOfJCudasJar() throws Exception {
        final Path jar = Jvm.homeOf(Pointer.class);
        final List<String> classes;
        try (JarFile file = new JarFile(jar.toFile())) {
            classes = file.stream()
                    .map(JarEntry::getName)
                    .filter(name -> name.endsWith(".class"))
                    .map(name ->
                            name.substring(0, name.length() - ".class".length()).replace('/', '.'))
                    .toList();
        }
        assertTrue(classes.contains(JCuda.class.getName()), () -> jar + " must be JCuda's");
        assertEquals(
                List.of(),
                classes.stream()
                        .filter(name -> !RedirectingTransformer.isLeftAlone(name))
                        .toList());
    }

    @Test
    void shouldLeaveClassesAloneThatDoNotCallTheOriginal() throws Exception {
        assertNull(transform(parent(), bytesOf(Facade.class)));
        assertNull(transform(parent(), bytesOf(Original.class)));
        assertNull(transform(null, bytesOf(Caller.class)));
        assertEquals(List.of(), warnings);
    }

    @Test
    void shouldSayThatAClassFileIsTooNew() throws Exception {
        final byte[] bytes = bytesOf(Caller.class);
        // The byte is the major version; see the Java virtual machine's specification, section 4.1.
        bytes[7] = 127;

        assertNull(transform(parent(), bytes));
        assertEquals(1, warnings.size());
        assertTrue(warnings.get(0).startsWith("Some can't be read"), warnings.get(0));
    }

    /** The loader of an application that was stopped fails in this way. */
    @Test
    void shouldLeaveALoaderAloneThatFails() throws Exception {
        final ClassLoader stopped = new ClassLoader(null) {
            @Override
            protected Class<?> loadClass(final String name, final boolean resolve) {
                throw new IllegalStateException("stopped");
            }
        };

        assertFalse(transformer.concerns(stopped));
        assertNull(transform(stopped, bytesOf(Caller.class)));
    }

    /** The constants have no room for the facade's name. */
    @Test
    void shouldNotCountAClassWhoseConstantsAreTooMany() throws Exception {
        final ClassReader reader = new ClassReader(bytesOf(Caller.class));
        final ClassWriter writer = new ClassWriter(reader, 0);
        reader.accept(writer, 0);
        for (int i = reader.getItemCount(); i < MOST_CONSTANTS; i++) {
            writer.newConst(-i);
        }

        assertNull(transform(parent(), writer.toByteArray()));
        assertEquals(Map.of(), transformer.callsByClass());
        assertEquals(1, warnings.size());
        assertTrue(warnings.get(0).startsWith("Some can't be read, or not be written"), warnings.get(0));
    }

    private byte @Nullable [] transform(final @Nullable ClassLoader loader, final byte[] bytes) {
        return transformer.transform(loader, "Some", null, null, bytes);
    }

    private static ClassLoader parent() {
        return RedirectingTransformerTest.class.getClassLoader();
    }

    private ClassLoader loaderOf(final ClassLoader parent, final Class<?>... own) throws IOException {
        final Map<String, byte[]> bytes = new HashMap<>();
        for (final Class<?> type : own) {
            bytes.put(type.getName(), bytesOf(type));
        }
        return new TransformingLoader(parent, bytes);
    }

    @SuppressWarnings("unchecked")
    private static Map<String, Integer> resultsIn(final ClassLoader loader) throws ReflectiveOperationException {
        final Object caller = loader.loadClass(Caller.class.getName())
                .getDeclaredConstructor()
                .newInstance();
        return ((Supplier<Map<String, Integer>>) caller).get();
    }

    private static byte[] bytesOf(final Class<?> type) throws IOException {
        try (InputStream stream = parent().getResourceAsStream(type.getName().replace('.', '/') + ".class")) {
            return Objects.requireNonNull(stream).readAllBytes();
        }
    }
}
