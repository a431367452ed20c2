package io.outboard.core;

class CoreProvidersContractTest extends StrategyProviderContractTest {}
