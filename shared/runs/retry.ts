import type { BounceModule, ModuleRule } from '../dag/bounce-modules.ts'
import type { Block, RetryPolicy } from '../dag/dag.ts'
import type { HeadModule } from './head.ts'

/** How many tries a block has in all, and whether the safety policy lowered the number its author wrote. */
export function attemptCap(policy: RetryPolicy, safetyCap: number): { readonly cap: number; readonly capped: boolean } {
  const wanted = Math.max(1, policy.max_attempts)
  return { cap: Math.min(wanted, safetyCap), capped: wanted > safetyCap }
}

/** Why an attempt goes on as another one without a try of its block's `retry` (docs/adr/0009). */
export const NO_TRY: ReadonlySet<string> = new Set(['ATTEMPT_LOST', 'inputs_edited'])

/**
 * Milliseconds before try attempt + 1: none d, linear d*n, exponential d*2^(n-1), capped by max_delay_ms, then full
 * jitter (docs/dag.md, "Retry"). `random` is in [0, 1).
 */
export function retryDelayMs(policy: RetryPolicy, attempt: number, random: number): number {
  const growth = { none: 1, linear: attempt, exponential: 2 ** (attempt - 1) }[policy.backoff]
  const delay = Math.min(policy.delay_ms * growth, policy.max_delay_ms)
  return Math.round(policy.jitter === 'full' ? delay * random : delay)
}

/** A block that failed at last, with the gates that did not hold, and how often its module was sent back so far. */
export interface BounceCase {
  readonly module: BounceModule | undefined
  readonly fired: HeadModule | undefined
  readonly block: Pick<Block, 'id' | 'pre_gates' | 'post_gates'>
  readonly gates: readonly string[]
}

/** The rule by which the block is sent back: the first that looks at one of these gates and has bounces left. */
export function dueBounceRule(failed: BounceCase): ModuleRule | undefined {
  return rulesFor(failed).find(({ key, bounce }) => countOf(failed, key) < bounce.max_bounces)
}

/** ` after 2 of 2 bounces` when a rule looks at one of these gates and none has bounces left; else nothing. */
export function spentBounceWords(failed: BounceCase): string {
  const [first] = rulesFor(failed)
  if (first === undefined || dueBounceRule(failed) !== undefined) return ''
  return ` after ${countOf(failed, first.key)} of ${first.bounce.max_bounces} bounces`
}

/** A gate that only warns sends nothing back. */
function rulesFor({ module, block, gates }: BounceCase): readonly ModuleRule[] {
  const warns = new Set([...block.pre_gates, ...block.post_gates].flatMap((g) => (g.on_fail === 'warn' ? g.name : [])))
  const failed = gates.filter((name) => !warns.has(name))
  return (module?.rules ?? []).filter((rule) => rule.block === block.id && failed.includes(rule.bounce.when_gate))
}

function countOf({ fired }: BounceCase, key: string): number {
  return fired?.rules[key]?.count ?? 0
}
