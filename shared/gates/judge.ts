import type { GateUse } from '../dag/dag.ts'
import { sha256 } from '../text/hash.ts'
import { canonicalJson, type Json } from '../text/json.ts'
import { safeOneLine } from '../text/redact.ts'
import { atLeast, leafChecks, negateOutcome, type Outcome, paramsOfCheck, partsOfCheck } from './check-composition.ts'
import type { CheckResult, GateFacts, Verdict } from './gate.ts'
import type { GatePorts } from './gate-ports.ts'
import { gateOfCheck, versionOfCheck } from './project-gates.ts'
import { readPort, unusableReason } from './read-facts.ts'
import { findGate } from './registry.ts'

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
  const version = versionOfCheck(use.check)
  const status = passed ? 'passed' : result.error === undefined ? 'failed' : 'error'
  return {
    name: use.name,
    type: use.check.type,
    passed,
    status,
    reason: passed ? safeOneLine(result.reason, MAX_REASON) : reasonFor(use.error, result.reason),
    facts: shortenFacts(result.facts ?? {}),
    duration_ms: Math.max(0, now() - start),
    input_hash: hash ?? unreadable(use.check),
    ...(version === undefined ? {} : { version }),
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
    const values = Object.fromEntries(portsRead(check).map((port) => [port, readPort(facts, port)]))
    const seen = leafChecks(check).map((leaf) => gateOfCheck(leaf)?.sees?.(paramsOfCheck(leaf), facts) ?? null)
    return sha256(canonicalJson({ check, values, sees: partsOfCheck(check) === undefined ? seen[0] : seen }))
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
  const detail = safeOneLine(found, MAX_REASON)
  const room = MAX_REASON - [...detail].length - 2
  const said = safeOneLine(error ?? '', Math.max(room, 1)).replace(/[\s.:;,]+$/, '')
  return said === '' || room < 20 ? detail : `${said}: ${detail}`
}

type GateCheck = GateUse['check']

/** Characters of a composition's reason that its parts share, and what each part has at least. */
const PARTS_REASON = 230
const PART_REASON = 40

/** The ports a parsed check reads, those of nested checks too. Throws for a check that was never parsed. */
export function portsRead(check: GateCheck): readonly string[] {
  return [...new Set(leafChecks(check).flatMap((leaf) => gateOfCheck(leaf)?.reads(paramsOfCheck(leaf)) ?? []))]
}

/** What a parsed check comes to, nested ones too; never throws (the rules: check-composition.ts). */
async function answerCheck(check: GateCheck, facts: GateFacts, ports: GatePorts): Promise<CheckResult> {
  const found = partsOfCheck(check)
  const result =
    found === undefined
      ? await answerLeaf(check, facts, ports)
      : composed(found, await Promise.all(found.parts.map((part) => answerCheck(part, facts, ports))))
  return check.not === true ? negated(result) : result
}

/** A check that could not be carried out. */
function broken(reason: string): CheckResult {
  return { passed: false, error: true, reason }
}

async function answerLeaf(check: GateCheck, facts: GateFacts, ports: GatePorts): Promise<CheckResult> {
  const gate = gateOfCheck(check)
  if (gate === undefined) return broken('there is no gate of this type here')
  const params = paramsOfCheck(check)
  let read: readonly string[]
  try {
    read = gate.reads(params)
  } catch {
    return broken('its parameters are not those of a parsed check')
  }
  for (const port of read) {
    const problem = unusableReason(port, readPort(facts, port))
    if (problem !== undefined) return { passed: false, unfit: true, reason: problem, facts: { port } }
  }
  try {
    return await gate.check(params, facts, ports)
  } catch (cause) {
    return broken(`the gate broke off: ${cause instanceof Error ? cause.message : String(cause)}`)
  }
}

function composed(
  { wanted, parts }: NonNullable<ReturnType<typeof partsOfCheck>>,
  results: readonly CheckResult[],
): CheckResult {
  if (!(wanted >= 1 && wanted <= parts.length)) return broken('its parameters are not those of a parsed check')
  const outcomes = results.map(outcomeOf)
  const outcome = atLeast(wanted, outcomes)
  const held = outcomes.filter((one) => one === 'pass').length
  const telling = results.filter(({ passed }) => passed === (outcome === 'pass'))
  const room = Math.max(PART_REASON, Math.floor(PARTS_REASON / telling.length))
  const words = telling.map(({ reason }) => safeOneLine(reason, room)).join('; ')
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
  const outcome = negateOutcome(outcomeOf(result))
  const facts = { ...result.facts, not: true }
  if (outcome === 'pass') return { passed: true, reason: `does not hold, as wanted: ${result.reason}`, facts }
  return outcome === 'fail'
    ? { passed: false, reason: `must not hold: ${result.reason}`, facts }
    : { ...RESULTS[outcome], reason: result.reason, facts }
}

/** Bytes of JSON a verdict's facts may have: larger ones would not fit the event. */
const LIMIT = 512

/** Text lengths and list lengths tried in turn until the facts fit. */
const CUTS = [
  { text: 120, items: 10 },
  { text: 40, items: 5 },
  { text: 12, items: 2 },
] as const

type Facts = Readonly<Record<string, Json>>

/** Facts cut to 512 bytes of JSON: long texts and lists keep their start and a note of their real length. */
export function shortenFacts(facts: Facts): Facts {
  for (const cut of CUTS) {
    const small = Object.fromEntries(Object.entries(facts).map(([key, value]) => [key, shorten(value, cut)]))
    if (Buffer.byteLength(JSON.stringify(small)) <= LIMIT) return small
  }
  return { note: `facts of ${Buffer.byteLength(JSON.stringify(facts))} bytes are left out, at most ${LIMIT} are kept` }
}

function shorten(value: Json, cut: (typeof CUTS)[number]): Json {
  if (typeof value === 'string') return shortenText(value, cut.text)
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) {
    const start = value.slice(0, cut.items).map((item) => shorten(item, cut))
    return value.length > cut.items ? [...start, `… (${value.length} items)`] : start
  }
  return Object.fromEntries(
    Object.entries(value).map(([key, member]) => [shortenText(key, cut.text), shorten(member, cut)]),
  )
}

function shortenText(text: string, limit: number): string {
  if (text.length <= limit) return safeOneLine(text, limit)
  return `${safeOneLine(text, limit)} (${text.length} characters)`
}

/** The parts of a recorded verdict that do not depend on the day. */
type RecordedVerdict = Pick<Verdict, 'status' | 'reason' | 'input_hash'> & { readonly facts: unknown }

/**
 * `same`: judged again, and it came out as recorded. `recorded`: it asks the world, or a person waived it, and its inputs
 * are those of the record, which stands. `other_input`: it is not the verdict of this check on these values. `different`:
 * same inputs, another verdict: the record, or the kind, is wrong.
 */
type Replay = 'same' | 'recorded' | 'other_input' | 'different'

/** Replays a recorded verdict (ADR 0026); nothing but the isolate is asked. */
export async function replayVerdict(
  recorded: RecordedVerdict,
  use: GateUse,
  facts: GateFacts,
  ports: Pick<GatePorts, 'isolate' | 'script'>,
): Promise<Replay> {
  if (inputHash(use.check, facts) !== recorded.input_hash) return 'other_input'
  if (recorded.status === 'waived' || asksTheWorld(use.check)) return 'recorded'
  const again = await judgeGate(use, facts, only(ports), () => 0)
  return told(again) === told(recorded) ? 'same' : 'different'
}

function only({ isolate, script }: Pick<GatePorts, 'isolate' | 'script'>): GatePorts {
  return { isolate, ...(script === undefined ? {} : { script }) }
}

/** Whether its verdict depends on more than its inputs, as the examples of its kinds say. */
function asksTheWorld(check: GateUse['check']): boolean {
  return leafChecks(check).some(
    ({ type }) => findGate(type)?.examples.some(({ needs }) => needs !== undefined) === true,
  )
}

function told({ status, reason, facts }: RecordedVerdict): string {
  return canonicalJson({ status, reason, facts })
}
