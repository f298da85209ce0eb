import type { NativeCall } from '../../infra/local/asl/execution-context.ts'
import { StateError } from '../../infra/local/asl/state-error.ts'
import type { RunEvent } from '../../shared/runs/event.ts'
import type { Append } from '../../shared/runs/run-store.ts'
import { CallOrderSchema } from '../../shared/steps/native-order.ts'
import type { Json } from '../../shared/text/json.ts'
import type { MemoryObjects } from './memory-objects.ts'
import { hashed } from './rng.ts'
import type { Sim } from './sim.ts'

/** What blocks call here: its rights are those of the settings. */
export const CALL = { call: 'ecs:runTask.sync', resource: 'nightly' } as const
export const CALL_SETTINGS = {
  'ecs:runTask.sync': { resources: { nightly: { parameters: { Cluster: 'main', TaskDefinition: 'nightly' } } } },
}

/** How calls end, by share of them. */
export interface CallRates {
  /** A gate refuses what they answer; it does not fit. */
  readonly bad: number
  readonly odd: number
  /** An error of their own; one the machine tries again itself. */
  readonly fails: number
  readonly throttled: number
  /** Nobody answers before their time is up. */
  readonly lost: number
  /** What they came to is told once more, up to a minute later. */
  readonly again: number
}

interface Parts {
  readonly sim: Sim
  readonly rates: CallRates
  readonly objects: MemoryObjects
}

/** Longer than a function stands still that goes on (invocation.ts): what it had in hand is of an attempt before. */
const LONGEST_MS = 300_000
const ERRORS = ['States.TaskFailed', 'ECS.AccessDeniedException', 'ECS.InvalidParameterException']

/**
 * Calls of AWS whose work is time that passes. Each answers with the key of the attempt it was made for, so that who
 * records what another attempt came to is seen (`watchOutputs`).
 */
export function createSimulatedCalls({ sim, rates, objects }: Parts) {
  const tries = new Map<string, number>()
  return {
    /** The call that records what one came to comes again, late: by then another attempt may be under way. */
    again(payload: Json, call: () => Promise<unknown>): void {
      const { done } = payload as { readonly done?: { readonly order?: string } }
      if (done?.order === undefined || sim.scheduler.now() >= sim.calm_at) return
      if (hashed(sim.seed, `again ${done.order}`) >= rates.again) return
      sim.trace('what a call came to is told again, late')
      sim.scheduler.after(hashed(sim.seed, `later ${done.order}`) * 60_000, () => void call().catch(() => undefined))
    },
    async native({ input, execution }: NativeCall, signal: AbortSignal): Promise<Json> {
      // As the compiler writes it, and as every execution is started.
      const { open } = input as unknown as { readonly open: { readonly order: string } }
      const { tenant } = execution as unknown as { readonly tenant: string }
      const body = await objects.get(tenant, open.order)
      const { step } = CallOrderSchema.parse(JSON.parse(Buffer.from(body).toString('utf8')))
      const { key, attempt } = step
      const nth = tries.get(key) ?? 0
      tries.set(key, nth + 1)
      const dice = (what: string) => hashed(sim.seed, `call ${what} ${nth} ${key}`)
      const isWild = sim.scheduler.now() < sim.calm_at
      if (isWild && dice('throttled') < rates.throttled) throw new StateError('ECS.ThrottlingException', 'later')
      const isLost = isWild && dice('lost') < rates.lost
      await sim.scheduler.delay(isLost ? 3_600_000 : dice('long') ** 2 * LONGEST_MS, signal)
      return answerOf(rates, dice('kind'), { key, attempt })
    },
  }
}

function answerOf(
  rates: CallRates,
  dice: number,
  { key, attempt }: { readonly key: string; readonly attempt: number },
): Json {
  const third = Math.floor(dice * 1e6) % 3
  if (dice < rates.bad) return { key, text: 'bad' }
  if (dice < rates.bad + rates.odd) return third === 0 ? { key } : { key, text: third }
  if (dice < rates.bad + rates.odd + rates.fails) {
    throw new StateError(ERRORS[third] ?? 'States.TaskFailed', JSON.stringify({ StoppedReason: 'it ended' }))
  }
  return { key, text: `good answer of attempt ${attempt}` }
}

/** 45: what is recorded of an attempt that AWS worked on is what was answered to its own call. */
export function watchOutputs({ sim, objects }: Omit<Parts, 'rates'>, { run, lane, events }: Append): void {
  for (const event of events) {
    if (event.type !== 'block:output' || event.data.provider !== 'aws') continue
    const ref = event.data.outputs.key?.ref
    if (ref === undefined) continue
    const attempt = (event as Partial<RunEvent>).attempt ?? 0
    void objects.get(run.tenant, ref).then((body) => {
      const key = Buffer.from(body).toString('utf8').replaceAll('"', '')
      const [of, at, , its = ''] = key.split('/')
      // A retried run takes over what an earlier one recorded.
      const isOwn = of !== run.run_id || (at === lane && Number(its.split('.')[0]) === attempt)
      if (!isOwn) sim.violate(45, `attempt ${attempt} of ${lane} in ${run.run_id} is judged by the answer to ${key}`)
    })
  }
}
