import type { GateUse } from '../dag/dag.ts'
import { leavesOf, paramsOf, partsOf } from './check-parts.ts'
import type { CheckResult, GateFacts } from './gate.ts'
import { atLeast, negate, type Outcome } from './gate-algebra.ts'
import type { GatePorts } from './gate-ports.ts'
import { oneSentence } from './one-sentence.ts'
import { readPort, unusable } from './read-port.ts'
import { gateOf } from './registry.ts'

type Check = GateUse['check']

/** Characters of a composition's reason that its parts share, and what each part has at least. */
const PARTS_REASON = 230
const PART_REASON = 40

/** The ports a parsed check reads, those of nested checks too. Throws for a check that was never parsed. */
export function portsOf(check: Check): readonly string[] {
  return [...new Set(leavesOf(check).flatMap((leaf) => gateOf(leaf.type)?.reads(paramsOf(leaf)) ?? []))]
}

/** What a parsed check comes to, nested ones too; never throws (the rules: gate-algebra.ts). */
export async function answerCheck(check: Check, facts: GateFacts, ports: GatePorts): Promise<CheckResult> {
  const found = partsOf(check)
  const result =
    found === undefined
      ? await answerLeaf(check, facts, ports)
      : composed(found, await Promise.all(found.parts.map((part) => answerCheck(part, facts, ports))))
  return check.not === true ? negated(result) : result
}

/** A check that could not be carried out. */
export function broken(reason: string): CheckResult {
  return { passed: false, error: true, reason }
}

async function answerLeaf(check: Check, facts: GateFacts, ports: GatePorts): Promise<CheckResult> {
  const gate = gateOf(check.type)
  if (gate === undefined) return broken('there is no gate of this type here')
  const params = paramsOf(check)
  let read: readonly string[]
  try {
    read = gate.reads(params)
  } catch {
    return broken('its parameters are not those of a parsed check')
  }
  for (const port of read) {
    const problem = unusable(port, readPort(facts, port))
    if (problem !== undefined) return { passed: false, unfit: true, reason: problem, facts: { port } }
  }
  try {
    return await gate.check(params, facts, ports)
  } catch (cause) {
    return broken(`the gate broke off: ${cause instanceof Error ? cause.message : String(cause)}`)
  }
}

function composed(
  { wanted, parts }: NonNullable<ReturnType<typeof partsOf>>,
  results: readonly CheckResult[],
): CheckResult {
  if (!(wanted >= 1 && wanted <= parts.length)) return broken('its parameters are not those of a parsed check')
  const outcomes = results.map(outcomeOf)
  const outcome = atLeast(wanted, outcomes)
  const held = outcomes.filter((one) => one === 'pass').length
  const telling = results.filter(({ passed }) => passed === (outcome === 'pass'))
  const room = Math.max(PART_REASON, Math.floor(PARTS_REASON / telling.length))
  const words = telling.map(({ reason }) => oneSentence(reason, room)).join('; ')
  const wants = wanted === parts.length ? `all ${wanted}` : `at least ${wanted}`
  const reason =
    outcome === 'pass'
      ? `${held} of ${parts.length} hold, ${wants} wanted: ${words}`
      : `${wants} of ${parts.length} must hold, ${held} do: ${words}`
  const shown = parts.map(({ type, not }, at) => `${not === true ? 'not ' : ''}${type}: ${outcomes[at]}`)
  return { ...RESULTS[outcome], reason, facts: { wanted, held, parts: shown } }
}

function outcomeOf({ passed, unfit, error }: CheckResult): Outcome {
  if (error !== undefined) return 'error'
  if (passed === true) return 'pass'
  return unfit === undefined ? 'fail' : 'unfit'
}

const RESULTS: Readonly<Record<Outcome, Pick<CheckResult, 'passed' | 'unfit' | 'error'>>> = {
  pass: { passed: true },
  fail: { passed: false },
  unfit: { passed: false, unfit: true },
  error: { passed: false, error: true },
}

function negated(result: CheckResult): CheckResult {
  const outcome = negate(outcomeOf(result))
  const facts = { ...result.facts, not: true }
  if (outcome === 'pass') return { passed: true, reason: `does not hold, as wanted: ${result.reason}`, facts }
  return outcome === 'fail'
    ? { passed: false, reason: `must not hold: ${result.reason}`, facts }
    : { ...RESULTS[outcome], reason: result.reason, facts }
}
