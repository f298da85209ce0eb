import { Fault } from '../../shared/errors.ts'
import { kickoffTriples, loopEntityId } from '../../shared/research/kickoff-triples.ts'
import type { Meta } from '../../shared/runs/run-store.ts'
import type { World } from '../../shared/world.ts'
import { readAsked } from './read-asked.ts'

/**
 * One write before the machine starts: the loop entity of the chain with what was asked.
 * It adds, so that a start that comes again takes nothing away from what stages have said since; its triples are of
 * the run's own time and change nothing the second time.
 */
export async function kickOff(world: Pick<World, 'graph' | 'objects'>, meta: Meta): Promise<void> {
  const { tenant, run_id, created_at } = meta
  const { intent, parent_loop } = await readAsked(world, meta)
  const from = { at: created_at, ...(parent_loop === undefined ? {} : { parent_loop }) }
  const triples = kickoffTriples(loopEntityId(tenant, run_id), intent, from)
  const [written] = await world.graph.addTriples(tenant, triples)
  if (written?.outcome !== 'failed') return
  const message = `Cannot write the loop entity of research run "${run_id}": ${written.message}`
  throw new Fault(written.code === 'entity_too_large' ? 'InvalidInput' : 'Unavailable', written.code, message)
}
