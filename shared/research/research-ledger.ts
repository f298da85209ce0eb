/** What the model calls of one chain may use and have used, in tokens. All whole numbers, none below 0. */
export interface ResearchLedger {
  readonly cap: number
  /** Of calls that have ended, repeats included: SearchResult.tokens_used. */
  readonly spent: number
  /** Of calls under way. */
  readonly reserved: number
}

/** Sets a call's estimate aside (its prompt, and its answer at the longest); undefined = it does not fit and is skipped. */
export function reserveTokens(ledger: ResearchLedger, estimate: number): ResearchLedger | undefined {
  const reserved = ledger.reserved + estimate
  return ledger.spent + reserved > ledger.cap ? undefined : { ...ledger, reserved }
}

/** The call has ended: what it really used takes the place of its estimate. A call that failed used 0. */
export function settleTokens(ledger: ResearchLedger, estimate: number, used: number): ResearchLedger {
  return { ...ledger, reserved: Math.max(0, ledger.reserved - estimate), spent: ledger.spent + used }
}

/** What a research block gives back to its run's ledger when the chain has ended. */
export function unspentTokens({ cap, spent, reserved }: ResearchLedger): number {
  return Math.max(0, cap - spent - reserved)
}
