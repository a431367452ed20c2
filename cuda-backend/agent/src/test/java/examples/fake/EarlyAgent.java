package examples.fake;

/** This other agent makes the virtual machine load a program's class before Outboard's agent starts. */
public final class EarlyAgent {

    private EarlyAgent() {}

    public static void premain(final String className) throws ClassNotFoundException {
        Class.forName(className);
    }
}
