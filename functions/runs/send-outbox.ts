import * as z from 'zod'
import { Fault } from '../../shared/errors.ts'
import type { Anchor } from '../../shared/runs/anchors.ts'
import { hashAfter } from '../../shared/runs/hash-chain.ts'
import { blockOrdinal, type Head, isHeldBack, type OutboxEntry } from '../../shared/runs/head.ts'
import type { RunKey } from '../../shared/runs/run-store.ts'
import { wordsOf } from '../../shared/runs/words.ts'
import type { Json } from '../../shared/text/json.ts'
import { isEndpointDue } from '../../shared/webhooks/endpoint-deliveries.ts'
import type { WebhookWork } from '../../shared/webhooks/message.ts'
import type { World } from '../../shared/world.ts'
import { functionHandler } from '../handler.ts'
import { readPinned } from '../record/pinned-run.ts'
import { readPortValues, readProjections } from '../record/projections.ts'
import { sendAnswerWebhook } from '../research/research-answer.ts'
import { pauseChildren } from './pause.ts'
import { fillSlots, releaseSlot } from './slots.ts'
import { stopChild, stopChildren } from './stop-children.ts'

/**
 * Performs what a run owes to the world: each entry was written in the same update as its cause, each effect is
 * idempotent, an entry is removed only after its effect (a start, a note, triggers and an endpoint remove their own). What fails stays for the
 * sweeper. One that waits for a slot gets it first, where one is free, and until then nothing lets it go on.
 */
export const handler = functionHandler({
  name: 'send-outbox',
  input: z.strictObject({ tenant: z.string().min(1), run_id: z.string().min(1) }),
  async run(run, world) {
    const head = await afterItsTurn(world, run)
    if (head === undefined) return { sent: await tellErased(world, run) }
    const sent: string[] = []
    for (const entry of head.outbox.toSorted(slowLast)) {
      const waits = isHeldBack(head, entry) || isEarly(world, head, entry)
      if (!waits && (await performed(world, run, entry))) sent.push(entry.id)
    }
    if (sent.length > 0) await world.runs.settleOutbox(run, sent)
    return { sent: sent.length }
  },
})

/** Of a run that was erased: its mark says who is still to be told of that. */
async function tellErased({ runs, outbox, settings }: World, run: RunKey): Promise<number> {
  const { untold = [] } = (await runs.mark(run))?.erasure ?? {}
  for (const endpoint of untold) {
    const isBus = settings.buses.some(({ name, tenant }) => name === endpoint && tenant === run.tenant)
    await (isBus ? outbox.busWork({ run, endpoint }) : outbox.webhookWork({ run, endpoint }))
  }
  return untold.length
}

/** HEAD; of a run that waits for a slot once those that are free were given to the first in the queue. */
async function afterItsTurn(world: World, run: RunKey): Promise<Head | undefined> {
  const head = await world.runs.head(run, [])
  const { wants_at } = head?.resting ?? {}
  if (head?.state !== 'running' || (head.queued !== true && wants_at === undefined)) return head
  // A start stands in the queue since it was let in.
  if (wants_at !== undefined) await world.runs.enqueue({ ...run, at: wants_at })
  await fillSlots(world, run.tenant)
  return world.runs.head(run, [])
}

function isEarly({ clock }: World, head: Head, entry: OutboxEntry): boolean {
  return entry.kind === 'endpoint' && !isEndpointDue(head, entry, clock.now())
}

/** Whoever is asked outside may take its time. */
function slowLast(a: OutboxEntry, b: OutboxEntry): number {
  return Number(a.kind === 'webhook') - Number(b.kind === 'webhook')
}

/** Whoever performs these removes them. */
const OWN: ReadonlySet<OutboxEntry['kind']> = new Set(['start_run', 'notify', 'tell_triggers', 'endpoint'])

async function performed(world: World, run: RunKey, entry: OutboxEntry): Promise<boolean> {
  try {
    await perform(world, run, entry)
    return !OWN.has(entry.kind) || (entry.kind === 'notify' && isTooLate(world, run, entry))
  } catch (error) {
    world.log.error('outbox entry not performed', { run_id: run.run_id, entry: entry.id, error: String(error) })
    return false
  }
}

async function perform(world: World, run: RunKey, entry: OutboxEntry): Promise<void> {
  switch (entry.kind) {
    case 'start_run':
      return world.outbox.startRun(run)
    case 'stop_execution': {
      const meta = await world.runs.meta(run)
      if (meta === undefined) throw new Fault('Bug', 'meta_missing', `Run "${run.run_id}" has HEAD but no META.`)
      await world.machine.stop(meta.machine, run.run_id, entry.cause)
      return stopChildren(world, run, entry.cause)
    }
    case 'send_token':
      return answerAll(world, await world.runs.approvalTokens(run, entry.approval_id))
    case 'answer_parent':
      return answerAll(world, await world.runs.parentTokens(run))
    case 'stop_child':
      return stopChild(world, run, entry)
    case 'pause_children':
      return pauseChildren(world, run)
    case 'answer_wait':
      return answerAll(world, await world.waits.tokens(run, entry.wait))
    case 'release_lease':
      return releaseSlot(world, run)
    case 'notify':
      return tell(world, run, entry)
    case 'tell_triggers':
      return world.outbox.fireTriggers(run)
    case 'anchor':
      return world.outbox.writeAnchor(await anchorOf(world, run))
    case 'list_words':
      return listWords(world, run)
    case 'webhook':
      return sendAnswerWebhook(world, run, entry)
    case 'endpoint':
      return tellEndpoint(world, { run, endpoint: entry.endpoint })
  }
}

/** One that the settings do not name any more is a webhook's too: send-webhooks drops what it is owed. */
function tellEndpoint({ outbox, settings }: World, work: WebhookWork): Promise<void> {
  const isBus = settings.buses.some(({ name }) => name === work.endpoint)
  return isBus ? outbox.busWork(work) : outbox.webhookWork(work)
}

/** slack-work tells everything that the run owes; what nobody could be told for an hour is dropped. */
async function tell(world: World, run: RunKey, { id, at }: OutboxEntry): Promise<void> {
  if (!isTooLate(world, run, { at })) return world.outbox.slackWork({ run, entry: id })
  world.log.error('Slack was not told for an hour', { run_id: run.run_id, entry: id })
}

const LATEST_MS = 3_600_000

/** Also where the workspace is not there any more, or another tenant's. */
function isTooLate({ clock, settings }: World, { tenant }: RunKey, { at }: Pick<OutboxEntry, 'at'>): boolean {
  return settings.slack?.tenant !== tenant || clock.now() - Date.parse(at) > LATEST_MS
}

async function answerAll({ machine }: World, tokens: readonly string[]): Promise<void> {
  for (const token of tokens) await machine.answer(token, { ok: {} })
}

const PAGE = 500

/**
 * What is anchored of an ended run: the closed part of its chain and, where whoever ended it died before closing the rest,
 * the events since. Always the same but for the time: nothing is appended after an end.
 */
async function anchorOf({ runs, clock }: Pick<World, 'runs' | 'clock'>, run: RunKey): Promise<Anchor> {
  let sealed = await runs.sealed(run)
  const head = await runs.head(run, [])
  if (sealed === undefined || head === undefined || head.state === 'running') {
    throw new Fault('Bug', 'not_ended', `Cannot anchor run "${run.run_id}": it has not ended.`)
  }
  while (sealed.seq < head.seq) {
    const events = await runs.events(run, sealed.seq, PAGE)
    if (events.length === 0) throw new Fault('Bug', 'log_gap', `Run "${run.run_id}" has no event ${sealed.seq + 1}.`)
    // Nothing is closed yet: the chain starts from its own first hash.
    const hash: string = sealed.seq === 0 ? hashAfter(events) : hashAfter(events, sealed.hash)
    sealed = { seq: sealed.seq + events.length, hash }
  }
  const { tenant, run_id } = run
  const at = new Date(clock.now()).toISOString()
  return { format: 'sluice-anchor/1', tenant, run_id, ...sealed, events: sealed.seq, at }
}

/** A larger value is not looked into. */
const MOST_BYTES = 65_536

/**
 * Lists an ended run under the words of the outputs its document marks `search: true`: of blocks that completed, as they
 * were published. Whoever repeats it lists nothing twice.
 */
async function listWords(world: Pick<World, 'runs' | 'objects'>, run: RunKey): Promise<void> {
  const pinned = await readPinned(world, run)
  const head = await world.runs.head(run)
  const wanted = pinned.dag.searched?.outputs ?? []
  if (head === undefined || wanted.length === 0) return
  const blocks = pinned.dag.blocks.filter(({ id }) => wanted.some((output) => output.startsWith(`${id}.`)))
  const lanes = new Map<number, number>()
  for (const { id, index } of blocks) {
    const lane = blockOrdinal(pinned, head, id)
    if (lane !== undefined) lanes.set(index, lane)
  }
  const projections = await readProjections(world, run, lanes)
  const values: Json[] = []
  for (const { id, index, outputs: declared } of blocks) {
    const { state, outputs = {} } = projections.get(index) ?? {}
    if (state !== 'completed') continue
    const ports = Object.entries(outputs).filter(([port, { bytes }]) => {
      const { type } = declared[port] ?? {}
      return wanted.includes(`${id}.${port}`) && bytes <= MOST_BYTES && type !== 'file' && type !== 'artifact'
    })
    values.push(...Object.values(await readPortValues(world, run.tenant, Object.fromEntries(ports))))
  }
  await world.runs.addWords(run, wordsOf(values))
}
