import {
  CALL_BYTES,
  callNameOf,
  isNativeHandler,
  type NativeHandler,
  secretsGiven,
  templatesOfCall,
} from '../../shared/dag/native-call.ts'
import { textsIn, writeBody } from '../../shared/dag/service-request.ts'
import { Fault } from '../../shared/errors.ts'
import { isolateFor } from '../../shared/ports/isolate.ts'
import { portValues } from '../../shared/runs/block-inputs.ts'
import { attemptLimit } from '../../shared/runs/caps.ts'
import { PHASE, readOrdinal } from '../../shared/runs/lane.ts'
import { type Parameters, parametersOfCall, takenParameter } from '../../shared/steps/integrations.ts'
import { findFunction, findResource } from '../../shared/steps/native-calls.ts'
import type { CallOrder } from '../../shared/steps/native-order.ts'
import type { StepOrder } from '../../shared/steps/step-order.ts'
import type { Json } from '../../shared/text/json.ts'
import { safeOneLine } from '../../shared/text/redact.ts'
import type { HostContext } from '../handler.ts'
import { readOwnProjection } from '../record/projections.ts'
import { advanceLane, failBlockOnFault } from './advance.ts'
import { toFailure } from './attempt-outcome.ts'
import { type BegunAttempt, beginAttempt, endWithoutWork, finishBegun } from './begin-attempt.ts'
import { type BlockCall, callKey, roomOf, toldKey } from './block-call.ts'
import { type BlockReport, reportBlock, retryBlock } from './block-report.ts'
import {
  claimAttempt,
  findNextAttempt,
  loseAttempt,
  type OpenAttempt,
  placeOfAttempt,
  recordPreGateVerdicts,
} from './claim.ts'
import { type PreparedAttempt, prepareAttempt } from './prepare.ts'

/** What `<id>` answers where there is something to call: what the next state is given and how long it may take, and where the order lies. */
interface OpenedCall {
  readonly call: Json
  readonly timeout_sec: number
  readonly order: string
}

/**
 * `<id>` of a block, or of one item, whose work AWS does itself: claims the attempt and answers what the machine calls. No
 * lease guards it: while the machine stands here nothing was called yet, so whoever comes again goes on with the same
 * attempt (docs/adr/0074).
 */
export async function openNativeCall(call: BlockCall, host: HostContext): Promise<BlockReport | OpenedCall> {
  const opened: OpenedCall[] = []
  const open = async (now: BlockCall, undecided: boolean) => {
    const made = await tryCall(now, undecided, host.signal)
    if (!('call' in made)) return made
    opened.push(made)
    return reportBlock(now, { state: 'running', attempt: 0, seq: now.head.seq, verdicts: [] })
  }
  const report = await failBlockOnFault(call, host, () => advanceLane(call, open))
  return opened[0] ?? report
}

async function tryCall(
  call: BlockCall,
  undecided: boolean,
  signal: AbortSignal | undefined,
): Promise<BlockReport | OpenedCall> {
  const open = await openAttempt(call)
  const begun = await beginAttempt(call, open, {
    undecided,
    prepare: () => prepareAgain(call, open),
    claim: (ready) => claimed(call, open, ready, signal),
  })
  if (!('ready' in begun)) return begun
  const end = await callOrEnd(call, begun, open.untried, signal)
  return 'call' in end ? end : finishBegun(call, begun, end)
}

/** Of an attempt that was claimed before, it is the same, or lost. */
async function prepareAgain(call: BlockCall, { attempt, holder, hash }: Opened): Promise<PreparedAttempt> {
  const ready = await prepareAttempt(call, attempt)
  if (holder === undefined || ready.hash === hash) return ready
  // What it is called with moved between two calls of this function: the next attempt says so.
  await loseAttempt(call, attempt)
  throw retryBlock(call)
}

interface Opened extends OpenAttempt {
  /** Who claimed it before, and with what; undefined: nobody did. */
  readonly holder?: string | undefined
  readonly hash?: string | undefined
}

async function openAttempt(call: BlockCall): Promise<Opened> {
  const { attempt, phase } = readOrdinal(call.lane ?? 0)
  if (call.resumed === undefined && call.lane !== undefined && phase >= PHASE.claimed && phase < PHASE.begun) {
    const before = await readOwnProjection(call, call.lane)
    if (before?.holder !== undefined) {
      const { holder, inputs_hash: hash, untried } = before
      return { attempt, lane: call.lane, holder, hash, ...(untried === undefined ? {} : { untried }) }
    }
  }
  const open = await findNextAttempt(call)
  if (open === 'lost_for_good') throw retryBlock(call)
  return open
}

/** Who holds it now. Who claimed may have died before the verdicts of the pre-gates were recorded. */
async function claimed(
  call: BlockCall,
  open: Opened,
  ready: PreparedAttempt,
  signal: AbortSignal | undefined,
): Promise<string | 'ended'> {
  if (open.holder === undefined) {
    const made = await claimAttempt(call, open, ready, signal)
    return made === 'ended' ? made : made.holder
  }
  const { leg, phase } = readOrdinal(open.lane ?? 0)
  const isOpen = leg === 0 && phase < PHASE.claimed + 9
  const recorded = isOpen ? await recordPreGateVerdicts(call, open.attempt, ready) : undefined
  return recorded === 'ended' ? recorded : open.holder
}

/** What to call, or its end without a call: it could not begin, or a kept result stands in for it. */
async function callOrEnd(
  call: BlockCall,
  begun: BegunAttempt<string>,
  untried: number | undefined,
  signal: AbortSignal | undefined,
) {
  const { attempt, claim: holder, ready, feedback } = begun
  try {
    const over = await endWithoutWork(call, begun)
    return over ?? (await orderCall(call, { attempt, untried, holder, values: ready.values, feedback, signal }))
  } catch (error) {
    if (signal?.aborted === true) throw error
    if (error instanceof Fault && error.name === 'Unavailable') throw error
    return { attempt, verdicts: [], gate_events: [], failure: { ...toFailure(call, error), retry: false } }
  }
}

interface Ordered {
  readonly attempt: number
  /** Attempts before it that were no try. */
  readonly untried: number | undefined
  readonly holder: string
  readonly values: Readonly<Record<string, Json>>
  readonly feedback: readonly string[]
  readonly signal: AbortSignal | undefined
}

async function orderCall(call: BlockCall, ordered: Ordered): Promise<OpenedCall> {
  const { world, storage, run, block } = call
  const { attempt, untried, holder, values, feedback } = ordered
  const { handler, step, config } = requireCall(call)
  const { ms: timeout_ms } = attemptLimit(block, world.settings.safety)
  const key = callKey(call, attempt, 0)
  const told_key = toldKey(call, attempt, untried)
  const made = await CALLS[handler](call, ordered, told_key)
  await refuseSecrets(call, made.own, templatesOfCall(handler, config)[0])
  const bytes = Buffer.byteLength(JSON.stringify(made.call))
  if (bytes > CALL_BYTES) {
    const what = `what it is given has ${bytes} bytes as JSON; at most ${CALL_BYTES} are allowed. Hand over a reference to an artifact instead of a large value`
    throw callFault(call, 'call_too_large', what)
  }
  const name = step.stand_in ?? callNameOf(handler, config)
  const order: StepOrder = {
    v: 1,
    name,
    hash: step.hash,
    kind: step.kind,
    inputs: made.stand_in,
    beside: {},
    config: {},
    feedback: [...feedback],
    key,
    told_key,
    attempt,
    timeout_ms,
    room_bytes: await roomOf(call),
  }
  const kept: CallOrder = {
    v: 1,
    place: placeOfAttempt(call, { attempt, holder }),
    opened_at: world.clock.now(),
    values,
    step: order,
  }
  const { ref } = await storage.bounded.objects.put(run.tenant, Buffer.from(JSON.stringify(kept)))
  world.log.info?.('call handed to the machine', { ...run, block_id: block.id, attempt, call: name })
  return { call: made.call, timeout_sec: Math.ceil(timeout_ms / 1_000), order: ref }
}

/** A document is bound to what a place knows of its calls when a run starts. */
function requireCall({ block }: BlockCall) {
  if (block.mode === 'deterministic' && isNativeHandler(block.handler) && block.step !== undefined) {
    return { ...block, handler: block.handler, step: block.step }
  }
  const message = `Cannot run block "${block.id}": its run began without knowing what it calls. Start the run again.`
  throw new Fault('Bug', 'step_not_described', message)
}

interface MadeCall {
  /** What the state is given. */
  readonly call: Json
  /** What of it the block gave, and no operator. */
  readonly own: Json
  /** What a stand-in gets as its inputs. */
  readonly stand_in: Readonly<Record<string, Json>>
}

type MakeCall = (call: BlockCall, ordered: Ordered, key: string) => Promise<MadeCall>

const CALLS: Readonly<Record<NativeHandler, MakeCall>> = {
  async lambda(call, ordered, key) {
    const { config } = requireCall(call)
    const name = String(config.function)
    const payload = await written(call, ordered, config.payload, config.payload_expression)
    const Payload = payload ?? portValues(call.block, ordered.values)
    const made = findFunction(call.world.settings, name)
    const FunctionName = ('found' in made ? made.found.arn : undefined) ?? name
    // What a function of somebody else's finds the attempt by, beside its payload.
    const about = { custom: { sluice: { key, attempt: ordered.attempt } } }
    const ClientContext = Buffer.from(JSON.stringify(about)).toString('base64')
    const given = { FunctionName, Payload, ClientContext }
    return { call: given, own: Payload, stand_in: { call: `lambda:${name}`, parameters: Payload } }
  },
  async aws(call, ordered, key) {
    const { config } = requireCall(call)
    const name = String(config.call)
    const given = await written(call, ordered, config.parameters, config.parameters_expression)
    const own = (given ?? {}) as Json
    if (typeof own !== 'object' || own === null || Array.isArray(own)) {
      throw callFault(call, 'bad_call', 'its parameters are no object of names and values. Mend parameters_expression')
    }
    const resource = config.resource === undefined ? undefined : String(config.resource)
    const found = findResource(call.world.settings, { handler: 'aws', call: name, resource })
    const fixed: Parameters = ('found' in found ? found.found?.parameters : undefined) ?? {}
    // TypeScript does not take lists out of Json by Array.isArray.
    const parameters = own as Parameters
    const taken = takenParameter(name, parameters, fixed)
    if (taken !== undefined) {
      throw callFault(
        call,
        'bad_call',
        `"${taken}" is the operator's to give, and its parameters give it too. Leave it out`,
      )
    }
    const all = parametersOfCall(name, parameters, fixed, key)
    return { call: all, own, stand_in: { call: name, parameters: all } }
  },
  async container(call, ordered, key) {
    const { config } = requireCall(call)
    const name = String(config.container)
    const args = (await written(call, ordered, config.command_args, undefined)) ?? []
    const command_args = (Array.isArray(args) ? args : []).map((arg) =>
      typeof arg === 'string' ? arg : JSON.stringify(arg),
    )
    const inputs = portValues(call.block, ordered.values)
    const { attempt, feedback } = ordered
    const task = {
      tenant: call.run.tenant,
      name,
      command_args,
      key,
      holder: ordered.holder,
      work: { inputs, key, attempt, feedback: [...feedback] },
    }
    const made = await call.world.steps.task(task)
    const stand_in = { call: `container:${name}`, parameters: { inputs, command_args } }
    return { call: made, own: command_args, stand_in }
  },
}

/** A part of the config with its values in place; undefined: there is none. */
async function written(
  call: BlockCall,
  { values, signal }: Ordered,
  part: Json | undefined,
  program: Json | undefined,
): Promise<Json | undefined> {
  if (typeof program === 'string') {
    const isolate = isolateFor(call.world.isolate, { tenant: call.run.tenant, signal })
    const answer = await isolate.run('transform', { program, input: { inputs: values } })
    signal?.throwIfAborted()
    if (answer.ok) return answer.value
    throw callFault(
      call,
      'bad_call',
      `its expression stopped (${answer.because}): ${answer.message}. Mend it (JSONata 2.0 over {inputs})`,
    )
  }
  if (part === undefined) return undefined
  try {
    return writeBody(part, values, 'config')
  } catch (error) {
    if (error instanceof Fault) throw callFault(call, error.code, error.message.replace(/\.$/, ''))
    throw error
  }
}

/** As of the document itself (shared/document/native-calls.ts): its values came with the run, or from other blocks. */
async function refuseSecrets(call: BlockCall, own: Json, key: string): Promise<void> {
  const [found] = secretsGiven(own, [key])
  const texts = textsIn(own, []).map(([text]) => text)
  const isKnown = found === undefined && (await call.world.steps.holdsSecret(texts))
  if (found === undefined && !isKnown) return
  const where = found === undefined ? `${key} holds a secret of the settings` : `${found.join('.')} looks like a secret`
  const what = `${safeOneLine(where, 200)}, and what a call is given stands in the history of the machine. Give it to what is called: the environment of the function, secrets of the container`
  throw callFault(call, 'secret_in_call', what)
}

function callFault({ block }: BlockCall, code: string, what: string): Fault {
  return new Fault('InvalidInput', code, `Cannot run block "${block.id}": ${what}.`)
}
