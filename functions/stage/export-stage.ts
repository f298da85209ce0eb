import { STAGE_ROUTES } from '../../shared/api/stage-routes.ts'
import { Fault } from '../../shared/errors.ts'
import { ledgerAt, ledgerEnd } from '../../shared/spending/ledger.ts'
import { countsOthers } from '../../shared/views/spending.ts'
import type { World } from '../../shared/world.ts'
import { httpHandler } from '../http-handler.ts'
import { declaredTriggers } from '../triggers/declared-triggers.ts'
import { runPage } from './run-pages.ts'

/** Records of one tenant as they are stored: what `sluice stage export` writes down. It changes nothing. */
export const handler = httpHandler({
  name: 'export-stage',
  schema: STAGE_ROUTES['export-stage'],
  async run({ query, principal: { tenant } }, world) {
    const { what, run_id = '', sha256 = '', after } = query
    const { lines, next } = await PAGES[what](world, { tenant, run_id, sha256, after })
    return { json: { tenant, lines: [...lines], next: next ?? null } }
  },
})

interface Asked {
  readonly tenant: string
  readonly run_id: string
  readonly sha256: string
  readonly after: string | undefined
}

interface Page {
  readonly lines: readonly object[]
  readonly next?: string | undefined
}

/** An answer of a function is at most 6 MB; a page ends when it has this much. */
const PAGE_BYTES = 1_048_576

const PAGES: Readonly<
  Record<'run' | 'graph' | 'triggers' | 'spending' | 'body', (world: World, asked: Asked) => Promise<Page>>
> = {
  run: (world, asked) => runPage(world, asked, asked.after, PAGE_BYTES),
  graph: graphPage,
  triggers: triggerPage,
  spending: spendingPage,
  body: bodyPage,
}

/** `<entities of this page of the list that are told>|<the list's own cursor>`. */
async function graphPage({ graph }: World, { tenant, after = '0|' }: Asked): Promise<Page> {
  const [told, list] = cursorOf(after)
  const page = await graph.list(tenant, list === '' ? undefined : list)
  const entities = await graph.entities(tenant, page.entity_ids.slice(told))
  const lines: object[] = []
  let bytes = 0
  let at = told
  for (const id of page.entity_ids.slice(told)) {
    if (bytes > PAGE_BYTES) return { lines, next: `${at}|${list}` }
    const entity = entities.find(({ entity_id }) => entity_id === id)
    at += 1
    if (entity === undefined) continue
    lines.push({ entity })
    bytes += JSON.stringify(entity).length
  }
  return { lines, next: page.next === undefined ? undefined : `0|${page.next}` }
}

const FIRINGS = 200

/** `<trigger>|<the cursor of its firings>`: a state, and what it fired; what it owes stays. */
async function triggerPage(world: World, { tenant, after = '0|' }: Asked): Promise<Page> {
  if (tenant !== world.settings.triggers.tenant) return { lines: [] }
  const { declared } = await declaredTriggers(world)
  const [at, list] = cursorOf(after)
  const one = declared[at]
  if (one === undefined) return { lines: [] }
  const key = { tenant, document: one.document, trigger: one.trigger.name }
  const state = list === '' ? await world.triggers.state(key) : undefined
  const page = await world.triggers.firings(key, { limit: FIRINGS, after: list === '' ? undefined : list })
  const over = page.firings.filter((firing) => firing.state !== 'owed').map((firing) => ({ firing }))
  const next = page.next === undefined ? `${at + 1}|` : `${at}|${page.next}`
  return {
    lines: [...(state === undefined ? [] : [{ trigger: state }]), ...over],
    next: at + 1 < declared.length || page.next !== undefined ? next : undefined,
  }
}

/** Counts of the day and month there is now, of caps that are this tenant's alone. */
async function spendingPage({ settings, spending, clock }: World, { tenant }: Asked): Promise<Page> {
  const now = clock.now()
  const own = settings.spending.filter((cap) => (cap.tenant ?? tenant) === tenant && !countsOthers(settings, cap))
  const lines = own.map(async (cap) => {
    const of = ledgerAt(cap, now)
    return { ledger: { ...of, ttl: ledgerEnd(cap.per, now), ...(await spending.read(of)) } }
  })
  return { lines: await Promise.all(lines) }
}

const SLICE_BYTES = 3_145_728

/** A body in slices: more than 4 MB of bytes are no answer of a function. */
async function bodyPage({ objects }: World, { tenant, sha256, after = '0|' }: Asked): Promise<Page> {
  const [from] = cursorOf(after)
  const body = await objects.get(tenant, `objstore://${tenant}/${sha256}`)
  const base64 = Buffer.from(body.subarray(from, from + SLICE_BYTES)).toString('base64')
  const end = from + SLICE_BYTES
  return { lines: [{ base64 }], next: end < body.byteLength ? `${end}|` : undefined }
}

/** A number, and the cursor of whoever has the list. Fault InvalidInput bad_cursor. */
function cursorOf(after: string): readonly [number, string] {
  const [, told, list = ''] = /^(\d{1,12})\|(.*)$/s.exec(after) ?? []
  if (told !== undefined) return [Number(told), list]
  throw badCursor(after)
}

function badCursor(after: string): Fault {
  const message = `Cannot go on after ${JSON.stringify(after.slice(0, 100))}: it is no \`next\` of this route. Begin without \`after\`.`
  return new Fault('InvalidInput', 'bad_cursor', message)
}
