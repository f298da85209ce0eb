import * as z from 'zod'
import { type ChainState, ChainStateSchema } from '../../shared/research/chain-state.ts'
import type { World } from '../../shared/world.ts'
import { notYetThere } from '../runs/not-yet-there.ts'

/** The state of a chain, as a stage stored it: the ref of its event names it. */
export async function readChain({ objects }: Pick<World, 'objects'>, tenant: string, ref: string): Promise<ChainState> {
  return ChainStateSchema.parse(await readJson(objects, tenant, ref))
}

/** What the answer was held against, an item of evidence each; none where no model was asked for one. */
export async function readSources(
  { objects }: Pick<World, 'objects'>,
  tenant: string,
  { sources_ref }: Pick<ChainState, 'sources_ref'>,
): Promise<readonly string[]> {
  if (sources_ref === undefined) return []
  return SourcesSchema.parse(await readJson(objects, tenant, sources_ref)).map(({ text }) => text)
}

const SourcesSchema = z.array(z.object({ text: z.string() }))

const MISSING = notYetThere('what a stage of the research chain left')

async function readJson(objects: World['objects'], tenant: string, ref: string): Promise<unknown> {
  return JSON.parse(Buffer.from(await objects.get(tenant, ref).catch(MISSING)).toString('utf8'))
}
