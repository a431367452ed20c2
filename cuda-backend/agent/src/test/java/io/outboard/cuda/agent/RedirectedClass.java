package io.outboard.cuda.agent;

import io.outboard.cuda.internal.foreign.Bindings;
import java.io.IOException;
import java.io.InputStream;
import java.util.Objects;
import java.util.Set;

/** A binding's class as the agent changes it, in a class loader of its own. No function of it is called. */
final class RedirectedClass {

    private RedirectedClass() {}

    static Class<?> of(final Class<?> binding) throws IOException {
        final String name = binding.getName();
        final BindingTransformer transformer =
                new BindingTransformer(Set.of(name), Bindings.functions(), warning -> {});
        final byte[] bytes;
        try (InputStream stream =
                Objects.requireNonNull(binding.getResourceAsStream(binding.getSimpleName() + ".class"))) {
            bytes = Objects.requireNonNull(transformer.transform(
                    binding.getModule(),
                    binding.getClassLoader(),
                    name.replace('.', '/'),
                    null,
                    null,
                    stream.readAllBytes()));
        }
        return new ClassLoader(binding.getClassLoader()) {
            Class<?> define() {
                return defineClass(name, bytes, 0, bytes.length);
            }
        }.define();
    }
}
