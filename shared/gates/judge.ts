import { canonicalJson, sha256 } from '../canonical.ts'
import type { GateUse } from '../dag/dag.ts'
import { answerCheck, broken, portsOf } from './answer-check.ts'
import { leavesOf, paramsOf, partsOf } from './check-parts.ts'
import type { CheckResult, GateFacts, Verdict } from './gate.ts'
import type { GatePorts } from './gate-ports.ts'
import { oneSentence } from './one-sentence.ts'
import { readPort } from './read-port.ts'
import { gateOf } from './registry.ts'
import { smallFacts } from './small-facts.ts'

/** Characters of a verdict's reason; an event has 1 KiB in all. */
const MAX_REASON = 300

type Check = GateUse['check']

/**
 * Evaluates one gate and fails closed: a port without a usable value (missing, null, NaN) is never shown to the check,
 * and a check that crashes or runs over is `error`. It never throws. `use.check` is as parseCheck() left it; `now`
 * gives milliseconds (duration only). Same input hash, same verdict, duration apart.
 */
export async function judgeGate(use: GateUse, facts: GateFacts, ports: GatePorts, now: () => number): Promise<Verdict> {
  const start = now()
  const hash = readableHash(use.check, facts)
  const result = replayable(await answerCheck(use.check, facts, ports), hash)
  const passed = result.passed === true && result.error === undefined
  const status = passed ? 'passed' : result.error === undefined ? 'failed' : 'error'
  return {
    name: use.name,
    type: use.check.type,
    passed,
    status,
    reason: passed ? oneSentence(result.reason, MAX_REASON) : reasonFor(use.error, result.reason),
    facts: smallFacts(result.facts ?? {}),
    duration_ms: Math.max(0, now() - start),
    input_hash: hash ?? unreadable(use.check),
  }
}

/** The hash a verdict has: of the check and of the port values it reads. */
export function inputHash(check: Check, facts: GateFacts): string {
  return readableHash(check, facts) ?? unreadable(check)
}

function unreadable({ type }: Check): string {
  return sha256(`unreadable ${type}`)
}

/**
 * Of the check with all nested ones, every port they read, and what else decides; undefined = that is not JSON (NaN, a
 * lone surrogate), or the check was never parsed.
 */
function readableHash(check: Check, facts: GateFacts): string | undefined {
  try {
    const values = Object.fromEntries(portsOf(check).map((port) => [port, readPort(facts, port)]))
    const seen = leavesOf(check).map((leaf) => gateOf(leaf.type)?.sees?.(paramsOf(leaf), facts) ?? null)
    return sha256(canonicalJson({ check, values, sees: partsOf(check) === undefined ? seen[0] : seen }))
  } catch {
    return undefined
  }
}

/** Without a hash no verdict can be told from another one: nothing passes then, nor is it said to be wrong. */
function replayable(result: CheckResult, hash: string | undefined): CheckResult {
  const wasJudged = result.error === undefined && result.unfit === undefined
  return hash === undefined && wasJudged
    ? broken('what this gate reads is not JSON (NaN, or half of a character)')
    : result
}

/** The author's words first, then what was seen and wanted; the latter is never cut away, the next attempt obeys it. */
function reasonFor(error: string | undefined, found: string): string {
  const detail = oneSentence(found, MAX_REASON)
  const room = MAX_REASON - [...detail].length - 2
  const said = oneSentence(error ?? '', Math.max(room, 1)).replace(/[\s.:;,]+$/, '')
  return said === '' || room < 20 ? detail : `${said}: ${detail}`
}
