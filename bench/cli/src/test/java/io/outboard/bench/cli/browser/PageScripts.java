package io.outboard.bench.cli.browser;

/** These scripts ask a page about its state. */
public final class PageScripts {

    /** Finds the lines of all charts that left fewer than a few pixels of their colour on their canvas. */
    public static final String MISSING_LINES = """
            const style = getComputedStyle(document.documentElement);
            const missing = [];
            for (const figure of document.querySelectorAll('figure:has(canvas)')) {
              const canvas = figure.querySelector('canvas');
              const pixels = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data;
              for (const line of JSON.parse(figure.querySelector('script').textContent)) {
                const rgb = parseInt(style.getPropertyValue(line.colour).trim().slice(1), 16);
                const near = (i, shift) => Math.abs(pixels[i] - (rgb >> shift & 255)) < 24;
                let drawn = 0;
                for (let i = 0; i < pixels.length && drawn < 20; i += 4) {
                  drawn += pixels[i + 3] > 200 && near(i, 16) && near(i + 1, 8) && near(i + 2, 0) ? 1 : 0;
                }
                if (drawn < 20) {
                  missing.push(`${figure.querySelector('figcaption').textContent}: ${line.name} ${drawn}`);
                }
              }
            }
            return missing.join(', ');
            """;

    /**
     * Measures how far the page can be scrolled sideways, and finds elements that stick out without a scrolling frame.
     */
    public static final String OVERFLOW = """
            const width = document.documentElement.clientWidth;
            const out = Array.from(document.querySelectorAll('body *')).filter(element =>
              element.getBoundingClientRect().right > width + 0.5 && !element.closest('.scroll'));
            return `${document.documentElement.scrollWidth - width} ${out.map(element => element.outerHTML.slice(0, 80))}`;
            """;

    /** Finds numbers of tables to which a phone would have to scroll. */
    public static final String HIDDEN_CELLS = """
            const width = document.documentElement.clientWidth;
            return Array.from(document.querySelectorAll('td')).filter(cell => cell.checkVisibility() &&
              cell.getBoundingClientRect().right > width + 0.5).slice(0, 3).map(cell => cell.outerHTML).join();
            """;

    /** Finds texts of pictures that reach beyond the picture. */
    public static final String CLIPPED_LABELS = """
            const out = [];
            for (const svg of document.querySelectorAll('.logbars svg')) {
              const box = svg.getBoundingClientRect();
              for (const text of svg.querySelectorAll('text')) {
                const own = text.getBoundingClientRect();
                if (box.width > 0 && (own.left < box.left - 1 || own.right > box.right + 1 || own.bottom > box.bottom + 1)) {
                  out.push(text.textContent);
                }
              }
            }
            return out.join();
            """;

    private PageScripts() {}
}
