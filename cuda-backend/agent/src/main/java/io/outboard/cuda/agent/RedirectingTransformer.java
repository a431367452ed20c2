package io.outboard.cuda.agent;

import java.lang.instrument.ClassFileTransformer;
import java.nio.charset.StandardCharsets;
import java.security.ProtectionDomain;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.objectweb.asm.ClassReader;
import org.objectweb.asm.ClassWriter;

/**
 * The transformer redirects calls in every class that is loaded, except those of JCuda and of Outboard, and a
 * redirection's own source.
 *
 * <p>This class has no lambdas: linking them loads classes, and the first such class would be passed to this
 * transformer again before the linking is done. Safe for any number of threads. Cost: one search for each redirection
 * in a class's bytes; only a class that has the source's name is parsed.
 */
final class RedirectingTransformer implements ClassFileTransformer {

    /** The packages of JCuda's jar. */
    private static final Set<String> JCUDA =
            Set.of("jcuda", "jcuda.driver", "jcuda.runtime", "jcuda.nvrtc", "jcuda.nvptxcompiler");

    private final List<Redirection> redirections;
    private final Consumer<String> warnings;
    private final Map<String, Integer> callsByClass = new ConcurrentHashMap<>();

    /** Whether a line was said of the JDK's classes, and whether of JCuda's: one mustn't hide the other. */
    private final Set<Boolean> warned = ConcurrentHashMap.newKeySet();

    RedirectingTransformer(final List<Redirection> redirections, final Consumer<String> warnings) {
        this.redirections = redirections;
        this.warnings = warnings;
    }

    /**
     * Answers whether a class is Outboard's, or of JCuda's own jar, so that its calls stay. Samples, tools and
     * libraries that are called {@code jcuda.}something allocate as any program does.
     */
    static boolean isLeftAlone(final String className) {
        return className.startsWith("io.outboard.")
                || JCUDA.contains(className.substring(0, Math.max(0, className.lastIndexOf('.'))));
    }

    /** Counts the calls of CUDA that were changed, by the name of the class that they are in. */
    Map<String, Integer> callsByClass() {
        return Map.copyOf(callsByClass);
    }

    /** Says that a class wasn't changed after all. */
    void forget(final String className) {
        callsByClass.remove(className);
    }

    /** Answers whether any class of a loader may be changed. */
    boolean concerns(final ClassLoader loader) {
        for (final Redirection redirection : redirections) {
            if (redirection.holdsIn(loader)) {
                return true;
            }
        }
        return false;
    }

    @Override
    public byte @Nullable [] transform(
            final @Nullable ClassLoader loader,
            final @Nullable String internalName,
            final @Nullable Class<?> redefined,
            final @Nullable ProtectionDomain domain,
            final byte[] bytes) {
        // The bootstrap loader doesn't see JCuda.
        if (loader == null) {
            return null;
        }
        final List<Redirection> named = namedIn(bytes);
        if (named.isEmpty()) {
            return null;
        }
        try {
            return redirect(loader, named, bytes);
        } catch (final RuntimeException | Error e) {
            // The virtual machine would swallow the exception. The class file may be too new, or have too many
            // constants.
            warnings.accept(internalName
                    + " can't be read, or not be written anew, so its calls of CUDA aren't redirected: " + e);
            return null;
        }
    }

    private List<Redirection> namedIn(final byte[] bytes) {
        // The names are ASCII, which is the same in a class file.
        final String text = new String(bytes, StandardCharsets.ISO_8859_1);
        final List<Redirection> named = new ArrayList<>();
        for (final Redirection redirection : redirections) {
            if (text.contains(redirection.sourceInternalName())) {
                named.add(redirection);
            }
        }
        return named;
    }

    private byte @Nullable [] redirect(final ClassLoader loader, final List<Redirection> named, final byte[] bytes) {
        final ClassReader reader = new ClassReader(bytes);
        // The argument isn't used, since a hidden class has no name there.
        final String className = reader.getClassName().replace('/', '.');
        if (isLeftAlone(className) || isSource(className)) {
            return null;
        }
        final List<Redirection> holding = new ArrayList<>();
        for (final Redirection redirection : named) {
            if (redirection.holdsIn(loader)) {
                holding.add(redirection);
            } else {
                warnOnce(className, redirection);
            }
        }
        final ClassWriter writer = new ClassWriter(reader, 0);
        final CallRedirector redirector = new CallRedirector(writer, holding);
        reader.accept(redirector, 0);
        if (!redirector.hasChanged()) {
            return null;
        }
        final byte[] changed = writer.toByteArray();
        if (redirector.calls() > 0) {
            callsByClass.put(className, redirector.calls());
        }
        return changed;
    }

    /**
     * Answers whether a class is the source. Names are compared before anyone looks for the source by its name, since
     * this may be the class that is being loaded.
     */
    private boolean isSource(final String className) {
        for (final Redirection redirection : redirections) {
            if (className.equals(redirection.source())) {
                return true;
            }
        }
        return false;
    }

    private void warnOnce(final String className, final Redirection redirection) {
        final boolean isOfJdk = redirection.source().startsWith("java.");
        if (warned.add(isOfJdk)) {
            warnings.accept("class=" + className + " must see "
                    + (isOfJdk ? "" : "the " + redirection.source() + " of the class path and ")
                    + redirection.target() + " to be redirected; it doesn't, so its calls, and those of classes like"
                    + " it, stay as they are" + (isOfJdk ? "" : ". Put JCuda's jar on the class path"));
        }
    }
}
