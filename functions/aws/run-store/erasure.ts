import type { AttributeValue } from '@aws-sdk/client-dynamodb'
import type { DeadWebhook } from '../../../shared/runs/dead-webhook.ts'
import { type Erasure, HASHES_A_PART, type RunMark, type RunMarks, type SaidWhy } from '../../../shared/runs/erasure.ts'
import type { RunKey } from '../../../shared/runs/run-store.ts'
import type { CachedResult } from '../../../shared/runs/run-store-items.ts'
import { dueShard, headKey } from './head.ts'
import { as, from, headTtl, type Item, itemKey, itemTtl } from './item-encoding.ts'
import { cacheKey } from './run-items.ts'
import { itemBusyFault, type RunTable } from './table.ts'
import { listKeys, noteTerms, unlistRun } from './terms.ts'

/**
 * MARK: a hold, an erasure, and when somebody must look at it, in the partition of its run; it never expires. ERASE#: hashes
 * of the bodies that are to go. CTX stays, empty, as the mark that no run of this id is made again.
 */
export function marksOn(table: RunTable): RunMarks {
  const mark = async (run: RunKey) => readMark(await table.get(markKey(run)))
  return {
    mark,
    ...holdsOn(table, mark),
    ...bodiesOn(table),
    async beginErasure(run, erasure, check_at) {
      const begun = await table.update(markKey(run), ({ path, value }) => {
        const set = [
          `${path('erasure')} = ${value(as.json(erasure))}`,
          `${path('version')} = ${value(as.number(erasure.version))}`,
          ...dueAt(run, check_at).map(([name, at]) => `${path(name)} = ${value(at)}`),
        ]
        const absent = (name: string) => `attribute_not_exists(${path(name)})`
        return { update: `SET ${set.join(', ')}`, condition: `${absent('erasure')} AND ${absent('hold')}` }
      })
      if (begun.ok) return erasure
      const there = readMark(begun.item) ?? (await mark(run))
      return there?.erasure ?? 'held'
    },
    async moveErasure(run, to, check_at) {
      const moved = await table.update(markKey(run), ({ path, value }) => {
        const set = [
          `${path('erasure')} = ${value(as.json(to))}`,
          `${path('version')} = ${value(as.number(to.version))}`,
          ...dueAt(run, check_at).map(([name, at]) => `${path(name)} = ${value(at)}`),
        ]
        const over = check_at === undefined ? ` REMOVE ${path('check_at')}` : ''
        return {
          update: `SET ${set.join(', ')}${over}`,
          condition: `${path('version')} = ${value(as.number(to.version - 1))}`,
        }
      })
      if (moved.ok) return true
      // Sent twice: the first sending may have done it, and its answer was lost.
      const there = moved.sent > 1 ? (moved.item ?? (await table.get(markKey(run)))) : undefined
      return there?.erasure?.S === JSON.stringify(to)
    },
    async moveMark(run, was, to) {
      await table.update(markKey(run), ({ path, value }) => ({
        update: `SET ${path('check_at')} = ${value(as.text(to))}`,
        condition: `${path('check_at')} = ${value(as.text(was))}`,
      }))
    },
  }
}

function markKey(run: RunKey): Item {
  return itemKey(run, 'MARK')
}

function dueAt(run: RunKey, check_at: string | undefined) {
  if (check_at === undefined) return []
  return [['due', as.text(dueShard(run.run_id))] as const, ['check_at', as.text(check_at)] as const]
}

function readMark(item: Item | undefined): RunMark | undefined {
  if (item?.hold === undefined && item?.erasure === undefined) return undefined
  const { hold, erasure, check_at } = item
  return {
    ...(hold?.S === undefined ? {} : { hold: JSON.parse(hold.S) as SaidWhy }),
    ...(erasure?.S === undefined ? {} : { erasure: JSON.parse(erasure.S) as Erasure }),
    ...(check_at?.S === undefined ? {} : { check_at: check_at.S }),
  }
}

type Mark = (run: RunKey) => Promise<RunMark | undefined>

function holdsOn(table: RunTable, mark: Mark): Pick<RunMarks, 'holdRun' | 'releaseRun'> {
  return {
    async holdRun(run, hold, check_at) {
      if ((await table.get(headKey(run), { only: [['v']] })) === undefined) {
        return (await mark(run))?.erasure === undefined ? 'unknown_run' : 'erasing'
      }
      const held = await table.update(markKey(run), ({ path, value }) => {
        const set = [
          `${path('hold')} = ${value(as.json(hold))}`,
          ...dueAt(run, check_at).map(([name, at]) => `${path(name)} = ${value(at)}`),
        ]
        return {
          update: `SET ${set.join(', ')}`,
          condition: `attribute_not_exists(${path('hold')}) AND attribute_not_exists(${path('erasure')})`,
        }
      })
      if (!held.ok && (readMark(held.item) ?? (await mark(run)))?.erasure !== undefined) return 'erasing'
      await keepForEver(table, run)
      return 'held'
    },
    async releaseRun(run) {
      const nonce = table.nonce()
      for (let tries = 0; tries < TRIES; tries += 1) {
        const item = await table.get(markKey(run))
        if (item?.released?.S === nonce) return true
        const hold = item?.hold
        if (hold === undefined) return false
        await letAge(table, run)
        const done = await table.update(markKey(run), ({ path, value }) => ({
          update: `SET ${path('released')} = ${value(as.text(nonce))} REMOVE ${path('hold')}, ${path('check_at')}`,
          condition: `${path('hold')} = ${value(hold)}`,
        }))
        if (done.ok) return true
      }
      throw itemBusyFault('release a run', TRIES)
    },
  }
}

const TRIES = 20

/** What has no `ttl` is never removed. What is written later has one that begins then, and its mark is looked at each week. */
async function keepForEver(table: RunTable, run: RunKey): Promise<void> {
  const items = (await table.all(itemKey(run, ''))).filter(({ ttl }) => ttl !== undefined)
  for (const key of [...items.map(keyOf), ...(await listKeys(table, run))]) {
    await table.update(key, ({ path }) => ({
      update: `REMOVE ${path('ttl')}`,
      condition: `attribute_exists(${path('ttl')})`,
    }))
  }
}

/** As if all of it had been written now. A run that lives gets its own with its end. */
async function letAge(table: RunTable, run: RunKey): Promise<void> {
  for (const item of await table.all(itemKey(run, ''))) {
    const sk = from.text(item, 'sk')
    if (sk === 'MARK' || (sk === 'HEAD' && item.state?.S === 'running')) continue
    await setTtl(
      table,
      keyOf(item),
      sk === 'HEAD' ? headTtl(new Date(table.now()).toISOString(), table) : itemTtl(table),
    )
  }
  for (const key of await listKeys(table, run)) await setTtl(table, key, itemTtl(table))
}

async function setTtl(table: RunTable, key: Item, ttl: AttributeValue): Promise<void> {
  await table.update(key, ({ path, value }) => ({
    update: `SET ${path('ttl')} = ${value(ttl)}`,
    condition: `attribute_exists(${path('pk')})`,
  }))
}

function keyOf({ pk = as.text(''), sk = as.text('') }: Item): Item {
  return { pk, sk }
}

function bodiesOn(
  table: RunTable,
): Pick<RunMarks, 'erasing' | 'keepErasing' | 'spareBodies' | 'eraseItems' | 'dropCached' | 'sweepOut'> {
  const parts = (run: RunKey) => table.all(itemKey(run, PART))
  return {
    async erasing(run) {
      const items = await parts(run)
      const spared = new Set(items.flatMap((item) => from.members(item, 'spared')))
      const all = items.flatMap((item) => item.hashes?.S?.match(/.{64}/g) ?? [])
      return { bodies: all.filter((hash) => !spared.has(hash)), spared: [...spared] }
    },
    async keepErasing(run, hashes) {
      for (let at = 0; at < hashes.length; at += HASHES_A_PART) {
        const key = itemKey(run, `${PART}${String(at).padStart(9, '0')}`)
        await table.put({ ...key, hashes: as.text(hashes.slice(at, at + HASHES_A_PART).join('')) })
      }
    },
    async spareBodies(run, hashes) {
      // A set for each first digit: one item holds some 5,000.
      for (const [digit, some = []] of Object.entries(Object.groupBy(hashes, (hash) => hash.slice(0, 1)))) {
        await table.update(itemKey(run, `${PART}spared#${digit}`), ({ path, value }) => ({
          update: `ADD ${path('spared')} ${value(as.members(some))}`,
        }))
      }
    },
    async eraseItems(run) {
      const place = await markErased(table, run)
      await table.remove(headKey(run))
      if (place !== undefined) await unlistRun(table, run, place)
      for (const item of await table.all(itemKey(run, ''))) {
        if (!isKept(from.text(item, 'sk'))) await table.remove(keyOf(item))
      }
      await eraseDeadWebhooks(table, run)
    },
    async dropCached(run, block_hash, inputs_hash) {
      const key = cacheKey(run.tenant, block_hash, inputs_hash)
      const item = await table.get(key)
      const result: CachedResult | undefined = item === undefined ? undefined : JSON.parse(from.text(item, 'body'))
      if (result?.run_id === run.run_id) await table.remove(key)
    },
    async sweepOut(run) {
      for (const item of await parts(run)) await table.remove(keyOf(item))
    },
  }
}

/** From here on no run of this id is made. Answers where it was listed: META and HEAD are still there the first time. */
async function markErased(table: RunTable, run: RunKey): Promise<string | undefined> {
  const key = itemKey(run, 'CTX')
  const there = await table.get(key)
  if (there?.erased !== undefined) return there.place?.S
  const place = await noteTerms(table, run)
  await table.put({ ...key, erased: as.number(1), ...(place === undefined ? {} : { place: as.text(place) }) })
  return place
}

const PART = 'ERASE#'

function isKept(sk: string): boolean {
  return sk === 'MARK' || sk === 'CTX' || sk.startsWith(PART)
}

/** Messages of it that nobody took, in the tenant's partition of them. */
async function eraseDeadWebhooks(table: RunTable, { tenant, run_id }: RunKey): Promise<void> {
  const dead = await table.all({ pk: as.text(`T#${tenant}#WEBHOOKS`), sk: as.text('DEAD#') })
  for (const item of dead) {
    const { run_id: of }: DeadWebhook = JSON.parse(from.text(item, 'dead'))
    if (of === run_id) await table.remove(keyOf(item))
  }
}
