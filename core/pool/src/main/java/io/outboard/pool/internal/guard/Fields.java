package io.outboard.pool.internal.guard;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/** This class finds handles of fields that are written in other ways than plainly. */
public final class Fields {

    private Fields() {}

    public static VarHandle handle(final MethodHandles.Lookup lookup, final String name, final Class<?> type) {
        try {
            return lookup.findVarHandle(lookup.lookupClass(), name, type);
        } catch (final ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }
}
