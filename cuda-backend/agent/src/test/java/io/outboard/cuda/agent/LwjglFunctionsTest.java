package io.outboard.cuda.agent;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.outboard.cuda.internal.foreign.Bindings;
import io.outboard.cuda.internal.foreign.FunctionNames;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledForJreRange;
import org.junit.jupiter.api.condition.JRE;
import org.lwjgl.cuda.CU;
import org.lwjgl.cuda.CUGL;

/** This class tests which functions of LWJGL's published class are redirected. No function of CUDA is called. */
@Tag("agent-jar")
@EnabledForJreRange(min = JRE.JAVA_22, disabledReason = "skipped, needs java.lang.foreign")
class LwjglFunctionsTest {

    private static final List<Class<?>> CLASSES = List.of(CU.class, CUGL.class);

    /** A function about memory that the classes have must be redirected, or have a reason in one of the lists. */
    @Test
    void shouldLeaveAloneOnlyWhatIsListed() {
        final Set<String> left = CLASSES.stream()
                .flatMap(LwjglFunctionsTest::functionsOf)
                .map(FunctionNames::baseOf)
                .filter(name -> JCudaVersionsTest.ABOUT_MEMORY.test(name + "("))
                .collect(Collectors.toCollection(TreeSet::new));
        assertTrue(left.contains("cuMemAlloc"), "the pattern must fit");

        left.removeAll(Bindings.functions());
        left.removeAll(JCudaVersionsTest.namesIn(JCudaVersionsTest.LEFT_ALONE));
        left.removeAll(JCudaVersionsTest.namesIn(JavaCppFunctionsTest.LEFT_ALONE));
        assertEquals(Set.of(), left);
    }

    /** A function that isn't redirected checks its arguments and calls the one with an n, which takes addresses. */
    @Test
    void shouldRedirectEachFunctionOrTheOneThatItCalls() throws Exception {
        final Set<String> redirected = new TreeSet<>();
        for (final Class<?> each : CLASSES) {
            final Class<?> changed = RedirectedClass.of(each);
            assertEquals(List.of(), Bindings.misfits(changed));
            functionsOf(changed)
                    .filter(name -> name.startsWith(Bindings.PREFIX))
                    .map(name -> name.substring(Bindings.PREFIX.length()))
                    .forEach(redirected::add);
        }

        final Set<String> expected = CLASSES.stream()
                .flatMap(LwjglFunctionsTest::functionsOf)
                .filter(name -> Bindings.functions().contains(FunctionNames.baseOf(name)))
                .collect(Collectors.toCollection(TreeSet::new));
        expected.removeAll(
                expected.stream().filter(name -> expected.contains("n" + name)).toList());
        assertEquals(expected, redirected);
        assertEquals(27, redirected.size());
    }

    private static Stream<String> functionsOf(final Class<?> type) {
        return Stream.of(type.getDeclaredMethods())
                .filter(method -> Modifier.isStatic(method.getModifiers()))
                .map(Method::getName);
    }
}
