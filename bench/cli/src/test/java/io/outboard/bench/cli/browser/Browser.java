package io.outboard.bench.cli.browser;

import io.outboard.bench.cli.report.Html;
import io.outboard.bench.cli.report.JsonReader;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * A browser is a headless Chromium, driven through the protocol of W3C WebDriver, which is plain HTTP and JSON.
 * Confined to one thread. Closing it ends every process that it started.
 */
public final class Browser implements AutoCloseable {

    private static final Path DRIVER = Path.of("/usr/bin/chromedriver");
    private static final Path CHROMIUM = Path.of("/usr/bin/chromium");
    private static final Pattern PORT = Pattern.compile("started successfully on port (\\d+)");
    private static final Pattern SESSION = Pattern.compile("\"sessionId\":\"([^\"]+)\"");
    private static final Duration PATIENCE = Duration.ofSeconds(60);

    private final HttpClient client = HttpClient.newBuilder()
            .version(HttpClient.Version.HTTP_1_1)
            .connectTimeout(PATIENCE)
            .build();
    private final Process driver;
    private String session = "";

    /**
     * Starts the browser.
     *
     * @param profile an empty folder for all files that the browser writes
     */
    public Browser(final Path profile) throws IOException, InterruptedException {
        // With port 0, the driver chooses a free port and prints it.
        final ProcessBuilder builder = new ProcessBuilder(DRIVER.toString(), "--port=0")
                .directory(profile.toFile())
                .redirectErrorStream(true);
        builder.environment().put("TMPDIR", profile.toString());
        driver = builder.start();
        try {
            final String base = "http://127.0.0.1:" + port();
            final String arguments = Stream.of(
                            "--headless=new",
                            "--no-sandbox",
                            "--disable-gpu",
                            "--disable-quic",
                            "--disable-dev-shm-usage",
                            "--no-first-run",
                            "--disable-background-networking",
                            "--disable-component-update",
                            "--disable-sync",
                            "--disable-crash-reporter",
                            "--window-size=1280,900",
                            "--host-resolver-rules=MAP * ~NOTFOUND",
                            "--user-data-dir=" + profile.resolve("profile"))
                    .map(Html::json)
                    .collect(Collectors.joining(","));
            final String answer = send(
                    base + "/session",
                    "{\"capabilities\":{\"alwaysMatch\":{\"goog:loggingPrefs\":{\"browser\":\"ALL\"},"
                            + "\"goog:chromeOptions\":{\"binary\":" + Html.json(CHROMIUM.toString()) + ",\"args\":["
                            + arguments + "]}}}}");
            final Matcher id = SESSION.matcher(answer);
            if (!id.find()) {
                throw new IOException("no session in " + answer);
            }
            session = base + "/session/" + id.group(1);
        } catch (final IOException | InterruptedException e) {
            close();
            throw e;
        }
    }

    /** Returns why there is no browser to test with; nothing if there is one. */
    public static Optional<String> missing() {
        return Stream.of(CHROMIUM, DRIVER)
                .filter(program -> !Files.isExecutable(program))
                .map(program -> program + " is not installed")
                .findFirst();
    }

    public void open(final Path page) throws IOException, InterruptedException {
        send(session + "/url", "{\"url\":" + Html.json(page.toUri().toString()) + "}");
    }

    /** Opens an empty page; a page with charts would be redrawn at every change until the next page is opened. */
    public void blank() throws IOException, InterruptedException {
        send(session + "/url", "{\"url\":\"about:blank\"}");
    }

    /** Runs a function's body in the page and returns its result as text. */
    public String evaluate(final String body) throws IOException, InterruptedException {
        final String script = "return String((() => {" + body + "})())";
        return value(send(session + "/execute/sync", "{\"script\":" + Html.json(script) + ",\"args\":[]}"));
    }

    /** Returns what the page wrote to its console since the last call, including errors of loading; "[]" if nothing. */
    public String console() throws IOException, InterruptedException {
        final String answer = send(session + "/se/log", "{\"type\":\"browser\"}");
        return answer.substring(answer.indexOf('['), answer.lastIndexOf(']') + 1);
    }

    public void resize(final int width, final int height, final boolean phone)
            throws IOException, InterruptedException {
        devTools(
                "Emulation.setDeviceMetricsOverride",
                "{\"width\":" + width + ",\"height\":" + height + ",\"deviceScaleFactor\":" + (phone ? 2 : 1)
                        + ",\"mobile\":" + phone + "}");
        settle();
    }

    public void colourScheme(final String scheme) throws IOException, InterruptedException {
        media("screen", scheme);
    }

    /** Shows pages as on a screen or in print, for a user who prefers light or dark. */
    public void media(final String media, final String scheme) throws IOException, InterruptedException {
        devTools(
                "Emulation.setEmulatedMedia",
                "{\"media\":" + Html.json(media) + ",\"features\":[{\"name\":\"prefers-color-scheme\",\"value\":"
                        + Html.json(scheme) + "}]}");
        settle();
    }

    /** Sets whether pages that are opened from now on may run scripts of their own. */
    public void scripts(final boolean allowed) throws IOException, InterruptedException {
        devTools("Emulation.setScriptExecutionDisabled", "{\"value\":" + !allowed + "}");
    }

    @Override
    public void close() {
        // The list is made before the driver ends, because afterwards its children can no longer be found.
        final List<ProcessHandle> processes = Stream.concat(driver.descendants(), Stream.of(driver.toHandle()))
                .toList();
        try {
            if (!session.isEmpty()) {
                final HttpRequest request = HttpRequest.newBuilder(URI.create(session))
                        .timeout(PATIENCE)
                        .DELETE()
                        .build();
                client.sendAsync(request, HttpResponse.BodyHandlers.discarding())
                        .join();
            }
        } finally {
            processes.forEach(ProcessHandle::destroyForcibly);
            processes.forEach(
                    process -> process.onExit().orTimeout(5, TimeUnit.SECONDS).join());
        }
    }

    /** Waits until the page has been laid out and painted anew, observers of sizes included. */
    public void settle() throws IOException, InterruptedException {
        send(
                session + "/execute/async",
                "{\"script\":\"const done = arguments[0]; requestAnimationFrame(() => requestAnimationFrame(() =>"
                        + " setTimeout(done, 0)))\",\"args\":[]}");
    }

    private void devTools(final String command, final String parameters) throws IOException, InterruptedException {
        send(session + "/goog/cdp/execute", "{\"cmd\":" + Html.json(command) + ",\"params\":" + parameters + "}");
    }

    private String send(final String address, final String body) throws IOException, InterruptedException {
        final HttpRequest request = HttpRequest.newBuilder(URI.create(address))
                .timeout(PATIENCE)
                .header("Content-Type", "application/json; charset=utf-8")
                .POST(HttpRequest.BodyPublishers.ofString(body))
                .build();
        final HttpResponse<String> response = client.send(request, HttpResponse.BodyHandlers.ofString());
        if (response.statusCode() != 200) {
            throw new IOException(address + " answered " + response.statusCode() + ": " + response.body());
        }
        return response.body();
    }

    private int port() throws IOException {
        final BufferedReader output =
                new BufferedReader(new InputStreamReader(driver.getInputStream(), StandardCharsets.UTF_8));
        for (String line = output.readLine(); line != null; line = output.readLine()) {
            final Matcher port = PORT.matcher(line);
            if (port.find()) {
                return Integer.parseInt(port.group(1));
            }
        }
        throw new IOException(DRIVER + " ended without naming its port");
    }

    private static String value(final String answer) {
        return JsonReader.read("answer", 1, answer).text("value");
    }
}
