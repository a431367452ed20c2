package examples.fake;

import java.io.File;
import java.io.IOException;
import java.lang.reflect.Method;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Path;

/** The launcher runs a program from a class path of its own, as a server of applications does. */
public final class Launcher {

    private Launcher() {}

    public static void main(final String... args) throws ReflectiveOperationException, IOException {
        final String[] paths = args[0].split(File.pathSeparator, -1);
        final URL[] urls = new URL[paths.length];
        for (int i = 0; i < paths.length; i++) {
            urls[i] = Path.of(paths[i]).toUri().toURL();
        }
        final ClassLoader parent =
                Boolean.parseBoolean(args[1]) ? Launcher.class.getClassLoader() : ClassLoader.getPlatformClassLoader();
        try (URLClassLoader loader = new URLClassLoader(urls, parent)) {
            final Method main = loader.loadClass(args[2]).getMethod("main", String[].class);
            main.invoke(null, (Object) new String[0]);
        }
    }
}
