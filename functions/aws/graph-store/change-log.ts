import type { ChangeLog, GraphChange, IndexManifests } from '../../../shared/graph/graph-store.ts'
import type { Indexing } from '../../../shared/graph/search-index.ts'
import { sha256 } from '../../../shared/text/hash.ts'
import { as, from, type Item } from '../run-store/item-encoding.ts'
import { ifAbsent } from '../run-store/table.ts'
import type { GraphTable } from './graph-table.ts'

/** Entries taken out at once. */
const PARALLEL = 8

/** C#: what was written, until an index that readers open has it. */
export function changeLogOn(table: GraphTable): ChangeLog {
  return {
    async changes(tenant, limit, after) {
      const found: Item[] = []
      let last: Item | undefined = after === undefined ? undefined : changeKey(tenant, after)
      do {
        const page = await table.query({
          where: ({ path, value }) => {
            const { pk = as.text(''), sk = as.text('') } = changeKey(tenant, '')
            return { condition: `${path('pk')} = ${value(pk)} AND begins_with(${path('sk')}, ${value(sk)})` }
          },
          limit: limit - found.length,
          ...(last === undefined ? {} : { after: last }),
        })
        found.push(...page.items)
        last = page.last
      } while (last !== undefined && found.length < limit)
      return found.map(readChange)
    },
    async dropChanges(tenant, changes) {
      for (let at = 0; at < changes.length; at += PARALLEL) {
        await Promise.all(changes.slice(at, at + PARALLEL).map((change) => dropChange(table, tenant, change)))
      }
    },
  }
}

/** Writes the entry of a write that begins; `end` writes it again, also where it was taken out meanwhile. */
export async function noteChange(
  table: GraphTable,
  tenant: string,
  wanted: readonly { readonly entity_id: string }[],
): Promise<{ end(): Promise<void> }> {
  const now = table.now()
  const entity_ids = [...new Set(wanted.map(({ entity_id }) => entity_id))]
  const entry = {
    ...changeKey(tenant, changeId(now, table.nonce(), table.nonce())),
    at: as.text(new Date(now).toISOString()),
    ids: as.list(entity_ids),
  }
  await table.put(entry)
  return {
    async end() {
      await table.put({ ...entry, ended: as.number(1) })
    },
  }
}

function readChange(item: Item): GraphChange {
  return {
    id: from.text(item, 'sk').slice('C#'.length),
    at: from.text(item, 'at'),
    entity_ids: from.list(item, 'ids'),
    ended: item.ended !== undefined,
  }
}

async function dropChange(table: GraphTable, tenant: string, { id, ended }: GraphChange): Promise<void> {
  if (ended) await table.remove(changeKey(tenant, id))
  else await table.removeIf(changeKey(tenant, id), ({ path }) => `attribute_not_exists(${path('ended')})`)
}

function changeKey(tenant: string, id: string): Item {
  return { pk: as.text(`T#${tenant}#G`), sk: as.text(`C#${id}`) }
}

/** Crockford's base 32. */
const DIGITS = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'

/** A ULID: 10 digits of the time (ms since 1970), so that text order is time order, and 16 of what the parts make. */
function changeId(now: number, ...random: readonly string[]): string {
  const time = Array.from({ length: 10 }, (_, i) => DIGITS[Math.floor(now / 32 ** (9 - i)) % 32])
  const rest = [...Buffer.from(sha256(random.join('')), 'hex').subarray(0, 16)].map((byte) => DIGITS[byte % 32])
  return [...time, ...rest].join('')
}

/** MANIFEST: which index readers open. */
export function indexManifestsOn(table: GraphTable): IndexManifests {
  return {
    async manifest(tenant) {
      const item = await table.get(manifestKey(tenant))
      if (item === undefined) return undefined
      return { version: from.number(item, 'version'), ref: from.text(item, 'ref'), as_of: from.text(item, 'as_of') }
    },
    async moveManifest(tenant, was, { ref, as_of }) {
      const mark = table.nonce()
      const fields = { version: as.number(was + 1), ref: as.text(ref), as_of: as.text(as_of), w: as.text(mark) }
      const moved = await table.put({ ...manifestKey(tenant), ...fields }, (terms) =>
        was === 0 ? ifAbsent(terms) : `${terms.path('version')} = ${terms.value(as.number(was))}`,
      )
      if (moved.ok) return true
      // Sent twice: the first sending may have done it, and its answer was lost.
      const now = moved.item ?? (await table.get(manifestKey(tenant)))
      return now?.w?.S === mark
    },
  }
}

function manifestKey(tenant: string): Item {
  return { pk: as.text(`T#${tenant}#G`), sk: as.text('MANIFEST') }
}

/** WALK: how far the walk over bodies is. In the table, for AWS ends a function that calls itself for the rest. */
export function bodiesWalkOn(table: GraphTable): Pick<Indexing, 'walk' | 'noteWalk'> {
  return {
    async walk(tenant) {
      const item = await table.get(walkKey(tenant))
      if (item === undefined) return undefined
      return item.after === undefined ? {} : { after: from.text(item, 'after') }
    },
    async noteWalk(tenant, walk) {
      if (walk === undefined) return table.remove(walkKey(tenant))
      await table.put({ ...walkKey(tenant), ...(walk.after === undefined ? {} : { after: as.text(walk.after) }) })
    },
  }
}

function walkKey(tenant: string): Item {
  return { pk: as.text(`T#${tenant}#G`), sk: as.text('WALK') }
}
