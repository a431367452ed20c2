package io.outboard.bench.cli.paper;

import java.util.Comparator;
import java.util.List;
import java.util.ServiceLoader;

/** A paper has outputs: its tables, its figures, and the claims of its text that have a number. {@link ServiceLoader} finds papers. */
public interface Paper {

    /**
     * Finds the papers of all modules on the class path.
     *
     * @return papers in the order of their names
     */
    static List<Paper> all() {
        return ServiceLoader.load(Paper.class).stream()
                .map(ServiceLoader.Provider::get)
                .sorted(Comparator.comparing(Paper::name))
                .toList();
    }

    /**
     * Names the paper on the command line.
     *
     * @return the first author's name, in lower case
     */
    String name();

    /**
     * Names the paper for people.
     *
     * @return authors, title and year
     */
    String title();

    /**
     * Lists everything that the command gives.
     *
     * @return in the order of the paper; names begin with {@link #name} and a slash
     */
    List<PaperOutput> outputs();

    /**
     * Measures what the outputs need, as far as this machine has it, and writes the results into the run's folder. All
     * results of a paper come from one call.
     *
     * @param run where to write, and on which device to measure
     * @return what the measurements' own checks found wrong, a line for each; none if all is right
     * @throws Exception if something can't be measured or written; what was written before stays
     */
    List<String> measure(PaperRun run) throws Exception;
}
