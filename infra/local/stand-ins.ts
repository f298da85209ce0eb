import { followStep } from '../../functions/steps/follow-step.ts'
import type { StepEquipment } from '../../functions/steps/step-process.ts'
import type { Clock } from '../../shared/ports/host.ts'
import type { ObjectStore } from '../../shared/ports/objects.ts'
import { CALL_FILES } from '../../shared/steps/native-calls.ts'
import { type CallOrder, CallOrderSchema, STAND_IN_LOST } from '../../shared/steps/native-order.ts'
import type { StepOrder, StepReport } from '../../shared/steps/step-order.ts'
import type { Json } from '../../shared/text/json.ts'
import type { NativeCall } from './asl/execution-context.ts'
import { StateError } from './asl/state-error.ts'

/** What making a call of AWS here needs of the place. */
export interface CallPlace {
  readonly objects: Pick<ObjectStore, 'get' | 'put'>
  equip(order: StepOrder): Promise<StepEquipment>
  /** Calls report-step; false: the attempt is no longer this one's. */
  report(report: StepReport): Promise<boolean>
  readonly clock: Clock
  readonly look_ms: number
  /** The program of a step's process. */
  readonly runner: URL
}

/**
 * A call of AWS that a state of the machine makes, here: the module, program or container that stands in for it works as a
 * step does, and its outcome is the answer. Nothing is answered twice: of an attempt whose work had begun before this
 * process, which died with it, the state fails as STAND_IN_LOST.
 */
export async function makeCall(call: NativeCall, place: CallPlace, signal: AbortSignal): Promise<Json> {
  const order = await readOrder(call, place)
  const { step } = order
  const outcome =
    step.kind === 'native' ? await callAws(call, order, place, signal) : await standIn(order, place, signal)
  return call.resource === 'lambda:invoke' ? { Payload: outcome, StatusCode: 200 } : outcome
}

async function readOrder({ input, execution }: NativeCall, { objects }: CallPlace): Promise<CallOrder> {
  // As the compiler writes it (shared/compile/emit-block.ts), and as every execution is started.
  const { open } = input as unknown as { readonly open: { readonly order: string } }
  const { tenant } = execution as unknown as { readonly tenant: string }
  return CallOrderSchema.parse(JSON.parse(Buffer.from(await objects.get(tenant, open.order)).toString('utf8')))
}

async function standIn({ place, step }: CallOrder, at: CallPlace, signal: AbortSignal): Promise<Json> {
  const { ref: order_ref } = await at.objects.put(place.tenant, Buffer.from(JSON.stringify(step)))
  let outcome: string | undefined
  const report = async (said: StepReport) => {
    if (said.say !== 'end') return at.report(said)
    outcome = said.outcome
    return true
  }
  const follower = {
    objects: at.objects,
    equip: at.equip,
    report,
    look_ms: at.look_ms,
    runner: at.runner,
    now: () => at.clock.now(),
    signal,
  }
  await followStep({ place, order_ref, token: NO_TOKEN }, follower)
  if (outcome !== undefined) return { outcome }
  throw new StateError(STAND_IN_LOST, 'The attempt was begun before, or is not its own any more.')
}

/** The state waits for the call itself: a report about it answers no token. */
const NO_TOKEN = ''

/** What a function answered, or how it ended, as Step Functions tells it of a state. */
type FunctionAnswer = { readonly payload: Json } | { readonly error: string; readonly cause: string }
type InvokeFunction = (given: Json, signal: AbortSignal) => Promise<FunctionAnswer>

/** Only for a function that the settings say is to be called from here: no other place needs the SDK. */
async function loadInvoke(): Promise<InvokeFunction> {
  const loaded: { readonly invokeFunction: InvokeFunction } = await import(
    new URL(`../../functions/${CALL_FILES.lambda}`, import.meta.url).href
  )
  return loaded.invokeFunction
}

/** The function itself, with the rights of who runs this place: once begun it is not called again for the same attempt. */
async function callAws(call: NativeCall, { place }: CallOrder, at: CallPlace, signal: AbortSignal): Promise<Json> {
  if (!(await at.report({ place, token: NO_TOKEN, say: 'begin' }))) {
    throw new StateError(STAND_IN_LOST, 'The function was called for this attempt before.')
  }
  const invoke = await loadInvoke()
  const answer = await invoke(call.arguments, signal)
  if ('error' in answer) throw new StateError(answer.error, answer.cause)
  return answer.payload
}
