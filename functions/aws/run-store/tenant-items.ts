import type {
  GoalAttempts,
  Lineages,
  NotedRequests,
  RequestIdentity,
  RequestRate,
  RunLink,
  StoredBytes,
  StoredGoalAttempt,
} from '../../../shared/runs/run-store.ts'
import { sha256 } from '../../../shared/text/hash.ts'
import { as, birthTtl, from, type Item } from './item-encoding.ts'
import { ifAbsent, type RunTable } from './table.ts'

/** I#: one item a request. `w` names who wrote it: one that the SDK sends again is still the first. */
export function notedRequestsOn(table: RunTable): NotedRequests {
  return {
    async noteRequest(request) {
      const nonce = table.nonce()
      const ttl = as.number(Math.floor(table.now() / 1_000) + DAY_SEC)
      const noted = await table.put({ ...requestKey(request), w: as.text(nonce), ttl }, ifAbsent)
      if (noted.ok) return 'first'
      const known = noted.item ?? (await table.get(requestKey(request)))
      if (known?.w?.S === nonce) return 'first'
      return known?.done === undefined ? 'open' : 'done'
    },
    async endRequest(request) {
      await table.update(requestKey(request), ({ path, value }) => ({
        update: `SET ${path('done')} = ${value(as.number(1))}`,
        condition: `attribute_exists(${path('w')})`,
      }))
    },
  }
}

const DAY_SEC = 86_400

function requestKey({ tenant, route, key }: RequestIdentity): Item {
  return { pk: as.text(`T#${tenant}#I#${route}#${sha256(key)}`), sk: as.text('REQUEST') }
}

/**
 * How many requests a caller made in a window. `w` names the request counted last: one that the SDK sends again is not
 * counted twice, unless another came between; then it is, on the careful side.
 */
export function requestRateOn(table: RunTable): RequestRate {
  return {
    async countRequest(tenant, caller, window, cap) {
      if (cap < 1) return false
      const nonce = table.nonce()
      const key = { pk: as.text(`T#${tenant}#RATE`), sk: as.text(`${caller}#${window}`) }
      const counted = await table.update(key, ({ path, value }) => {
        const [count, mine] = [path('n'), value(as.text(nonce))]
        const set = [`${path('w')} = ${mine}`, `${path('ttl')} = ${value(as.number(keptUntil(table.now())))}`]
        return {
          update: `SET ${set.join(', ')} ADD ${count} ${value(as.number(1))}`,
          condition: `attribute_not_exists(${count}) OR (${count} < ${value(as.number(cap))} AND ${path('w')} <> ${mine})`,
        }
      })
      if (counted.ok) return true
      const now = counted.sent > 1 ? (counted.item ?? (await table.get(key))) : undefined
      return now?.w?.S === nonce
    },
  }
}

/** Windows are minutes: after an hour nobody asks. */
function keptUntil(now: number): number {
  return Math.floor(now / 1_000) + 3_600
}

/** So many items share what is written in one week, so that none gets hot. */
const SHARDS = 4

/** What a tenant stored, in a partition of its own: `<week>#<shard>`. */
export function storedBytesOn(table: RunTable): StoredBytes {
  return {
    async countStored(tenant, { week, bytes, ttl }) {
      const shard = table.nonce().charCodeAt(0) % SHARDS
      await table.update({ ...partition(tenant), sk: as.text(`${week}#${shard}`) }, ({ path, value }) => ({
        update: `SET ${path('ttl')} = ${value(as.number(ttl))} ADD ${path('n')} ${value(as.number(bytes))}`,
      }))
    },
    async storedSince(tenant, week) {
      // The table forgets a week some time after its end: until then it is left out here.
      const counts = await table.all(partition(tenant))
      const kept = counts.filter((item) => from.text(item, 'sk') >= week)
      return kept.reduce((sum, item) => sum + from.number(item, 'n'), 0)
    },
  }
}

function partition(tenant: string) {
  return { pk: as.text(`T#${tenant}#STORED`) }
}

/** LINEAGE#: one item a run that came of the root, so that a long line of runs never fills an item. */
export function lineageOn(table: RunTable): Lineages {
  return {
    async linkRun(tenant, root, link) {
      const item = { ...linkKey(tenant, root, link.run_id), link: as.json(link), ttl: birthTtl(table) }
      await table.put(item, ifAbsent)
    },
    async lineage(tenant, root) {
      const items = await table.all(linkKey(tenant, root, ''))
      const links = items.map((item): RunLink => JSON.parse(from.text(item, 'link')))
      return links.toSorted((a, b) => (`${a.at} ${a.run_id}` < `${b.at} ${b.run_id}` ? -1 : 1))
    },
  }
}

function linkKey(tenant: string, root: string, run_id: string): Item {
  return { pk: as.text(`T#${tenant}#L#${root}`), sk: as.text(`LINEAGE#${run_id}`) }
}

/** ATTEMPT#, beside the LINEAGE# items of the root: one item a number. */
export function goalAttemptsOn(table: RunTable): GoalAttempts {
  return {
    async goalAttempts(tenant, root) {
      const items = await table.all(attemptKey(tenant, root, ''))
      return items.map((item): StoredGoalAttempt => JSON.parse(from.text(item, 'attempt')))
    },
    async putGoalAttempt(tenant, root, n, { run_id, at, status, fingerprint, unmet, metCount, totalCount }) {
      const key = attemptKey(tenant, root, String(n).padStart(DIGITS, '0'))
      const attempt: StoredGoalAttempt = { n, run_id, at, status, fingerprint, unmet, metCount, totalCount }
      const item = { ...key, run_id: as.text(run_id), attempt: as.json(attempt), ttl: birthTtl(table) }
      const noted = await table.put(item, ifAbsent)
      if (noted.ok) return true
      // Also when the SDK sent it twice and the first answer was lost.
      const there = noted.item ?? (await table.get(key))
      return there?.run_id?.S === run_id
    },
  }
}

/** Sort keys are text: so many digits hold every number a contract can name as its most. */
const DIGITS = 16

function attemptKey(tenant: string, root: string, n: string): Item {
  return { pk: as.text(`T#${tenant}#L#${root}`), sk: as.text(`ATTEMPT#${n}`) }
}
