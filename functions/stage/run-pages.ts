import { Fault } from '../../shared/errors.ts'
import { type RunLine, withoutDebts } from '../../shared/runs/copied-run.ts'
import type { Head } from '../../shared/runs/head.ts'
import type { Meta, RunKey } from '../../shared/runs/run-store.ts'
import type { World } from '../../shared/world.ts'
import { requireRun } from '../require-run.ts'

type Store = Pick<World, 'runs'>

interface Opened {
  readonly run: RunKey
  readonly meta: Meta
  readonly head: Head
}

interface SectionPage {
  readonly lines: readonly RunLine[]
  /** Where this section goes on; absent: it is over. */
  readonly next?: string | undefined
}

type Section = (store: Store, opened: Opened, at: string) => Promise<SectionPage>

/**
 * The lines of an ended run from a cursor on, until a page is full: nothing of the run changes any more, so pages fit each
 * other. Fault Conflict run_not_ended.
 */
export async function runPage(
  world: Store,
  { tenant, run_id }: RunKey,
  after: string | undefined,
  most_bytes: number,
): Promise<{ readonly lines: readonly RunLine[]; readonly next?: string }> {
  const opened = await openEnded(world, tenant, run_id)
  const lines: RunLine[] = []
  let bytes = 0
  let place: Place | undefined = after === undefined ? { section: 0, at: '' } : placeOf(after)
  while (place !== undefined && bytes <= most_bytes) {
    const page: SectionPage | undefined = await SECTIONS[place.section]?.[1](world, opened, place.at)
    lines.push(...(page?.lines ?? []))
    bytes += (page?.lines ?? []).reduce((sum, line) => sum + JSON.stringify(line).length, 0)
    place = nextPlace(place, page?.next)
  }
  return place === undefined ? { lines } : { lines, next: `${SECTIONS[place.section]?.[0]}:${place.at}` }
}

interface Place {
  readonly section: number
  readonly at: string
}

function nextPlace({ section }: Place, next: string | undefined): Place | undefined {
  if (next !== undefined) return { section, at: next }
  return section + 1 < SECTIONS.length ? { section: section + 1, at: '' } : undefined
}

async function openEnded({ runs }: Store, tenant: string, run_id: string): Promise<Opened> {
  const { run, head } = await requireRun({ runs }, { principal: { tenant }, params: { run_id } })
  const meta = await runs.meta(run)
  if (meta !== undefined && head.state !== 'running') return { run, meta, head }
  const message = `Cannot copy run "${run_id}": it has not ended, and its execution does not move. Wait for its end, or stop it.`
  throw new Fault('Conflict', 'run_not_ended', message)
}

function placeOf(after: string): Place {
  const [, name, at = ''] = /^([a-z]+):(\d{0,12}(?:\.\d{1,12})?)$/.exec(after) ?? []
  const section = SECTIONS.findIndex(([one]) => one === name)
  if (section < 0) throw badCursor(after)
  return { section, at }
}

function badCursor(after: string): Fault {
  const message = `Cannot go on after ${JSON.stringify(after.slice(0, 100))}: it is no \`next\` of this run. Begin without \`after\`.`
  return new Fault('InvalidInput', 'bad_cursor', message)
}

const EVENTS = 500
const BLOCKS = 100
const ITEMS = 200
const SMALL = 100

const SECTIONS: readonly (readonly [string, Section])[] = [
  ['run', first],
  ['events', events],
  ['blocks', blocks],
  ['items', items],
  [
    'approvals',
    listed(
      (store, { run }) => store.runs.approvals(run),
      (approval) => ({ approval }),
    ),
  ],
  [
    'artifacts',
    listed(
      (store, { run }) => store.runs.artifacts(run),
      (artifact) => ({ artifact }),
    ),
  ],
  [
    'notes',
    listed(
      (store, { run }) => store.runs.notes(run),
      (note) => ({ note }),
    ),
  ],
  ['words', words],
  ['links', listed(linksOf, (link) => ({ link }))],
  ['attempts', listed(attemptsOf, (goal_attempt) => ({ goal_attempt }))],
]

async function first({ runs }: Store, { run, meta, head }: Opened): Promise<SectionPage> {
  const [context, sealed] = [await runs.context(run), await runs.sealed(run)]
  if (context === undefined || sealed === undefined) {
    const message = `Cannot copy run "${run.run_id}": its ${context === undefined ? 'context' : 'hash chain'} is missing. \`sluice run verify\` says what else is.`
    throw new Fault('Bug', 'run_damaged', message)
  }
  return { lines: [{ run: { v: 1, meta, head: withoutDebts(head), context, sealed } }] }
}

async function events({ runs }: Store, { run }: Opened, at: string): Promise<SectionPage> {
  const found = await runs.events(run, Number(at), EVENTS)
  const lines = found.map((event) => ({ event }))
  return { lines, ...(found.length < EVENTS ? {} : { next: String(found.at(-1)?.seq) }) }
}

async function blocks({ runs }: Store, { run, meta }: Opened, at: string): Promise<SectionPage> {
  const from = Number(at)
  const until = Math.min(from + BLOCKS, meta.blocks)
  if (from >= until) return { lines: [] }
  const numbers = Array.from({ length: until - from }, (_, i) => from + i)
  const found = await runs.projections(run, numbers)
  return { lines: found.map((block) => ({ block })), ...(until < meta.blocks ? { next: String(until) } : {}) }
}

/** `<block>.<items of it that are told>`. Which blocks have items no document has to say: each is asked. */
async function items({ runs }: Store, { run, meta }: Opened, at: string): Promise<SectionPage> {
  const [block = 0, told = 0] = at.split('.').map(Number)
  if (block >= meta.blocks) return { lines: [] }
  const found = await runs.itemProjections(run, block)
  const lines = found.slice(told, told + ITEMS).map((one) => ({ block: one }))
  if (told + ITEMS < found.length) return { lines, next: `${block}.${told + ITEMS}` }
  return { lines, ...(block + 1 < meta.blocks ? { next: `${block + 1}.0` } : {}) }
}

async function words({ runs }: Store, { run }: Opened): Promise<SectionPage> {
  const found = await runs.words(run)
  return { lines: found.length === 0 ? [] : [{ words: found }] }
}

function listed<T>(read: (store: Store, opened: Opened) => Promise<readonly T[]>, line: (one: T) => RunLine): Section {
  return async (store, opened, at) => {
    const all = await read(store, opened)
    const from = Number(at)
    const lines = all.slice(from, from + SMALL).map(line)
    return { lines, ...(from + SMALL < all.length ? { next: String(from + SMALL) } : {}) }
  }
}

/** Of what came of it, the root of a lineage tells. */
async function linksOf({ runs }: Store, { run, meta }: Opened) {
  return meta.root === undefined ? runs.lineage(run.tenant, run.run_id) : []
}

async function attemptsOf({ runs }: Store, { run, meta }: Opened) {
  return meta.root === undefined ? runs.goalAttempts(run.tenant, run.run_id) : []
}
