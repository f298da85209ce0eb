import { LIMITS } from '../../../shared/limits.ts'
import type { LaneOwner } from '../../../shared/runs/lane.ts'
import type { RunKey, RunStore } from '../../../shared/runs/run-store.ts'
import type { ArtifactItem, BlockProjection, JoinItem } from '../../../shared/runs/run-store-items.ts'
import { as, from, type Item, itemKey, itemTtl } from './item-encoding.ts'
import type { RunTable } from './table.ts'

/** B#, and BI# for items of foreach blocks: the newest state of each, and the lease of its attempt. */
export function projectionsOn(
  table: RunTable,
): Pick<RunStore, 'putProjection' | 'projections' | 'itemProjections' | 'renewLease'> {
  return {
    putProjection: (run, projection) => writeProjection(table, run, projection),
    async projections(run, blocks) {
      const items =
        blocks === undefined
          ? await table.all(itemKey(run, 'B#'))
          : await table.getAll([...new Set(blocks)].map((block) => ownKey(run, { block })))
      return items.map(readProjection).toSorted((a, b) => a.block - b.block)
    },
    async itemProjections(run, block, items) {
      if (items === undefined) return (await table.all(itemKey(run, itemPrefix(block)))).map(readProjection)
      const found = await table.getAll([...new Set(items)].map((item) => ownKey(run, { block, item })))
      return found.map(readProjection).toSorted((a, b) => (a.item ?? 0) - (b.item ?? 0))
    },
    async renewLease(run, owner, holder, lease_until) {
      const renewed = await table.update(ownKey(run, owner), ({ path, value }) => ({
        update: `SET ${path('lease_until')} = ${value(as.text(lease_until))}`,
        condition: `${path('holder')} = ${value(as.text(holder))} AND ${path('state')} = ${value(as.text('running'))}`,
      }))
      return renewed.ok
    },
  }
}

/** Forward only: a write that comes late or again changes nothing. */
export async function writeProjection(table: RunTable, run: RunKey, projection: BlockProjection): Promise<void> {
  const { ordinal, state, holder, lease_until } = projection
  const item: Item = {
    ...ownKey(run, projection),
    ordinal: as.number(ordinal),
    state: as.text(state),
    ...(holder === undefined ? {} : { holder: as.text(holder) }),
    ...(lease_until === undefined ? {} : { lease_until: as.text(lease_until) }),
    body: as.json(projection),
    ttl: itemTtl(table),
  }
  const newer = as.number(ordinal)
  await table.put(
    item,
    ({ path, value }) => `attribute_not_exists(${path('ordinal')}) OR ${path('ordinal')} < ${value(newer)}`,
  )
}

/** Items have a prefix of their own: whoever reads the blocks does not page through a thousand items. */
function ownKey(run: RunKey, { block, item }: LaneOwner): Item {
  if (item === undefined) return itemKey(run, `B#${block}`)
  return itemKey(run, `${itemPrefix(block)}${String(item).padStart(4, '0')}`)
}

function itemPrefix(block: number): string {
  return `BI#${block}#`
}

/** A renewed lease is only in the attribute. */
function readProjection(item: Item): BlockProjection {
  const projection: BlockProjection = JSON.parse(from.text(item, 'body'))
  const lease_until = item.lease_until?.S
  return lease_until === undefined ? projection : { ...projection, lease_until }
}

/**
 * J#: sets of the sources that are done, of the tokens that wait and of what they need, so that writes may come in any
 * order and again (docs/architecture.md, "Joins"). Of two needs the larger counts.
 */
export function joinsOn(table: RunTable): Pick<RunStore, 'waitJoin' | 'signalJoin'> {
  return {
    async waitJoin(run, join, { need, token }) {
      if (need <= 0) return 'done'
      const waiting = await table.update(joinKey(run, join), ({ path, value }) => ({
        update: `SET ${path('ttl')} = ${value(itemTtl(table))} ADD ${path('tokens')} ${value(as.member(token))}, ${path('need')} ${value(as.numberMember(need))}`,
        condition: `attribute_not_exists(${path('done')}) OR size(${path('done')}) < ${value(as.number(need))}`,
      }))
      return waiting.ok ? 'waiting' : 'done'
    },
    async signalJoin(run, join, source) {
      const signalled = await table.update(joinKey(run, join), ({ path, value }) => ({
        update: `SET ${path('ttl')} = ${value(itemTtl(table))} ADD ${path('done')} ${value(as.member(source))}`,
      }))
      return joinOf(signalled.item ?? {})
    },
  }
}

function joinKey(run: RunKey, join: string): Item {
  return itemKey(run, `J#${join}`)
}

function joinOf(item: Item): JoinItem {
  const needs = (item.need?.NS ?? []).map(Number)
  return {
    done: from.members(item, 'done').length,
    tokens: from.members(item, 'tokens'),
    ...(needs.length === 0 ? {} : { need: Math.max(...needs) }),
  }
}

/** CTX: the run's shared context, compare-and-set on its version. */
export function contextOn(table: RunTable): Pick<RunStore, 'context' | 'putContext'> {
  return {
    async context(run) {
      const item = await table.get(itemKey(run, 'CTX'), { only: [['version'], ['values']] })
      // An empty one is what is left of an erased run.
      if (item?.version === undefined) return undefined
      return { version: from.number(item, 'version'), values: JSON.parse(from.text(item, 'values')) }
    },
    async putContext(run, { version, values }, if_version) {
      const nonce = table.nonce()
      const key = itemKey(run, 'CTX')
      const written = await table.update(key, ({ path, value }) => ({
        update: `SET ${path('version')} = ${value(as.number(version))}, ${path('values')} = ${value(as.json(values))}, ${path('w')} = ${value(as.text(nonce))}`,
        condition: `${path('version')} = ${value(as.number(if_version))}`,
      }))
      if (written.ok) return true
      // Sent twice: the version may have been moved by the first sending, whose answer was lost.
      const now = written.sent > 1 ? await table.get(key, { only: [['w']] }) : undefined
      return now?.w?.S === nonce
    },
  }
}

/** F#: the run's artifacts, one a name; a later one of the same name takes its place, an older attempt's does not. */
export function artifactsOn(table: RunTable): Pick<RunStore, 'putArtifact' | 'artifacts'> {
  return {
    async putArtifact(run, artifact) {
      const { name, block_id } = artifact
      const attempt = attemptIn(artifact)
      const item = {
        ...itemKey(run, `F#${name}`),
        block_id: as.text(block_id),
        attempt: as.number(attempt),
        body: as.json(artifact),
        ttl: itemTtl(table),
      }
      await table.put(
        item,
        ({ path, value }) =>
          `attribute_not_exists(${path('attempt')}) OR ${path('attempt')} <= ${value(as.number(attempt))} OR ${path('block_id')} <> ${value(as.text(block_id))}`,
      )
    },
    async artifacts(run) {
      const items = await table.all(itemKey(run, 'F#'))
      return items.map((item) => JSON.parse(from.text(item, 'body')))
    },
  }
}

/** Attempts of a pass come after all of the pass before: 999 at most (shared/runs/lane.ts). */
function attemptIn({ epoch = 0, attempt }: ArtifactItem): number {
  return epoch * 1_000 + attempt
}

/** C#: earlier results by definition and inputs, of any run of the tenant; the newest stays. */
export function cachedResultsOn(table: RunTable): Pick<RunStore, 'cached' | 'putCached'> {
  return {
    async cached(tenant, block_hash, inputs_hash) {
      const item = await table.get(cacheKey(tenant, block_hash, inputs_hash))
      return item === undefined ? undefined : JSON.parse(from.text(item, 'body'))
    },
    async putCached(tenant, block_hash, inputs_hash, result) {
      const item = {
        ...cacheKey(tenant, block_hash, inputs_hash),
        at: as.text(result.at),
        body: as.json(result),
        // Nobody may ask for an older one.
        ttl: as.number(Math.floor(table.now() / 1_000) + LIMITS.cache_age_sec),
      }
      const at = as.text(result.at)
      await table.put(item, ({ path, value }) => `attribute_not_exists(${path('at')}) OR ${path('at')} < ${value(at)}`)
    },
  }
}

export function cacheKey(tenant: string, block_hash: string, inputs_hash: string): Item {
  return { pk: as.text(`T#${tenant}#C#${block_hash}`), sk: as.text(inputs_hash) }
}
