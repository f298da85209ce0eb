import type { GateComposition, GateUse } from '../dag/dag.ts'
import type { Verdict } from './gate.ts'

/** Weights are decimal fractions: 0.7 + 0.1 must reach a threshold of 0.8. */
const ROUNDING = 1e-9

/** What the verdicts of one phase of a block mean together. */
export interface Composed {
  readonly passed: boolean
  /** Gates that did not pass, in document order, warnings left out; also told when the composition holds without them. */
  readonly failed: readonly string[]
  /**
   * `pass`, or what is to follow: `fail` if any failed gate wants it, else `route`, else `retry`, since a try is cheaper
   * than a person; `ask` where only gates failed that a person may waive, and without them the composition would hold.
   */
  readonly action: 'pass' | 'retry' | 'route' | 'ask' | 'fail'
}

/**
 * Composes verdicts (docs/dag.md, "gate_composition"): `all`, `any`, `{at_least: k}`, or `{weights, threshold}` (a gate
 * without a weight counts 0). Gates with `on_fail: warn` are left out of everything; a waived gate counts as met; a
 * gate without a verdict is not met. Nothing to count is met by `all` and `any`, and by the others if they ask for
 * nothing.
 */
export function composeVerdicts(
  uses: readonly GateUse[],
  verdicts: readonly Verdict[],
  composition: GateComposition,
): Composed {
  const counted = uses.filter((use) => use.on_fail !== 'warn')
  const met = namesOfMet(verdicts)
  const failed = counted.filter((use) => !met.has(use.name))
  const passed = holds(composition, counted, met)
  if (passed) return { passed, failed: failed.map((use) => use.name), action: 'pass' }
  // Waived they would all be met.
  const helps = holds(composition, counted, new Set(counted.map((use) => use.name)))
  return { passed, failed: failed.map((use) => use.name), action: actionOf(failed, helps) }
}

/** To be sent back, or to fail, is for good; a waiver that would not help is not asked for. */
function actionOf(failed: readonly GateUse[], helps: boolean): Composed['action'] {
  const wants = new Set(failed.map(({ on_fail }) => on_fail))
  if (wants.has('fail')) return 'fail'
  if (wants.has('route')) return 'route'
  if (wants.has('retry')) return 'retry'
  return helps ? 'ask' : 'fail'
}

/** Of two verdicts under one name the worse one counts, unless what failed was waived then. */
function namesOfMet(verdicts: readonly Verdict[]): ReadonlySet<string> {
  const isMet = new Map<string, boolean>()
  for (const { name, status, passed } of verdicts) {
    const holds = status === 'passed' && passed && isMet.get(name) !== false
    isMet.set(name, status === 'waived' || holds)
  }
  return new Set([...isMet].flatMap(([name, holds]) => (holds ? [name] : [])))
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
