import { attemptLimit } from '../../shared/runs/caps.ts'
import { PHASE, readOrdinal } from '../../shared/runs/lane.ts'
import {
  type CallDone,
  type CallOrder,
  CallOrderSchema,
  STAND_IN_LOST,
  StandInAnswerSchema,
} from '../../shared/steps/native-order.ts'
import type { StepOutcome } from '../../shared/steps/step-order.ts'
import type { Json } from '../../shared/text/json.ts'
import { shortRedacted } from '../../shared/text/short-text.ts'
import type { BlockCall } from './block-call.ts'
import { callKey } from './block-call.ts'
import { type BlockReport, retryBlock } from './block-report.ts'
import { findNextAttempt } from './claim.ts'
import { readObject, readOutcome, recordOutcome, slotWait } from './step-end.ts'

/**
 * `_close_<id>` of a block whose work AWS did itself: takes what the call came to -> contract -> post-gates -> publish.
 * What is not of the attempt that is claimed is nobody's: the machine goes back to `<id>`, which finds what is left to do.
 */
export async function closeNativeCall(call: BlockCall, done: CallDone): Promise<BlockReport> {
  if (call.lane === undefined) throw retryBlock(call, slotWait(call))
  const { attempt } = readOrdinal(call.lane)
  const order = await readCallOrder(call, attempt, done)
  if (order === undefined) throw retryBlock(call)
  const { step, values } = order
  if (done.error === STAND_IN_LOST) {
    // It was ended with its place: lost, and made again.
    await findNextAttempt(call)
    throw retryBlock(call)
  }
  if (step.kind === 'native') {
    const outcome = await outcomeOfCall(call, order, done)
    return recordOutcome(call, attempt, { outcome, order: step, values, provider: 'aws' })
  }
  const { outcome_ref, outcome } = (await standInOutcome(call, attempt, done)) ?? {}
  if (outcome === undefined) {
    const bare = { ...bareOutcome(call, order, done), failure: failureOf(call, done) }
    return recordOutcome(call, attempt, { outcome: bare, order: step, values, provider: 'step' })
  }
  const { outputs } = outcome
  const mapped = outputs === undefined ? outcome : { ...outcome, outputs: outputsOf(call, outputs) }
  return recordOutcome(call, attempt, { outcome: mapped, outcome_ref, order: step, values, provider: 'step' })
}

/** The order of the attempt that is claimed; undefined: it is that of another, or there was nothing to call. */
async function readCallOrder(
  call: BlockCall,
  attempt: number,
  { order: ref }: CallDone,
): Promise<CallOrder | undefined> {
  const { phase } = readOrdinal(call.lane ?? 0)
  if (ref === undefined || phase < PHASE.claimed || phase >= PHASE.retrying) return undefined
  const read = CallOrderSchema.safeParse(await readObject(call, ref))
  return read.success && read.data.step.key === callKey(call, attempt, 0) ? read.data : undefined
}

async function standInOutcome(call: BlockCall, attempt: number, { result }: CallDone) {
  const answer = StandInAnswerSchema.safeParse(result)
  if (!answer.success) return undefined
  const outcome_ref = answer.data.outcome
  const outcome = await readOutcome(call, attempt, outcome_ref)
  return outcome === undefined ? undefined : { outcome_ref, outcome }
}

function bareOutcome({ world }: BlockCall, { opened_at, step }: CallOrder, { order = '' }: CallDone): StepOutcome {
  const latency_ms = Math.max(0, world.clock.now() - opened_at)
  return { v: 1, key: step.key, order_ref: order, artifacts: [], latency_ms, stored_bytes: 0 }
}

async function outcomeOfCall(call: BlockCall, order: CallOrder, done: CallDone): Promise<StepOutcome> {
  const bare = bareOutcome(call, order, done)
  if (done.error !== undefined) return { ...bare, failure: failureOf(call, done) }
  if (call.block.mode !== 'deterministic' || call.block.handler !== 'container') {
    return { ...bare, outputs: outputsOf(call, done.result ?? null) }
  }
  const name = String(call.block.config.container)
  const left = await call.world.steps.collect({ tenant: call.run.tenant, name, holder: order.place.holder })
  if (left === undefined) return { ...bare, failure: noAnswer('it wrote no output.json') }
  const { output, artifacts, stored_bytes } = left
  const outputs = readObjectText(output)
  if (outputs === undefined)
    return { ...bare, artifacts, stored_bytes, failure: noAnswer('its output.json is no JSON object') }
  return { ...bare, artifacts, stored_bytes, outputs: withArtifacts(outputs, artifacts) }
}

function noAnswer(what: string): StepOutcome['failure'] {
  return { code: 'step_answer', reason: `the container: ${what}`, retry: true }
}

function readObjectText(text: string): Readonly<Record<string, Json>> | undefined {
  try {
    const value: unknown = JSON.parse(text)
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value)
    // Parsed from JSON text.
    return isObject ? (value as Readonly<Record<string, Json>>) : undefined
  } catch {
    return undefined
  }
}

/** An output that names a file it left is the object that file became. */
function withArtifacts(
  outputs: Readonly<Record<string, Json>>,
  artifacts: StepOutcome['artifacts'],
): Record<string, Json> {
  const refs = new Map(artifacts.map(({ name, ref }) => [`artifacts/${name}`, ref]))
  return Object.fromEntries(
    Object.entries(outputs).map(([port, value]) => [
      port,
      typeof value === 'string' ? (refs.get(value) ?? value) : value,
    ]),
  )
}

/**
 * Outputs take members of the answer by name; where there is one alone and no member of its name, it takes all of it. A
 * container names its outputs itself.
 */
function outputsOf({ block }: BlockCall, answer: Json): Record<string, Json> {
  const [only, ...more] = Object.keys(block.outputs)
  const isObject = typeof answer === 'object' && answer !== null && !Array.isArray(answer)
  // TypeScript does not take lists out of Json by Array.isArray.
  const members = isObject ? (answer as Readonly<Record<string, Json>>) : {}
  const isContainer = block.mode === 'deterministic' && block.handler === 'container'
  if (only === undefined) return {}
  const takesAll = more.length === 0 && !isContainer && !Object.hasOwn(members, only)
  if (takesAll) return answer === null ? {} : { [only]: answer }
  return Object.fromEntries(
    Object.keys(block.outputs).flatMap((port) => {
      const value = Object.hasOwn(members, port) ? members[port] : undefined
      return value === undefined ? [] : [[port, value]]
    }),
  )
}

/** Why a call did not end well, from the error and the cause that Step Functions caught. */
function failureOf(call: BlockCall, { error = '', cause = '' }: CallDone): NonNullable<StepOutcome['failure']> {
  const said = wordsOf(cause)
  const reason = (words: string) => shortRedacted(said === '' ? words : `${words}: ${said}`)
  if (error === 'States.Timeout') {
    return { code: 'block_timeout', reason: reason(`the call took longer than ${allowed(call)}`), retry: true }
  }
  if (error === 'States.DataLimitExceeded') {
    const words =
      'its answer is larger than the 256 KiB a state may have. Let what is called keep it, and answer where it lies'
    return { code: 'call_answer_too_large', reason: reason(words), retry: false }
  }
  if (/Throttl|TooManyRequests|LimitExceeded|SlowDown|ThroughputExceeded/.test(error)) {
    return { code: 'call_throttled', reason: reason(`the service had no room for the call (${error})`), retry: true }
  }
  if (/AccessDenied|Unauthorized|States\.Permissions|NotAuthorized/.test(error)) {
    return { code: 'call_denied', reason: reason(`the machine may not make the call (${error})`), retry: false }
  }
  if (
    /Validation|InvalidParameter|InvalidRequest|ResourceNotFound|DoesNotExist|NotFound|States\.QueryEvaluationError/.test(
      error,
    )
  ) {
    return { code: 'call_refused', reason: reason(`the service refused the call (${error})`), retry: false }
  }
  return { code: 'call_failed', reason: reason(`the call failed (${error})`), retry: true }
}

function allowed({ block, world }: BlockCall): string {
  const { ms, cap } = attemptLimit(block, world.settings.safety)
  return cap === undefined ? `timeout_ms ${ms}` : `the safety policy allows (${cap} ${ms})`
}

/** What a person wants to know of a cause: many are JSON, of a function or of a task. */
function wordsOf(cause: string): string {
  try {
    const told: unknown = JSON.parse(cause)
    if (typeof told !== 'object' || told === null) return cause
    const { errorMessage, StoppedReason, StatusReason, Containers } = told as Readonly<Record<string, unknown>>
    const exits = (Array.isArray(Containers) ? Containers : []).flatMap((one: Readonly<Record<string, unknown>>) => {
      const code =
        one.ExitCode === undefined || one.ExitCode === 0
          ? []
          : [`${String(one.Name)} ended with exit code ${String(one.ExitCode)}`]
      return [...code, ...(typeof one.Reason === 'string' ? [one.Reason] : [])]
    })
    const words = [errorMessage, StoppedReason, StatusReason].filter((one) => typeof one === 'string')
    return words.length + exits.length === 0 ? cause : [...words, ...exits].join('; ')
  } catch {
    return cause
  }
}
