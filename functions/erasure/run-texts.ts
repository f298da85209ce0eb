import { namedObjects } from '../../shared/runs/erasure.ts'
import type { RunKey } from '../../shared/runs/run-store.ts'
import type { World } from '../../shared/world.ts'
import { allEvents } from '../record/run-log.ts'

/** Bodies read side by side. */
const AT_ONCE = 16

type Reading = Pick<World, 'runs' | 'objects' | 'clock'>

/** All that the record of a run says, as JSON texts: which objects it names stands in them. */
export async function textsOfRun({ runs, clock }: Reading, run: RunKey): Promise<readonly string[]> {
  const events = await allEvents({ runs, clock }, run)
  const beside = await Promise.all([
    runs.meta(run),
    runs.head(run),
    runs.approvals(run),
    runs.artifacts(run),
    runs.context(run),
  ])
  return [...events, ...beside].flatMap((one) => (one === undefined ? [] : [JSON.stringify(one)]))
}

/**
 * Hashes of the objects that these texts name, and that the bodies of those name in turn. `visit` sees each body once. What is
 * not there names nothing.
 */
export async function reachedObjects(
  world: Pick<World, 'objects' | 'clock'>,
  tenant: string,
  texts: readonly string[],
  { known = new Set<string>(), visit }: Reaching = {},
): Promise<ReadonlySet<string>> {
  const found = new Set<string>()
  const next = fresh(texts.flatMap((text) => namedObjects(tenant, text)))
  while (next.length > 0) {
    const some = next.splice(0, AT_ONCE)
    const bodies = await Promise.all(some.map((hash) => bodyText(world, tenant, hash)))
    for (const text of bodies) {
      if (text === undefined) continue
      visit?.(text)
      next.push(...fresh(namedObjects(tenant, text)))
    }
    await world.clock.turn?.()
  }
  return found

  function fresh(hashes: readonly string[]): string[] {
    return hashes.filter((hash) => {
      if (known.has(hash)) return false
      known.add(hash)
      found.add(hash)
      return true
    })
  }
}

interface Reaching {
  /** They are not read again; what is found is added. */
  readonly known?: Set<string>
  readonly visit?: (text: string) => void
}

async function bodyText({ objects }: Pick<World, 'objects'>, tenant: string, hash: string) {
  const ref = `objstore://${tenant}/${hash}`
  // One that is damaged has bytes all the same, but nobody can say which.
  const body = await objects.get(tenant, ref).catch((error: unknown) => {
    if (error instanceof Error && error.name === 'Unavailable') throw error
    return undefined
  })
  return body === undefined ? undefined : Buffer.from(body).toString('latin1')
}
