import * as z from 'zod'
import { Fault } from '../../shared/errors.ts'
import { type ChainState, ChainStateSchema } from '../../shared/research/chain-state.ts'
import { kickoffTriples, loopEntityId } from '../../shared/research/loop-entity.ts'
import { type AskedIntent, AskedIntentSchema } from '../../shared/research/payloads/intent.ts'
import type { Meta } from '../../shared/runs/run-store.ts'
import type { World } from '../../shared/world.ts'
import { unavailableIfMissing } from '../record/pinned-run.ts'

/** The state of a chain, as a stage stored it: the ref of its event names it. */
export async function readChain({ objects }: Pick<World, 'objects'>, tenant: string, ref: string): Promise<ChainState> {
  return ChainStateSchema.parse(await readJson(objects, tenant, ref))
}

/** What the answer was held against, an item of evidence each; none where no model was asked for one. */
export async function readAnswerSources(
  { objects }: Pick<World, 'objects'>,
  tenant: string,
  { sources_ref }: Pick<ChainState, 'sources_ref'>,
): Promise<readonly string[]> {
  if (sources_ref === undefined) return []
  return SourcesSchema.parse(await readJson(objects, tenant, sources_ref)).map(({ text }) => text)
}

const SourcesSchema = z.array(z.object({ text: z.string() }))

const MISSING = unavailableIfMissing('what a stage of the research chain left')

async function readJson(objects: World['objects'], tenant: string, ref: string): Promise<unknown> {
  return JSON.parse(Buffer.from(await objects.get(tenant, ref).catch(MISSING)).toString('utf8'))
}

/** What a research run was asked; the object is content-addressed and was written before META. */
export async function readResearchQuestion(
  { objects }: Pick<World, 'objects'>,
  { tenant, run_id, intent_ref }: Pick<Meta, 'tenant' | 'run_id' | 'intent_ref'>,
): Promise<AskedIntent> {
  if (intent_ref === undefined) {
    throw new Fault('Bug', 'no_intent', `Run "${run_id}" is asked for its question, but it answers none.`)
  }
  const body = await objects.get(tenant, intent_ref).catch(unavailableIfMissing(`the question of run "${run_id}"`))
  return AskedIntentSchema.parse(JSON.parse(Buffer.from(body).toString('utf8')))
}

/**
 * One write before the machine starts: the loop entity of the chain with what was asked.
 * It adds, so that a start that comes again takes nothing away from what stages have said since; its triples are of
 * the run's own time and change nothing the second time.
 */
export async function writeLoopEntity(world: Pick<World, 'graph' | 'objects'>, meta: Meta): Promise<void> {
  const { tenant, run_id, created_at } = meta
  const { intent, parent_loop } = await readResearchQuestion(world, meta)
  const from = { at: created_at, ...(parent_loop === undefined ? {} : { parent_loop }) }
  const triples = kickoffTriples(loopEntityId(tenant, run_id), intent, from)
  const [written] = await world.graph.addTriples(tenant, triples)
  if (written?.outcome !== 'failed') return
  const message = `Cannot write the loop entity of research run "${run_id}": ${written.message}`
  throw new Fault(written.code === 'entity_too_large' ? 'InvalidInput' : 'Unavailable', written.code, message)
}
