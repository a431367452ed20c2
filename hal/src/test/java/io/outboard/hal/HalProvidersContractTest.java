package io.outboard.hal;

import io.outboard.core.StrategyProviderContractTest;

class HalProvidersContractTest extends StrategyProviderContractTest {}
