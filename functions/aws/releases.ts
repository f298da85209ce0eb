import { Fault } from '../../shared/errors.ts'
import {
  drawRelease,
  RELEASE_ITEMS,
  type Release,
  type Routing,
  readRelease,
  readRouting,
  takeBackRouting,
} from '../../shared/runs/release.ts'
import { sha256 } from '../../shared/text/hash.ts'
import type { Core } from './core.ts'
import { as, corruptItem, from, type Item } from './run-store/item-encoding.ts'
import { openTable, type RunTable, type RunTableOptions } from './run-store/table.ts'

/** Releases of a stage whose settings make them gradual (docs/adr/0092). */
interface Releases {
  /** Of a run that is about to be started; undefined = whatever is deployed. */
  releaseOf(runId: string): Promise<Release | undefined>
  /** New runs begin with the release before. */
  takeBack(because: string): Promise<'taken_back' | 'nothing'>
}

/** So long a process believes what it read: a shift, or taking it back, is true everywhere after it. */
const BELIEVED_MS = 10_000
/** So often a process notes that runs begin with a release: what is deleted was not used for a year (shared/runs/release.ts). */
const NOTED_MS = 3_600_000

export function openReleases({ env }: Pick<Core, 'env'>, table: () => RunTableOptions): Releases {
  const { clock } = table()
  const items = openTable(table())
  const own = ownRelease(env)
  const noted = new Map<string, number>()
  let read: { readonly at: number; readonly routing: Promise<Routing> } | undefined
  const routing = (mine: Release) => {
    if (read === undefined || clock.now() - read.at >= BELIEVED_MS) {
      read = { at: clock.now(), routing: readOrBegin(items, mine) }
      read.routing.catch(() => {
        read = undefined
      })
    }
    return read.routing
  }
  return {
    async releaseOf(runId) {
      if (own === undefined) return undefined
      const release = drawRelease(await routing(own), shareOf(runId))
      await note(items, noted, release)
      return release
    },
    takeBack: (because) => takeBack(items, because),
  }
}

/** What was published with this function; undefined = releases are not gradual here. */
function ownRelease({ DEPLOYED_RELEASE }: Core['env']): Release | undefined {
  return DEPLOYED_RELEASE === undefined ? undefined : readRelease(DEPLOYED_RELEASE)
}

/** From 0 to below 1. */
function shareOf(runId: string): number {
  return Number.parseInt(sha256(runId).slice(0, 8), 16) / 0x1_0000_0000
}

const ROUTING: Item = { pk: as.text(RELEASE_ITEMS.partition), sk: as.text(RELEASE_ITEMS.routing) }

/** Who starts the first run writes down with what: later deployments change nothing until somebody shifts. */
async function readOrBegin(table: RunTable, own: Release): Promise<Routing> {
  const found = await table.get(ROUTING)
  if (found !== undefined) return routingIn(found)
  const first: Routing = { percent: 100, to: own, at: new Date(table.now()).toISOString(), by: 'first start' }
  const written = await table.update(ROUTING, ({ path, value }) => ({
    update: `SET ${path('text')} = ${value(as.json(first))}, ${path('rev')} = ${value(as.number(1))}`,
    condition: `attribute_not_exists(${path('rev')})`,
  }))
  const now = written.ok ? written.item : await table.get(ROUTING)
  return now === undefined ? first : routingIn(now)
}

function routingIn(item: Item): Routing {
  try {
    return readRouting(from.text(item, 'text'))
  } catch (cause) {
    return corruptItem(item, 'text', cause)
  }
}

/** Before a run begins with it. */
async function note(table: RunTable, noted: Map<string, number>, release: Release): Promise<void> {
  const text = JSON.stringify(release)
  if (table.now() - (noted.get(text) ?? 0) < NOTED_MS) return
  const key = { pk: as.text(RELEASE_ITEMS.partition), sk: as.text(RELEASE_ITEMS.used + sha256(text).slice(0, 20)) }
  await table.update(key, ({ path, value }) => ({
    update: `SET ${path('text')} = ${value(as.text(text))}, ${path('used_at')} = ${value(as.number(table.now()))}`,
  }))
  noted.set(text, table.now())
}

/** Shifts are commands of people: two at once are rare, and the later one reads what the first one wrote. */
const MAX_TRIES = 5

async function takeBack(table: RunTable, because: string): Promise<'taken_back' | 'nothing'> {
  for (let tries = 0; tries < MAX_TRIES; tries += 1) {
    const item = await table.get(ROUTING)
    const asked = { at: new Date(table.now()).toISOString(), by: because }
    const next = item === undefined ? undefined : takeBackRouting(routingIn(item), asked)
    if (item === undefined || next === undefined) return 'nothing'
    const rev = from.number(item, 'rev')
    const written = await table.update(ROUTING, ({ path, value }) => ({
      update: `SET ${path('text')} = ${value(as.json(next))}, ${path('rev')} = ${value(as.number(rev + 1))}`,
      condition: `${path('rev')} = ${value(as.number(rev))}`,
    }))
    if (written.ok) return 'taken_back'
  }
  throw new Fault('Unavailable', 'store_busy', 'Cannot take a release back: others change the routing. Try again.')
}
