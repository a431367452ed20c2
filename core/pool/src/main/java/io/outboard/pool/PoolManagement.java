package io.outboard.pool;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.nio.file.Path;
import java.util.Objects;
import java.util.function.LongUnaryOperator;
import java.util.regex.Pattern;
import javax.management.InstanceAlreadyExistsException;
import javax.management.InstanceNotFoundException;
import javax.management.JMException;
import javax.management.ObjectName;
import org.jspecify.annotations.Nullable;

/**
 * A pool's management answers for a {@link PoolMXBean}, whose numbers it finds by their names. Safe for any number of
 * threads.
 */
record PoolManagement(
        Diagnosis diagnosis,
        LongUnaryOperator trim,
        @Nullable Path dumpFolder) implements InvocationHandler {

    private static final Pattern FILE_NAME = Pattern.compile("[A-Za-z0-9_][A-Za-z0-9._-]*");

    /** Shows a pool to JMX. Throws {@link IllegalStateException} if another has the name. */
    static void register(
            final Diagnosis diagnosis,
            final LongUnaryOperator trim,
            final String name,
            final @Nullable Path dumpFolder) {
        final Object bean = Proxy.newProxyInstance(
                PoolMXBean.class.getClassLoader(),
                new Class<?>[] {PoolMXBean.class},
                new PoolManagement(diagnosis, trim, dumpFolder));
        try {
            ManagementFactory.getPlatformMBeanServer().registerMBean(bean, objectName(name));
        } catch (final InstanceAlreadyExistsException e) {
            final String other = "another pool that is open: " + e.getMessage() + " is registered already";
            throw new IllegalStateException("name=" + name + " must not be that of " + other, e);
        } catch (final JMException e) {
            throw new IllegalStateException("name=" + name + " can't be registered", e);
        }
    }

    static void unregister(final String name) {
        try {
            ManagementFactory.getPlatformMBeanServer().unregisterMBean(objectName(name));
        } catch (final InstanceNotFoundException e) {
            // Anyone may unregister a bean; it is gone, which is what was wanted.
        } catch (final JMException e) {
            throw new IllegalStateException("name=" + name + " can't be unregistered", e);
        }
    }

    private static ObjectName objectName(final String name) throws JMException {
        return new ObjectName("io.outboard:type=Pool,name=" + name);
    }

    @Override
    public Object invoke(final Object bean, final Method method, final Object[] arguments) throws Throwable {
        if (method.getDeclaringClass() == Object.class) {
            return method.invoke(this, arguments);
        }
        return switch (method.getName()) {
            case "getPolicy" -> diagnosis.facts.policy();
            case "getStrategy" -> diagnosis.facts.strategy();
            case "getLargestFreeBlockBytes" -> diagnosis.largestFreeBlockBytes();
            case "trimTo" -> trim.applyAsLong((long) arguments[0]);
            case "dump" -> dump((String) arguments[0]);
            default ->
                Objects.requireNonNull(Diagnosis.numbers(diagnosis.statistics()).get(attributeOf(method)));
        };
    }

    private static String attributeOf(final Method getter) {
        final String name = getter.getName().substring("get".length());
        return Character.toLowerCase(name.charAt(0)) + name.substring(1);
    }

    private String dump(final String fileName) throws IOException {
        if (dumpFolder == null) {
            throw new IllegalStateException(
                    "no folder for dumps is configured: set PoolBuilder.dumpFolder, or for agent"
                            + " and facades outboard.dumpFolder");
        }
        // The pattern lists what is allowed, since what leads out of a folder differs from system to system.
        if (!FILE_NAME.matcher(fileName).matches()) {
            throw new IllegalArgumentException("fileName=" + fileName
                    + " must be a name without a folder: letters, digits, . _ and -, and no . or - first");
        }
        final Path path = dumpFolder.resolve(fileName);
        diagnosis.dump(path);
        return path.toString();
    }
}
