package io.outboard.cuda.agent;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.outboard.cuda.internal.foreign.Bindings;
import io.outboard.cuda.internal.foreign.FunctionNames;
import java.lang.reflect.Modifier;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.bytedeco.cuda.global.cudart;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledForJreRange;
import org.junit.jupiter.api.condition.JRE;

/** This class tests which functions of JavaCPP's published class are redirected. No function of CUDA is called. */
@Tag("agent-jar")
@EnabledForJreRange(min = JRE.JAVA_22, disabledReason = "skipped, needs java.lang.foreign")
class JavaCppFunctionsTest {

    /** What is left alone beside the functions that JCuda has, too; each group begins with why. */
    static final String LEFT_ALONE = """
            memory of CUDA's own pools, whose frees the facades pass on: cuDeviceGetDefaultMemPool cuDeviceGetMemPool
              cuDeviceSetMemPool cuMemGetDefaultMemPool cuMemGetMemPool cuMemPoolExportPointer
              cuMemPoolExportToShareableHandle cuMemPoolGetAccess cuMemPoolGetAttribute
              cuMemPoolImportFromShareableHandle cuMemPoolImportPointer cuMemPoolSetAccess cuMemPoolSetAttribute
              cuMemSetMemPool cudaDeviceGetDefaultMemPool cudaDeviceGetMemPool cudaDeviceSetMemPool
              cudaMallocFromPoolAsync cudaMemGetDefaultMemPool cudaMemGetMemPool cudaMemPoolCreate cudaMemPoolDestroy
              cudaMemPoolExportPointer cudaMemPoolExportToShareableHandle cudaMemPoolGetAccess cudaMemPoolGetAttribute
              cudaMemPoolImportFromShareableHandle cudaMemPoolImportPointer cudaMemPoolSetAccess
              cudaMemPoolSetAttribute cudaMemPoolTrimTo cudaMemSetMemPool
            memory of graphs, which they allocate and free by themselves: cuDeviceGetGraphMemAttribute
              cuDeviceGraphMemTrim cuDeviceSetGraphMemAttribute cuGraphAddMemAllocNode cuGraphAddMemFreeNode
              cuGraphMemAllocNodeGetParams cuGraphMemFreeNodeGetParams cudaDeviceGetGraphMemAttribute
              cudaDeviceGraphMemTrim cudaDeviceSetGraphMemAttribute cudaGraphAddMemAllocNode cudaGraphAddMemFreeNode
              cudaGraphMemAllocNodeGetParams cudaGraphMemFreeNodeGetParams
            memory that others made: cuDestroyExternalMemory cuExternalMemoryGetMappedBuffer
              cuExternalMemoryGetMappedMipmappedArray cuImportExternalMemory cudaDestroyExternalMemory
              cudaExternalMemoryGetMappedBuffer cudaExternalMemoryGetMappedMipmappedArray cudaImportExternalMemory
              cudaIpcCloseMemHandle cudaIpcOpenMemHandle cuMemGetHandleForAddressRange cuMulticastBindMem
              cuMulticastBindMem_v2
            managed memory, whose frees the facades pass on: cuMemDiscardAndPrefetchBatchAsync cuMemDiscardBatchAsync
              cuMemPrefetchBatchAsync cudaMemDiscardAndPrefetchBatchAsync cudaMemDiscardBatchAsync
              cudaMemPrefetchBatchAsync
            green contexts, whose end the pools don't see: cuCtxFromGreenCtx cuGreenCtxCreate cuGreenCtxDestroy
              cuGreenCtxGetDevResource cuGreenCtxGetId cuGreenCtxRecordEvent cuGreenCtxStreamCreate cuGreenCtxWaitEvent
              cuStreamGetGreenCtx cudaDeviceGetExecutionCtx cudaExecutionCtxDestroy cudaExecutionCtxGetDevResource
              cudaExecutionCtxGetDevice cudaExecutionCtxGetId cudaExecutionCtxRecordEvent cudaExecutionCtxStreamCreate
              cudaExecutionCtxSynchronize cudaExecutionCtxWaitEvent cudaGreenCtxCreate
            questions, settings and work that no pool changes: cuCtxGetDevResource cuCtxGetDevice_v2
              cuCtxGetExecAffinity cuCtxRecordEvent cuCtxSetFlags cuCtxSynchronize_v2 cuCtxWaitEvent
              cuGraphAddBatchMemOpNode cuGraphBatchMemOpNodeGetParams cuGraphBatchMemOpNodeSetParams
              cuGraphExecBatchMemOpNodeSetParams cuLogsDumpToMemory cuMemBatchDecompressAsync cuStreamGetCtx_v2
              cuStreamUpdateCaptureDependencies cudaLogsDumpToMemory cudaStreamGetCaptureInfo
              cudaStreamUpdateCaptureDependencies cudaThreadExchangeStreamCaptureMode
            """;

    /** A function about memory that the class has must be redirected, or have a reason. */
    @Test
    void shouldLeaveAloneOnlyWhatIsListed() {
        final Set<String> left = new TreeSet<>();
        Stream.of(cudart.class.getDeclaredMethods())
                .filter(method -> Modifier.isPublic(method.getModifiers()) && Modifier.isStatic(method.getModifiers()))
                .map(method -> method.getName())
                .filter(name -> name.startsWith("cu") && JCudaVersionsTest.ABOUT_MEMORY.test(name + "("))
                .filter(name -> !Bindings.functions().contains(FunctionNames.baseOf(name)))
                .forEach(left::add);

        left.removeAll(JCudaVersionsTest.namesIn(JCudaVersionsTest.LEFT_ALONE));
        assertEquals(JCudaVersionsTest.namesIn(LEFT_ALONE), left);
    }

    /** Each of the class's functions that has the name of one that is redirected has its parameters, too. */
    @Test
    void shouldKnowAllTypesOfParameters() throws Exception {
        final Class<?> redirected = RedirectedClass.of(cudart.class);

        assertEquals(List.of(), Bindings.misfits(redirected));
        assertEquals(
                52,
                Stream.of(redirected.getDeclaredMethods())
                        .filter(method -> method.getName().startsWith(Bindings.PREFIX))
                        .count());
    }
}
