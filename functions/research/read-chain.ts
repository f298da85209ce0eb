import { type ChainState, ChainStateSchema } from '../../shared/research/chain-state.ts'
import type { World } from '../../shared/world.ts'

/** The state of a chain, as a stage stored it: the ref of its event names it. */
export async function readChain({ objects }: Pick<World, 'objects'>, tenant: string, ref: string): Promise<ChainState> {
  return ChainStateSchema.parse(JSON.parse(Buffer.from(await objects.get(tenant, ref)).toString('utf8')))
}
