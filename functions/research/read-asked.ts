import { Fault } from '../../shared/errors.ts'
import { type AskedIntent, AskedIntentSchema } from '../../shared/research/asked-intent.ts'
import type { Meta } from '../../shared/runs/run-store.ts'
import type { World } from '../../shared/world.ts'
import { notYetThere } from '../runs/not-yet-there.ts'

/** What a research run was asked; the object is content-addressed and was written before META. */
export async function readAsked(
  { objects }: Pick<World, 'objects'>,
  { tenant, run_id, intent_ref }: Pick<Meta, 'tenant' | 'run_id' | 'intent_ref'>,
): Promise<AskedIntent> {
  if (intent_ref === undefined) {
    throw new Fault('Bug', 'no_intent', `Run "${run_id}" is asked for its question, but it answers none.`)
  }
  const body = await objects.get(tenant, intent_ref).catch(notYetThere(`the question of run "${run_id}"`))
  return AskedIntentSchema.parse(JSON.parse(Buffer.from(body).toString('utf8')))
}
