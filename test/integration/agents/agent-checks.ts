/** Invariants of agents that act: verify-agents.test.ts breaks each of them. */
export const AGENT_CHECKS: readonly number[] = [46, 48, 50, 51, 52]
