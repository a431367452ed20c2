package io.outboard.cuda.agent;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.outboard.cuda.OutboardDriver;
import io.outboard.cuda.OutboardRuntime;
import java.io.File;
import java.io.IOException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.FileSystem;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Predicate;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import jcuda.Pointer;
import jcuda.driver.JCudaDriver;
import jcuda.runtime.JCuda;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.FieldSource;
import org.objectweb.asm.ClassReader;
import org.objectweb.asm.Type;

/**
 * This class tests whether Outboard fits the versions of JCuda that programs bring, by the classes of the published
 * jars, each in a class loader of its own. No function of CUDA is called: {@link AgentJarTest} runs a program.
 */
class JCudaVersionsTest {

    /**
     * What each version lacks of all that Outboard refers to. The agent leaves out functions that aren't there, and a
     * call of the facade's own fails with a {@link NoSuchMethodError}. A pool does without {@code cuStreamGetId}. But
     * without {@code cuDevicePrimaryCtxGetState}, {@code cudaDeviceReset}, {@code cudaThreadExit}, {@code
     * cuDevicePrimaryCtxRelease} and the runtime's functions for peer access fail with that error on JDK 21 and older.
     */
    private static final Map<String, String> MISSING = Map.of(
            "10.2.0", "cuDevicePrimaryCtxGetState cuDevicePrimaryCtxReset cuMemAllocAsync cuMemFreeAsync cuStreamGetId",
            "11.8.0", "cuMemAllocAsync cuStreamGetId",
            "12.0.0", "cuMemAllocAsync",
            "12.6.0", "");

    static final List<String> VERSIONS = MISSING.keySet().stream().sorted().toList();

    /** Whether a function allocates, frees, measures, shares or captures memory, or says whose memory is meant. */
    static final Predicate<String> ABOUT_MEMORY = Pattern.compile(
                    "(?!\\w*(Shared|DynamicS)Mem)\\w*([aA]lloc|[fF]ree|[mM]em(?!cpy|set)|Ipc|Capture|Ctx|Reset|Exit"
                            + "|StreamDestroy|Set(GL)?Device|PeerAccess|ExceptionsEnabled)\\w*\\(.*")
            .asMatchPredicate();

    /** All functions about memory that aren't redirected; each group begins with why they may be left alone. */
    static final String LEFT_ALONE = """
            host memory: cudaFreeHost cudaHostAlloc cudaMallocHost cuMemAllocHost cuMemFreeHost cuMemHostAlloc
              cuMemHostGetDevicePointer cuMemHostGetFlags cuMemHostRegister cuMemHostUnregister
            arrays, which have functions of their own: cudaArrayGetMemoryRequirements cudaFreeArray
              cudaFreeMipmappedArray cudaMalloc3DArray cudaMallocArray cudaMallocMipmappedArray
              cudaMipmappedArrayGetMemoryRequirements cuArrayGetMemoryRequirements cuMemMapArrayAsync
              cuMipmappedArrayGetMemoryRequirements
            managed memory, whose frees the facades pass on: cudaMallocManaged cudaMemAdvise cudaMemPrefetchAsync
              cudaMemRangeGetAttribute cudaMemRangeGetAttributes cudaStreamAttachMemAsync cuMemAllocManaged
              cuMemAdvise cuMemPrefetchAsync cuMemRangeGetAttribute cuMemRangeGetAttributes cuStreamAttachMemAsync
            memory of CUDA's own pools, whose frees the facades pass on: cuMemAllocFromPoolAsync cuMemPoolCreate
              cuMemPoolDestroy cuMemPoolTrimTo
            memory that the program maps by itself: cuMemAddressFree cuMemAddressReserve cuMemCreate
              cuMemExportToShareableHandle cuMemGetAccess cuMemGetAllocationGranularity
              cuMemGetAllocationPropertiesFromHandle cuMemImportFromShareableHandle cuMemMap cuMemRelease
              cuMemRetainAllocationHandle cuMemSetAccess cuMemUnmap
            memory of other processes, which is in no pool, and events: cuIpcCloseMemHandle cuIpcOpenMemHandle
              cudaIpcGetEventHandle cudaIpcOpenEventHandle cuIpcGetEventHandle cuIpcOpenEventHandle
            questions whose answers no pool changes: cuCtxGetApiVersion cuCtxGetCacheConfig cuCtxGetCurrent
              cuCtxGetDevice cuCtxGetFlags cuCtxGetId cuCtxGetLimit cuCtxGetStreamPriorityRange
              cuDevicePrimaryCtxGetState cuDeviceTotalMem cuStreamGetCaptureInfo cuStreamGetCtx
            what changes neither memory nor the thread's context: cudaCtxResetPersistingL2Cache cudaSetDeviceFlags
              cuCtxAttach cuCtxResetPersistingL2Cache cuCtxSetCacheConfig cuCtxSetLimit cuCtxSynchronize
              cuDevicePrimaryCtxSetFlags cuStreamBatchMemOp cuThreadExchangeStreamCaptureMode
            deprecated choices of a context for OpenGL, to be made before memory is asked for: cudaGLSetGLDevice
              cuGLCtxCreate
            """;

    @ParameterizedTest
    @FieldSource("VERSIONS")
    void shouldRedirectAllFunctionsOfTheFacadesThatTheVersionHas(final String version) throws Exception {
        final Set<String> left = functionsOf(OutboardRuntime.class, OutboardDriver.class);
        assertTrue(left.stream().allMatch(ABOUT_MEMORY), "the pattern must fit: " + left);

        try (URLClassLoader loader = loaderOf(version)) {
            left.removeAll(redirected(loader));
        }

        final List<String> missing = List.of(MISSING.getOrDefault(version, "").split(" ", -1));
        left.removeIf(function -> missing.contains(nameOf(function)));
        assertEquals(Set.of(), left);
    }

    /** A function about memory that a version brings must be redirected, or have a reason. */
    @Test
    void shouldLeaveAloneOnlyWhatIsListed() throws Exception {
        final Set<String> left = new TreeSet<>();
        for (final String version : VERSIONS) {
            try (URLClassLoader loader = loaderOf(version)) {
                final Set<String> functions = functionsOf(
                        loader.loadClass(JCuda.class.getName()), loader.loadClass(JCudaDriver.class.getName()));
                functions.removeAll(redirected(loader));
                functions.stream().filter(ABOUT_MEMORY).forEach(each -> left.add(nameOf(each)));
            }
        }

        assertEquals(namesIn(LEFT_ALONE), left);
    }

    /** Two classes look for JCuda's private members when they are initialised, with the types that they need. */
    @ParameterizedTest
    @FieldSource("VERSIONS")
    void shouldReachPrivateMembers(final String version) throws Exception {
        try (URLClassLoader loader = loaderOf(version)) {
            for (final String name : List.of("driver.DevicePointers", "internal.memory.UncheckedCalls")) {
                assertDoesNotThrow(() -> Class.forName("io.outboard.cuda." + name, true, loader));
            }
        }
    }

    @ParameterizedTest
    @FieldSource("VERSIONS")
    void shouldReferToWhatTheVersionHas(final String version) throws Exception {
        final Set<String> missing = new TreeSet<>();
        try (URLClassLoader loader = loaderOf(version)) {
            for (final String reference : references()) {
                final String[] parts = reference.split(" ", 2);
                Class<?> owner = loader.loadClass(parts[0].replace('/', '.'));
                while (owner != null && !membersOf(owner).contains(parts[1])) {
                    owner = owner.getSuperclass();
                }
                if (owner == null) {
                    missing.add(nameOf(parts[1]));
                }
            }
        }

        assertEquals(MISSING.get(version), String.join(" ", missing));
    }

    /** Reads the names of functions, without the reason that each group begins with. */
    static Set<String> namesIn(final String groups) {
        return new TreeSet<>(List.of(groups.replaceAll("(?m)^.*: ", "").strip().split("\\s+", -1)));
    }

    private static Set<String> membersOf(final Class<?> type) {
        final Set<String> members = new TreeSet<>(Set.of(""));
        Stream.of(type.getDeclaredFields())
                .forEach(each -> members.add(each.getName() + each.getType().descriptorString()));
        Stream.of(type.getDeclaredMethods()).forEach(each -> members.add(keyOf(each)));
        Stream.of(type.getDeclaredConstructors())
                .forEach(each -> members.add("<init>" + Type.getConstructorDescriptor(each)));
        return members;
    }

    /** Finds JCuda's classes, and members after a blank, in the constants of all of the backend's classes. */
    private static Set<String> references() throws IOException {
        final Set<String> references = new TreeSet<>();
        final Path home = Jvm.homeOf(OutboardRuntime.class);
        try (FileSystem jar = Files.isDirectory(home) ? null : FileSystems.newFileSystem(home);
                Stream<Path> files = Files.walk(jar == null ? home : jar.getPath("/"))) {
            for (final Path file : (Iterable<Path>) files::iterator) {
                if (file.toString().endsWith(".class")) {
                    addReferences(new ClassReader(Files.readAllBytes(file)), references);
                }
            }
        }
        references.removeIf(reference -> !reference.startsWith("jcuda/"));
        return references;
    }

    private static void addReferences(final ClassReader reader, final Set<String> references) {
        final char[] buffer = new char[reader.getMaxStringLength()];
        for (int i = 1; i < reader.getItemCount(); i++) {
            final int item = reader.getItem(i);
            final int tag = item == 0 ? 0 : reader.readByte(item - 1);
            // In the class file format, 7 is the tag of a class, 9 of a field, and 10 of a method.
            if (tag == 7) {
                references.add(reader.readUTF8(item, buffer) + " ");
            } else if (tag == 9 || tag == 10) {
                final int member = reader.getItem(reader.readUnsignedShort(item + 2));
                final String key = reader.readUTF8(member, buffer) + reader.readUTF8(member + 2, buffer);
                references.add(reader.readClass(item, buffer) + " " + key);
            }
        }
    }

    static Path jar(final String version) {
        return Path.of(System.getProperty("outboard.jcuda.folder", ""), "jcuda-" + version + ".jar");
    }

    /** Makes a loader of everything on the class path, but with another JCuda. */
    private static URLClassLoader loaderOf(final String version) throws IOException {
        final List<URL> urls = new ArrayList<>(List.of(jar(version).toUri().toURL()));
        for (final String entry : System.getProperty("java.class.path").split(File.pathSeparator, -1)) {
            if (!Path.of(entry).equals(Jvm.homeOf(Pointer.class))) {
                urls.add(Path.of(entry).toUri().toURL());
            }
        }
        return new URLClassLoader(urls.toArray(URL[]::new), ClassLoader.getPlatformClassLoader());
    }

    /** Asks the agent of a loader which of JCuda's functions it redirects. */
    private static Set<String> redirected(final ClassLoader loader) throws ReflectiveOperationException {
        final Class<?> agent = loader.loadClass(OutboardAgent.class.getName());
        final Set<String> redirected = new TreeSet<>();
        for (final Object redirection : (List<?>) call(agent, null, "redirections")) {
            if (((String) call(redirection.getClass(), redirection, "source")).startsWith("jcuda.")) {
                final Set<?> functions = (Set<?>) call(redirection.getClass(), redirection, "functions");
                functions.forEach(function -> redirected.add((String) function));
            }
        }
        return redirected;
    }

    private static Object call(final Class<?> type, final @Nullable Object object, final String name)
            throws ReflectiveOperationException {
        final Method method = type.getDeclaredMethod(name);
        method.setAccessible(true);
        return method.invoke(object);
    }

    private static Set<String> functionsOf(final Class<?>... types) {
        return Stream.of(types)
                .flatMap(type -> Stream.of(type.getDeclaredMethods()))
                .filter(method -> Modifier.isPublic(method.getModifiers()) && Modifier.isStatic(method.getModifiers()))
                .map(JCudaVersionsTest::keyOf)
                .collect(Collectors.toCollection(TreeSet::new));
    }

    private static String keyOf(final Method method) {
        return method.getName() + Type.getMethodDescriptor(method);
    }

    private static String nameOf(final String function) {
        return function.substring(0, function.indexOf('('));
    }
}
