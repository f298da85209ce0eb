import type * as z from 'zod'
import { type ApprovalEntry, LIST_APPROVALS } from '../../shared/api/approval-routes.ts'
import type { Principal } from '../../shared/auth/principal.ts'
import { Fault } from '../../shared/errors.ts'
import { runIdOfApproval } from '../../shared/runs/ids.ts'
import { type Asked, DAMAGED_FIX, type DamagedQuestion, shownApprovalStatus } from '../../shared/runs/run-store.ts'
import type { ApprovalItem } from '../../shared/runs/run-store-items.ts'
import type { World } from '../../shared/world.ts'
import { describeInboxEntry } from '../approvals/inbox-entry.ts'
import { httpHandler } from '../http-handler.ts'

/** The inbox: what people of the tenant are asked, with risk and cost. It decides nothing. */
export const handler = httpHandler({
  name: 'list-approvals',
  schema: LIST_APPROVALS,
  run: async ({ query, principal }, world) => {
    const { approval_id } = query
    const { asked, damaged, next } =
      approval_id === undefined
        ? await wantedPage(world, principal, query)
        : { asked: await oneAsked(world, principal, approval_id), damaged: [], next: undefined }
    const items = asked.map(({ item }) => item)
    const shown = portsThatFit(items, query.values === 'shown' ? SHOWN_BYTES : 0)
    const approvals: ApprovalEntry[] = []
    for (let at = 0; at < asked.length; at += AT_ONCE) {
      const some = asked.slice(at, at + AT_ONCE)
      const none = new Set<string>()
      approvals.push(
        ...(await Promise.all(some.map((one, i) => describeInboxEntry(world, principal, one, shown[at + i] ?? none)))),
      )
    }
    const told = damaged.map((one) => ({ ...one, seen: one.seen.slice(0, 200), fix: DAMAGED_FIX }))
    return { json: { approvals, ...(told.length > 0 && { damaged: told }), next_cursor: next ?? null } }
  },
})

/** Shown values of one page: a function answers at most 6 MB. */
const SHOWN_BYTES = 1_048_576
/** Each reads its document and some values. */
const AT_ONCE = 10
/** Store reads one request may cost; then its page is short and the cursor goes on. */
const MAX_READS = 10

type Query = z.output<typeof LIST_APPROVALS.query>

interface InboxPosition {
  readonly closed: boolean
  readonly after?: string
}

async function wantedPage(
  world: World,
  { tenant }: Principal,
  { status, limit, cursor }: Query,
): Promise<{ readonly asked: readonly Asked[]; readonly damaged: readonly DamagedQuestion[]; readonly next?: string }> {
  const found: Asked[] = []
  const damaged: DamagedQuestion[] = []
  let place: InboxPosition | undefined = readPosition(status, cursor)
  for (let reads = 0; reads < MAX_READS && place !== undefined && found.length < limit; reads += 1) {
    const { closed } = place
    const page = await world.runs.inbox(tenant, { ...place, limit: limit - found.length })
    found.push(...page.asked.filter(({ item, head }) => isWanted(status, shownApprovalStatus(head, item.id))))
    damaged.push(...(page.damaged ?? []))
    place = nextPosition(status, closed, page.next)
  }
  return { asked: found, damaged, ...(place === undefined ? {} : { next: cursorOf(place) }) }
}

/** Its run is in its id. */
async function oneAsked(world: World, { tenant }: Principal, id: string): Promise<readonly Asked[]> {
  const run = { tenant, run_id: runIdOfApproval(id) ?? '' }
  const [head, meta, item] = await Promise.all([
    world.runs.head(run),
    world.runs.meta(run),
    world.runs.approval(run, id),
  ])
  if (head === undefined || meta === undefined || item === undefined) return []
  const at = head.approvals[id]?.decided_at ?? item.requested_at
  return shownApprovalStatus(head, id) === undefined ? [] : [{ item, meta, head, at }]
}

/** An entry the index still has among the open ones is what HEAD says: nothing to decide, but it is in `all`. */
function isWanted(status: Query['status'], shown: ReturnType<typeof shownApprovalStatus>): boolean {
  return status === 'all' || (shown === 'pending') === (status === 'pending')
}

function nextPosition(status: Query['status'], closed: boolean, next: string | undefined): InboxPosition | undefined {
  if (next !== undefined) return { closed, after: next }
  return status === 'all' && !closed ? { closed: true } : undefined
}

/** Which of the two lists, and where in it: the second part is the store's and cannot be forged. */
function cursorOf({ closed, after = '' }: InboxPosition): string {
  return `${closed ? 'c' : 'o'}.${after}`
}

function readPosition(status: Query['status'], cursor: string | undefined): InboxPosition {
  if (cursor === undefined) return { closed: status === 'decided' }
  const list = cursor.slice(0, 2)
  const after = cursor.slice(2)
  const fits = list === 'o.' ? status !== 'decided' : list === 'c.' && status !== 'pending'
  if (fits) return { closed: list === 'c.', ...(after === '' ? {} : { after }) }
  const message = `Cannot list approvals: the cursor is not one of this list (status ${status}). Take next_cursor of the page before.`
  throw new Fault('InvalidInput', 'bad_cursor', message)
}

/** One larger than this is named, not shown: as in GET run. */
export const MAX_SHOWN_BYTES = 65_536

/** Of each question the ports whose values are shown, first come first served, while all of them fit into `room` bytes. */
export function portsThatFit(
  items: readonly Pick<ApprovalItem, 'shown'>[],
  room: number,
): readonly ReadonlySet<string>[] {
  let left = room
  return items.map(({ shown }) => {
    const ports = Object.entries(shown).flatMap(([port, { bytes }]) => {
      if (bytes > Math.min(MAX_SHOWN_BYTES, left)) return []
      left -= bytes
      return [port]
    })
    return new Set(ports)
  })
}
