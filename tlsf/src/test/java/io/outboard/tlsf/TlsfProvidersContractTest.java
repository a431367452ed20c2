package io.outboard.tlsf;

import io.outboard.core.StrategyProviderContractTest;

class TlsfProvidersContractTest extends StrategyProviderContractTest {}
