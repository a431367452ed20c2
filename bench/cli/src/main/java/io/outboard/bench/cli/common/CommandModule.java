package io.outboard.bench.cli.common;

import io.outboard.bench.cli.report.PagePart;
import java.util.Comparator;
import java.util.List;
import java.util.ServiceLoader;

/** What a module adds to the command line. The command line finds it by {@link ServiceLoader}. */
public interface CommandModule {

    /**
     * Those that are on the class path.
     *
     * @return in an order that doesn't depend on that of the class path
     */
    static List<CommandModule> all() {
        return ServiceLoader.load(CommandModule.class).stream()
                .map(ServiceLoader.Provider::get)
                .sorted(Comparator.comparing(module -> module.getClass().getName()))
                .toList();
    }

    /**
     * What pages show of the results of all modules.
     *
     * @return parts in the order of the page
     */
    static List<PagePart> allPageParts() {
        return all().stream().flatMap(module -> module.pageParts().stream()).toList();
    }

    /**
     * Its commands.
     *
     * @return classes with picocli's annotations, in the order of the help
     */
    List<Class<?>> commands();

    /**
     * What pages show of the results of its commands.
     *
     * @return parts in the order of the page
     */
    List<PagePart> pageParts();

    /**
     * Files of lines that its commands leave in a folder of results.
     *
     * @return names
     */
    default List<String> resultFiles() {
        return pageParts().stream().map(PagePart::fileName).toList();
    }
}
