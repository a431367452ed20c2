package io.outboard.bench.cli.common;

import io.outboard.bench.cli.report.PagePart;
import java.util.Comparator;
import java.util.List;
import java.util.ServiceLoader;

/** A module adds commands and page parts to the command line, which finds modules by {@link ServiceLoader}. */
public interface CommandModule {

    /**
     * Finds all modules on the class path.
     *
     * @return modules in an order that doesn't depend on that of the class path
     */
    static List<CommandModule> all() {
        return ServiceLoader.load(CommandModule.class).stream()
                .map(ServiceLoader.Provider::get)
                .sorted(Comparator.comparing(module -> module.getClass().getName()))
                .toList();
    }

    /**
     * Collects what pages show of the results of all modules.
     *
     * @return parts in the order of the page
     */
    static List<PagePart> allPageParts() {
        return all().stream().flatMap(module -> module.pageParts().stream()).toList();
    }

    /**
     * Lists the commands of this module.
     *
     * @return classes with picocli's annotations, in the order of the help
     */
    List<Class<?>> commands();

    /**
     * Lists what pages show of the results of this module's commands.
     *
     * @return parts in the order of the page
     */
    List<PagePart> pageParts();

    /**
     * Lists the files of lines that this module's commands leave in a folder of results.
     *
     * @return names of files
     */
    default List<String> resultFiles() {
        return pageParts().stream().map(PagePart::fileName).toList();
    }
}
