import { GET_RUN } from '../../shared/api/run-routes.ts'
import type { RunEvent, StoredValue } from '../../shared/runs/event.ts'
import type { Vote } from '../../shared/runs/head.ts'
import { type RunKey, runsPool } from '../../shared/runs/run-store.ts'
import type { Json } from '../../shared/text/json.ts'
import { viewRun } from '../../shared/views/run.ts'
import type { World } from '../../shared/world.ts'
import { httpHandler } from '../http-handler.ts'
import { allEvents, readPinned } from '../record/pinned-run.ts'
import { readPortValues } from '../record/projections.ts'
import { requireRun } from '../require-run.ts'

/** A run as its events tell it, so that it always equals a replay; with the values that people are asked about. */
export const handler = httpHandler({
  name: 'get-run',
  schema: GET_RUN,
  run: async (call, world) => {
    const { run, head } = await requireRun(world, call)
    const { meta, dag } = await readPinned(world, run)
    const asked = await world.runs.approvals(run)
    const events = await allEvents(world, run)
    const queue = head.queued === true ? await positionInQueue(world, run) : undefined
    const { max_attempts, max_run_bytes } = world.settings.safety
    const lineage = await world.runs.lineage(run.tenant, meta.root ?? run.run_id)
    const now = world.clock.now()
    const view = viewRun({
      meta,
      dag,
      head,
      events,
      approvals: asked,
      lineage,
      now,
      max_attempts,
      max_run_bytes,
      queue,
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

/** Runs read to find its place: as many as may be active. */
const MOST_QUEUED = 1_000

async function positionInQueue({ runs }: World, { tenant, run_id }: RunKey) {
  const [queued, held] = await Promise.all([runs.queued(tenant, MOST_QUEUED), runs.leases(runsPool(tenant))])
  const at = queued.findIndex((one) => one.run_id === run_id)
  return { place: (at === -1 ? queued.length : at) + 1, active: Object.keys(held).length }
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
