import type { Json } from '../../shared/canonical.ts'
import type { World } from '../../shared/world.ts'
import { readValues } from '../blocks/read-outputs.ts'
import { notYetThere } from '../runs/not-yet-there.ts'
import type { Standing } from './standing-blocks.ts'

/**
 * The values of a block by port. One that is not there is Unavailable: without it an earlier text would speak for the
 * run, so no verdict is better than one without it.
 */
export async function readStanding(
  world: Pick<World, 'objects'>,
  tenant: string,
  { block, outputs }: Pick<Standing, 'block' | 'outputs'>,
): Promise<Readonly<Record<string, Json>>> {
  return readValues(world, tenant, outputs).catch(notYetThere(`an output of block "${block}"`))
}
