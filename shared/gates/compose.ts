import type { GateComposition, GateUse } from '../dag/dag.ts'
import type { Verdict } from './gate.ts'

/** Weights are decimal fractions: 0.7 + 0.1 must reach a threshold of 0.8. */
const ROUNDING = 1e-9

/** What the verdicts of one phase of a block mean together. */
export interface Composed {
  readonly passed: boolean
  /** Gates that did not pass, in document order, warnings left out; also told when the composition holds without them. */
  readonly failed: readonly string[]
  /** `pass`, or what is to follow: `fail` if any failed gate asks for it, else `route`, else `retry`. */
  readonly action: 'pass' | 'retry' | 'route' | 'fail'
}

/**
 * Composes verdicts (spec gates, "Envelope"): `all`, `any`, `{at_least: k}`, or `{weights, threshold}` (a gate without
 * a weight counts 0). Gates with `on_fail: warn` are left out of everything; a waived gate counts as met; a gate
 * without a verdict is not met. Nothing to count is met by `all` and `any`, and by the others if they ask for nothing.
 */
export function composeVerdicts(
  uses: readonly GateUse[],
  verdicts: readonly Verdict[],
  composition: GateComposition,
): Composed {
  const counted = uses.filter((use) => use.on_fail !== 'warn')
  const met = new Set(verdicts.map((verdict) => verdict.name))
  for (const verdict of verdicts) if (!isMet(verdict)) met.delete(verdict.name)
  const failed = counted.filter((use) => !met.has(use.name))
  const passed = holds(composition, counted, met)
  return { passed, failed: failed.map((use) => use.name), action: passed ? 'pass' : actionOf(failed) }
}

/** Only a failure of nothing but retryable gates is tried again: to be sent back, or to fail, is for good. */
function actionOf(failed: readonly GateUse[]): Composed['action'] {
  if (failed.some(({ on_fail }) => on_fail === 'fail')) return 'fail'
  return failed.some(({ on_fail }) => on_fail === 'route') ? 'route' : 'retry'
}

function isMet(verdict: Verdict): boolean {
  return verdict.status === 'waived' || (verdict.status === 'passed' && verdict.passed)
}

function holds(composition: GateComposition, counted: readonly GateUse[], met: ReadonlySet<string>): boolean {
  const names = counted.map((use) => use.name).filter((name) => met.has(name))
  if (composition === 'all') return names.length === counted.length
  if (composition === 'any') return counted.length === 0 || names.length > 0
  if ('at_least' in composition) return names.length >= composition.at_least
  const { weights, threshold } = composition
  const sum = names.reduce((total, name) => total + (Object.hasOwn(weights, name) ? (weights[name] ?? 0) : 0), 0)
  return sum + ROUNDING >= threshold
}
