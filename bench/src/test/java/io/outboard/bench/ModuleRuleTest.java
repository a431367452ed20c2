package io.outboard.bench;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.Architectures.layeredArchitecture;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;

import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.core.importer.Location;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchRule;

/** Tests that the modules know each other in one direction, and that JCuda is used only where it belongs. */
@AnalyzeClasses(
        packages = "io.outboard",
        importOptions = {ImportOption.DoNotIncludeTests.class, ModuleRuleTest.NoTestJars.class})
class ModuleRuleTest {

    /** The option excludes the jars of classes that tests of several modules share, once there are jars. */
    static final class NoTestJars implements ImportOption {

        @Override
        public boolean includes(final Location location) {
            return !location.contains("-tests.jar");
        }
    }

    @ArchTest
    static final ArchRule shouldDependInOneDirectionOnly = layeredArchitecture()
            .consideringOnlyDependenciesInAnyPackage("io.outboard..")
            .withOptionalLayers(true)
            .layer("core")
            .definedBy("io.outboard.core..")
            .layer("hal")
            .definedBy("io.outboard.hal..")
            .layer("tlsf")
            .definedBy("io.outboard.tlsf..")
            .layer("pool")
            .definedBy("io.outboard.pool..")
            .layer("service")
            .definedBy("io.outboard.service..")
            .layer("cuda")
            .definedBy("io.outboard.cuda..")
            .layer("test kit")
            .definedBy("io.outboard.test..")
            .layer("spark")
            .definedBy("io.outboard.spark..")
            .layer("bench cli")
            .definedBy("io.outboard.bench.cli..")
            .layer("bench measure")
            .definedBy("io.outboard.bench.measure..")
            .layer("bench kernels")
            .definedBy("io.outboard.bench.kernels..")
            .whereLayer("core")
            .mayOnlyBeAccessedByLayers(
                    "hal",
                    "tlsf",
                    "pool",
                    "service",
                    "cuda",
                    "test kit",
                    "spark",
                    "bench cli",
                    "bench measure",
                    "bench kernels")
            .whereLayer("hal")
            .mayOnlyBeAccessedByLayers("cuda", "bench cli", "bench measure", "bench kernels")
            .whereLayer("tlsf")
            .mayOnlyBeAccessedByLayers("cuda", "bench cli", "bench measure", "bench kernels")
            .whereLayer("pool")
            .mayOnlyBeAccessedByLayers("cuda", "test kit", "spark", "bench cli", "bench measure", "bench kernels")
            .whereLayer("service")
            .mayOnlyBeAccessedByLayers("cuda", "spark", "bench cli", "bench measure", "bench kernels")
            .whereLayer("cuda")
            .mayOnlyBeAccessedByLayers("spark", "bench cli", "bench measure", "bench kernels")
            .whereLayer("test kit")
            .mayNotBeAccessedByAnyLayer()
            .whereLayer("spark")
            .mayNotBeAccessedByAnyLayer()
            .whereLayer("bench cli")
            .mayOnlyBeAccessedByLayers("bench measure", "bench kernels")
            .whereLayer("bench measure")
            .mayNotBeAccessedByAnyLayer()
            .whereLayer("bench kernels")
            .mayNotBeAccessedByAnyLayer();

    /** Kernels that allocate are optional: nothing that hosts allocate with needs them. */
    @ArchTest
    static final ArchRule shouldNotKnowKernelsOutsideOfThem = noClasses()
            .that()
            .resideInAnyPackage(
                    "io.outboard.cuda",
                    "io.outboard.cuda.driver..",
                    "io.outboard.cuda.internal..",
                    "io.outboard.cuda.agent..",
                    "io.outboard.bench.cli..")
            .should()
            .dependOnClassesThat()
            .resideInAPackage("io.outboard.cuda.kernels..");

    @ArchTest
    static final ArchRule shouldNotKnowJCudaInStrategies = noClasses()
            .that()
            .resideInAnyPackage(
                    "io.outboard.core..",
                    "io.outboard.hal..",
                    "io.outboard.tlsf..",
                    "io.outboard.pool..",
                    "io.outboard.service..",
                    "io.outboard.test..")
            .should()
            .dependOnClassesThat()
            .resideInAnyPackage("jcuda..", "io.outboard.cuda..");

    @ArchTest
    static final ArchRule shouldHaveNoCyclesBetweenPackages =
            slices().matching("io.outboard.(**)").should().beFreeOfCycles();

    /**
     * Slices are packages without those below them, so this rule forbids the packages below the pool to need their
     * parent.
     */
    @ArchTest
    static final ArchRule shouldNotKnowThePoolInsideOfIt = noClasses()
            .that()
            .resideInAPackage("io.outboard.pool.internal..")
            .should()
            .dependOnClassesThat()
            .resideInAPackage("io.outboard.pool");
}
