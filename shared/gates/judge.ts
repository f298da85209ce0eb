import { canonicalJson, type Json, sha256 } from '../canonical.ts'
import type { GateUse } from '../dag/dag.ts'
import type { CheckResult, Gate, GateFacts, Verdict } from './gate.ts'
import type { GatePorts } from './gate-ports.ts'
import { oneSentence } from './one-sentence.ts'
import { readPort, unusable } from './read-port.ts'
import { gateOf } from './registry.ts'
import { smallFacts } from './small-facts.ts'

/** Characters of a verdict's reason; an event has 1 KiB in all. */
const MAX_REASON = 300

type Check = GateUse['check']

/**
 * Evaluates one gate and fails closed: a port without a usable value (missing, null, NaN) is never shown to the check,
 * and a check that crashes or runs over is `error`. It never throws. `use.check` is as parseCheck() left it; `now`
 * gives milliseconds (duration only). Same input hash, same verdict, duration apart (spec gates).
 */
export async function judgeGate(use: GateUse, facts: GateFacts, ports: GatePorts, now: () => number): Promise<Verdict> {
  const start = now()
  const gate = gateOf(use.check.type)
  const reading = read(gate, use.check, facts)
  const result =
    gate === undefined ? broken('there is no gate of this type here') : await answer(gate, reading, facts, ports)
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
    input_hash: reading.hash ?? sha256(`unreadable ${use.check.type}`),
  }
}

interface Reading {
  /** As parseCheck() left them: the registry's schema produced them, so they are not parsed again. */
  readonly params: unknown
  /** The ports the check reads with their values; undefined when the check is not a parsed one. */
  readonly values: Readonly<Record<string, Json | undefined>> | undefined
  /** undefined: what the check reads is not JSON (NaN, a lone surrogate). */
  readonly hash: string | undefined
}

function read(gate: Gate<unknown> | undefined, check: Check, facts: GateFacts): Reading {
  const { type: _, ...params } = check
  let values: Reading['values']
  try {
    values = Object.fromEntries((gate?.reads(params) ?? []).map((port) => [port, readPort(facts, port)]))
    const hash = sha256(canonicalJson({ check, values, sees: gate?.sees?.(params, facts) }))
    return { params, values, hash }
  } catch {
    return { params, values, hash: undefined }
  }
}

async function answer(
  gate: Gate<unknown>,
  { params, values, hash }: Reading,
  facts: GateFacts,
  ports: GatePorts,
): Promise<CheckResult> {
  if (values === undefined) return broken('its parameters are not those of a parsed check')
  for (const [port, value] of Object.entries(values)) {
    const problem = unusable(port, value)
    if (problem !== undefined) return { passed: false, reason: problem, facts: { port } }
  }
  if (hash === undefined) return broken('what this gate reads is not JSON (NaN, or half of a character)')
  try {
    return await gate.check(params, facts, ports)
  } catch (cause) {
    return broken(`the gate broke off: ${cause instanceof Error ? cause.message : String(cause)}`)
  }
}

function broken(reason: string): CheckResult {
  return { passed: false, error: true, reason }
}

/** The author's words first, then what was seen and wanted; the latter is never cut away, the next attempt obeys it. */
function reasonFor(error: string | undefined, found: string): string {
  const detail = oneSentence(found, MAX_REASON)
  const room = MAX_REASON - [...detail].length - 2
  const said = oneSentence(error ?? '', Math.max(room, 1)).replace(/[\s.:;,]+$/, '')
  return said === '' || room < 20 ? detail : `${said}: ${detail}`
}
