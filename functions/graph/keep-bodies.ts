import { Fault } from '../../shared/errors.ts'
import type { World } from '../../shared/world.ts'

/** Bodies read and stored at once. */
const PARALLEL = 8

/**
 * Stores the bodies of the entities again, so that they outlive the objects of runs, whose age ends; what no entity
 * names any more ends as those do. A walk past `until` (ms) ends where the next one goes on.
 */
export async function keepBodies(
  { graph, objects, clock }: Pick<World, 'graph' | 'objects' | 'clock'>,
  tenant: string,
  { until, after }: { readonly until: number; readonly after?: string | undefined },
): Promise<{ readonly kept: number; readonly next?: string }> {
  let next = after
  let kept = 0
  do {
    const page = await graph.list(tenant, next)
    const entities = await graph.entities(tenant, page.entity_ids)
    const refs = [...new Set(entities.flatMap(({ objectstore_ref }) => objectstore_ref ?? []))]
    for (let at = 0; at < refs.length; at += PARALLEL) {
      const part = refs.slice(at, at + PARALLEL).map((ref) => keep(objects, tenant, ref))
      kept += (await Promise.all(part)).filter(Boolean).length
    }
    next = page.next
  } while (next !== undefined && clock.now() < until)
  return { kept, ...(next === undefined ? {} : { next }) }
}

/** False: there is no such body any more. */
async function keep(objects: World['objects'], tenant: string, ref: string): Promise<boolean> {
  try {
    await objects.put(tenant, await objects.get(tenant, ref))
    return true
  } catch (cause) {
    if (cause instanceof Fault && cause.name !== 'Unavailable') return false
    throw cause
  }
}
