package io.outboard.bench.report;

import java.io.IOException;

/** Programs whose kernels allocate. */
final class ProgramsSection implements Section {

    /** Name of the file in the folder: one JSON object a line. */
    static final String FILE_NAME = "programs.json";

    private final ResultFolder folder;

    ProgramsSection(final ResultFolder folder) {
        this.folder = folder;
    }

    @Override
    public String title() {
        return "Programs that allocate on the device";
    }

    @Override
    public String html() throws IOException {
        return folder.path(FILE_NAME);
    }
}
