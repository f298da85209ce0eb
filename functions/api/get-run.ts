import { GET_RUN } from '../../shared/api/run-routes.ts'
import type { Dag } from '../../shared/dag/dag.ts'
import { Fault } from '../../shared/errors.ts'
import type { RunEvent, StoredValue } from '../../shared/runs/event.ts'
import type { Vote } from '../../shared/runs/head.ts'
import { idBeginning } from '../../shared/runs/ids.ts'
import { readyTurns, standingBefore } from '../../shared/runs/key-queue.ts'
import { type Meta, type RunKey, runsPool } from '../../shared/runs/run-store.ts'
import type { ShownTurn } from '../../shared/runs/waiting.ts'
import type { Json } from '../../shared/text/json.ts'
import { viewRun } from '../../shared/views/run.ts'
import type { World } from '../../shared/world.ts'
import { httpHandler } from '../http-handler.ts'
import { readPinned } from '../record/pinned-run.ts'
import { readPortValues } from '../record/projections.ts'
import { readLog } from '../record/run-log.ts'
import { requireRun } from '../require-run.ts'

/** A run as its events tell it, so that it always equals a replay; with the values that people are asked about. */
export const handler = httpHandler({
  name: 'get-run',
  schema: GET_RUN,
  run: async (call, world) => {
    const { run, head } = await requireRun(world, await withWholeId(world, call))
    const { meta, dag } = await readPinned(world, run)
    const asked = await world.runs.approvals(run)
    const { events, fold } = await readLog(world, run)
    const since = head.resting?.wants_at
    const queue = head.queued === true || since !== undefined ? await positionInQueue(world, run, since) : undefined
    const turn = head.state === 'running' ? await standingOf(world, meta, dag) : undefined
    const { max_attempts, max_run_bytes } = world.settings.safety
    const lineage = await world.runs.lineage(run.tenant, meta.root ?? run.run_id)
    const now = world.clock.now()
    const view = viewRun({
      meta,
      dag,
      head,
      events,
      fold,
      approvals: asked,
      lineage,
      now,
      max_attempts,
      max_run_bytes,
      queue,
      turn,
    })
    const approvals = view.approvals.map(async (approval) => {
      const shown = await valuesOf(world, run.tenant, approval.shown)
      const feedback = await feedbackOf(world, run.tenant, approval.feedback_ref)
      const edits = await editsOf(world, run.tenant, approval.edits_ref)
      const votes = approval.votes && (await votesOf(world, run.tenant, approval.votes, events))
      const said = { ...optional('feedback', feedback), ...optional('edits', edits), ...optional('votes', votes) }
      return { ...approval, shown, shown_refs: approval.shown, ...said }
    })
    return { json: { ...view, dag: { ...view.dag }, approvals: await Promise.all(approvals) } }
  },
})

/** How many candidates an ambiguous id names. */
const MOST_CANDIDATES = 10
/** Reads of the list that a short id may cost. */
const MAX_READS = 20

type Named = Parameters<typeof requireRun>[1]

/** The same request with the whole id where it had the beginning of one. Fault InvalidInput ambiguous_id, NotFound unknown_run. */
async function withWholeId({ runs }: World, call: Named): Promise<Named> {
  const begins = idBeginning(call.params.run_id)
  if (begins.length === WHOLE_ID) return { ...call, params: { run_id: begins } }
  const found: string[] = []
  let after: string | undefined
  for (let reads = 0; reads < MAX_READS && found.length <= MOST_CANDIDATES; reads += 1) {
    const filter = { id_begins: begins, limit: MOST_CANDIDATES + 1, ...(after === undefined ? {} : { after }) }
    const page = await runs.list(call.principal.tenant, filter)
    found.push(...page.runs.map(({ run_id }) => run_id))
    after = page.next
    if (after === undefined) break
  }
  const [run_id = begins, ...others] = found
  if (others.length === 0) return { ...call, params: { run_id } }
  const named = `${found.slice(0, MOST_CANDIDATES).join(', ')}${found.length > MOST_CANDIDATES ? ' and more' : ''}`
  const message = `Cannot tell which run "${call.params.run_id}" is: several begin so: ${named}. Write more of its id.`
  throw new Fault('InvalidInput', 'ambiguous_id', message, { facts: { candidates: found.slice(0, MOST_CANDIDATES) } })
}

const WHOLE_ID = 'run_'.length + 26

/** Runs read to find its place: as many as may be active. */
const MOST_QUEUED = 1_000

async function positionInQueue({ runs }: World, { tenant, run_id }: RunKey, since: string | undefined) {
  const [queued, held] = await Promise.all([runs.queued(tenant, MOST_QUEUED), runs.leases(runsPool(tenant))])
  const at = queued.findIndex((one) => one.run_id === run_id)
  return { place: (at === -1 ? queued.length : at) + 1, active: Object.keys(held).length, ...optional('since', since) }
}

/** More runs than these are not named. */
const MOST_NAMED = 20

async function standingOf({ runs }: World, meta: Meta, { concurrency }: Dag): Promise<ShownTurn | undefined> {
  const { tenant, run_id, turn } = meta
  if (turn === undefined) return undefined
  const { queue: name, limit, on_conflict } = turn
  const queue = await runs.keyQueue({ tenant, queue: name })
  const running = queue.running.slice(0, MOST_NAMED).map((one) => one.run_id)
  const shown = { ...(concurrency?.key === undefined ? {} : { key: concurrency.key }), limit, on_conflict, running }
  const before = standingBefore(queue, run_id)
  if (before === undefined || readyTurns(queue).some((one) => one.run_id === run_id)) return shown
  return { ...shown, place: before.length + 1, behind: before.slice(0, MOST_NAMED).map((one) => one.run_id) }
}

const MAX_SHOWN_BYTES = 65_536
const MAX_FEEDBACK = 3_000

async function valuesOf(world: World, tenant: string, shown: Readonly<Record<string, StoredValue>>) {
  const small = Object.entries(shown).filter(([, { bytes }]) => bytes <= MAX_SHOWN_BYTES)
  return { ...shown, ...(await readPortValues(world, tenant, Object.fromEntries(small))) }
}

/** The words of a decision; a request may carry no more than this many, whatever the store holds. */
async function feedbackOf(world: World, tenant: string, ref: string | undefined): Promise<string | undefined> {
  if (ref === undefined) return undefined
  const text = Buffer.from(await world.objects.get(tenant, ref)).toString('utf8')
  return text.slice(0, MAX_FEEDBACK).toWellFormed()
}

/** The inputs an approver changed: they are bounded as the inputs of a run are. */
async function editsOf(world: World, tenant: string, ref: string | undefined): Promise<Json | undefined> {
  if (ref === undefined) return undefined
  return JSON.parse(Buffer.from(await world.objects.get(tenant, ref)).toString('utf8'))
}

/** With what each said: HEAD and the fold have room for who and when only. */
function votesOf(world: World, tenant: string, votes: readonly Vote[], events: readonly RunEvent[]) {
  return Promise.all(
    votes.map(async (vote) => {
      const event = events.find(({ type, at, data }) => {
        return type === 'approval:decided' && at === vote.at && `${data.by.kind}:${data.by.id}` === vote.by
      })
      const ref = event?.type === 'approval:decided' ? event.data.feedback_ref : undefined
      return { ...vote, ...optional('feedback', await feedbackOf(world, tenant, ref)) }
    }),
  )
}

function optional<K extends string, T>(name: K, value: T | undefined): { readonly [P in K]?: T } {
  return value === undefined ? {} : ({ [name]: value } as { readonly [P in K]: T })
}
