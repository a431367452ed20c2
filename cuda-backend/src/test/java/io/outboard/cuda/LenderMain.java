package io.outboard.cuda;

import io.outboard.service.Lender;
import io.outboard.service.LenderBuilder;
import io.outboard.service.Quota;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;

/** The program runs a lender of device 0 in a process of its own, until its standard input ends. */
final class LenderMain {

    private LenderMain() {}

    /**
     * Starts the lender. The arguments are the socket, the share that is lent, spares, and quotas such as
     * {@code day=1GiB:2GiB}.
     */
    public static void main(final String[] arguments) throws IOException {
        final LenderBuilder builder = Lender.of(CudaLendingDevice.open(0, Double.parseDouble(arguments[1])))
                .spares(Integer.parseInt(arguments[2]));
        for (int i = 3; i < arguments.length; i++) {
            final int sign = arguments[i].indexOf('=');
            builder.quota(arguments[i].substring(0, sign), Quota.parse("quota", arguments[i].substring(sign + 1)));
        }
        try (Lender lender = builder.start(Path.of(arguments[0]));
                BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8))) {
            System.out.println("ready");
            while (in.readLine() != null) {
                System.out.println(lender.status().lentBytes());
            }
        }
    }
}
