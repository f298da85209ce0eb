import type { Block, BudgetCaps } from '../dag/dag.ts'
import { isNativeHandler } from '../dag/native-call.ts'
import type { RunBudget } from './budget.ts'
import type { Safety } from './safety-settings.ts'

/** Absent = no cap. */
export type Caps = Pick<RunBudget, 'cap_tokens' | 'cap_usd_micros'>

type RunSafety = Pick<Safety, 'max_run_tokens' | 'max_run_usd'>

/** What the safety policy and a document allow a run; of two caps the smaller one holds. */
export function runCaps({ max_run_tokens, max_run_usd }: RunSafety, budget: BudgetCaps = {}): Caps {
  return smallestCaps(caps(max_run_tokens, max_run_usd), caps(budget.tokens, budget.usd))
}

/** What the safety policy and a document allow one block. */
export function blockCaps({ max_block_tokens, max_block_usd }: Safety, budget: BudgetCaps = {}): Caps {
  return smallestCaps(caps(max_block_tokens, max_block_usd), caps(budget.tokens, budget.usd))
}

export type AttemptCaps = Pick<Safety, 'max_block_ms' | 'max_call_ms'>

/** Milliseconds an attempt of a block may take; `cap`: which one of the safety policy makes it less than the document says. */
export function attemptLimit(
  block: Block,
  safety: AttemptCaps,
): { readonly ms: number; readonly cap?: keyof AttemptCaps } {
  const isCall = block.mode === 'deterministic' && isNativeHandler(block.handler)
  const cap = isCall ? 'max_call_ms' : 'max_block_ms'
  return safety[cap] < block.timeout_ms ? { ms: safety[cap], cap } : { ms: block.timeout_ms }
}

export function smallestCaps(...all: readonly Caps[]): Caps {
  const least = (of: (one: Caps) => number | undefined) => {
    const known = all.map(of).filter((cap) => cap !== undefined)
    return known.length === 0 ? undefined : Math.min(...known)
  }
  const cap_tokens = least((one) => one.cap_tokens)
  const cap_usd_micros = least((one) => one.cap_usd_micros)
  return {
    ...(cap_tokens === undefined ? {} : { cap_tokens }),
    ...(cap_usd_micros === undefined ? {} : { cap_usd_micros }),
  }
}

function caps(tokens: number | undefined, usd: number | undefined): Caps {
  return {
    ...(tokens === undefined ? {} : { cap_tokens: tokens }),
    // A cap below a millionth of a dollar is still a cap.
    ...(usd === undefined
      ? {}
      : { cap_usd_micros: Math.max(1, Math.min(Math.round(usd * 1e6), Number.MAX_SAFE_INTEGER)) }),
  }
}
