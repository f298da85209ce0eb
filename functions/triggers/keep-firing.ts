import { Fault } from '../../shared/errors.ts'
import type { StoredValue } from '../../shared/runs/event.ts'
import { canonicalJson, type Json } from '../../shared/text/json.ts'
import {
  expressionOf,
  mapOf,
  programWithTime,
  runIdOfFiring,
  type Trigger,
  type TriggerKey,
} from '../../shared/triggers/trigger.ts'
import type { Firing } from '../../shared/triggers/trigger-store.ts'
import type { World } from '../../shared/world.ts'
import { countUploadBytes } from '../record/storage-quota.ts'

export type KeepWorld = Pick<World, 'triggers' | 'objects' | 'isolate' | 'runs' | 'clock' | 'settings' | 'log'>

/** What a firing is about, before anything of it is computed. */
export interface Occasion {
  readonly id: string
  /** ISO time it is for. */
  readonly at: string
  /** What expressions may read besides `firing` and `trigger`. */
  readonly roots: Readonly<Record<string, Json>>
  readonly by?: Firing['by']
  /** The run it comes from, where that is known, and how many firings led there. */
  readonly after?: Firing['after']
  /** What was dropped, where that fired it. */
  readonly object?: Firing['object']
  /** Inputs somebody gave by hand: they go before those of the document. */
  readonly given?: Readonly<Record<string, Json>>
}

/** What expressions of a firing read. */
export function readBy(key: TriggerKey, { id, at, roots }: Pick<Occasion, 'id' | 'at' | 'roots'>) {
  return { ...roots, firing: { id, at }, trigger: { document: key.document, name: key.trigger } }
}

/** The run inputs of a firing. Fault InvalidInput trigger_expression_failed names the expression. */
export async function inputsOf(
  { isolate }: Pick<World, 'isolate'>,
  key: TriggerKey,
  trigger: Trigger,
  occasion: Occasion,
): Promise<Readonly<Record<string, Json>>> {
  const { given = {} } = occasion
  const input = readBy(key, occasion)
  const inputs: Record<string, Json> = {}
  const read = async (name: string, program: string, place: string) => {
    const answer = await isolate.run('transform', { program: programWithTime(program), input }, undefined, key)
    if (!answer.ok)
      throw failed(key, place, answer.because === 'error' ? answer.message : `it ran over its ${answer.because}`)
    if (answer.value !== undefined) inputs[name] = answer.value
  }
  for (const [name, value] of Object.entries(trigger.inputs)) {
    if (Object.hasOwn(given, name)) continue
    const program = expressionOf(value)
    if (program === undefined) inputs[name] = value
    else await read(name, program, `inputs.${name}`)
  }
  for (const [name, program] of Object.entries(mapOf(trigger))) {
    if (!Object.hasOwn(given, name)) await read(name, program, `map.${name}`)
  }
  return { ...inputs, ...given }
}

function failed({ document, trigger }: TriggerKey, place: string, why: string): Fault {
  const message = `Cannot fire trigger "${trigger}" of DAG "${document}": ${place} could not be computed: ${why.slice(0, 300)}.`
  return new Fault('InvalidInput', 'trigger_expression_failed', message, { status: 422, facts: { place } })
}

/**
 * Keeps a firing, once: its inputs are computed and stored first, and are what they are from then on, so that its start may be
 * tried again. One that is there already is answered as it is. One whose inputs cannot be computed is kept as failed, under an
 * id of its own, so that it is seen, and a better document takes the next try; it is thrown where `throws`.
 */
export async function keepFiring(
  world: KeepWorld,
  key: TriggerKey,
  trigger: Trigger,
  occasion: Occasion,
  { throws = false }: { readonly throws?: boolean } = {},
): Promise<Firing> {
  const before = await world.triggers.firing(key, occasion.id)
  if (before !== undefined) return before
  try {
    const values = await storeInputs(world, key.tenant, await inputsOf(world, key, trigger, occasion))
    return await world.triggers.keepFiring({ ...newFiring(world, key, trigger, occasion), values, state: 'owed' })
  } catch (error) {
    if (!(error instanceof Fault) || error.code !== 'trigger_expression_failed') throw error
    const over = await keepRefused(world, key, trigger, occasion, error)
    if (throws) throw error
    return over
  }
}

/** Keeps what was no firing of this occasion, and why, as one that has failed. */
export async function keepRefused(
  world: Pick<KeepWorld, 'triggers' | 'clock' | 'log'>,
  key: TriggerKey,
  trigger: Trigger,
  occasion: Occasion,
  error: Fault,
): Promise<Firing> {
  tellFailure(world, key, error)
  const firing = newFiring(world, key, trigger, occasion)
  const reason = { code: error.code, message: error.message }
  const over = { state: 'failed', ended_at: firing.kept_at, reason } as const
  return world.triggers.keepFiring({ ...firing, id: `refused:${occasion.id}`, ...over })
}

function newFiring(
  { clock }: Pick<KeepWorld, 'clock'>,
  key: TriggerKey,
  { kind }: Trigger,
  { id, at, by, after, object }: Occasion,
): Omit<Firing, 'state'> {
  const kept_at = new Date(clock.now()).toISOString()
  return {
    ...key,
    id,
    kind,
    at,
    kept_at,
    ...(by === undefined ? {} : { by }),
    ...(after === undefined ? {} : { after }),
    ...(object === undefined ? {} : { object }),
    run_id: runIdOfFiring(key, id),
    tries: 0,
    next_at: kept_at,
  }
}

/** The one line an alarm is made of. */
export function tellFailure({ log }: Pick<World, 'log'>, { document, trigger }: TriggerKey, error: Fault): void {
  log.error('trigger failed', { document, trigger, code: error.code, reason: error.message })
}

async function storeInputs(
  world: KeepWorld,
  tenant: string,
  inputs: Readonly<Record<string, Json>>,
): Promise<StoredValue> {
  const body = Buffer.from(canonicalJson(inputs))
  await countUploadBytes(world, tenant, body.byteLength)
  return world.objects.put(tenant, body)
}
