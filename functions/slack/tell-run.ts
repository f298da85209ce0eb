import { Fault } from '../../shared/errors.ts'
import { shownBudget } from '../../shared/runs/budget.ts'
import type { EventData, StoredValue } from '../../shared/runs/event.ts'
import { isRunEnd } from '../../shared/runs/event-types.ts'
import type { Head, HeadApproval, OutboxEntry } from '../../shared/runs/head.ts'
import type { RunKey } from '../../shared/runs/run-store.ts'
import type { ApprovalItem } from '../../shared/runs/run-store-items.ts'
import {
  type AskedInSlack,
  approvalMessage,
  approvalNote,
  runEndNote,
  type ThreadNote,
} from '../../shared/slack/messages.ts'
import type { World } from '../../shared/world.ts'

/** Longest time that one worker has the run's thread to itself without saying so again. */
const TURN_MS = 60_000
/** What came in while this worker told the rest. */
const ROUNDS = 20

/**
 * Tells Slack what a run owes it, in order and by one worker at a time, so that a run has one thread and nobody is told
 * twice; an entry leaves the outbox when it is told. What cannot be told now stays for the sweeper.
 */
export async function tellRun(world: World, run: RunKey): Promise<{ readonly told: number }> {
  const by = Buffer.from(world.ids.random(9)).toString('base64url')
  let told = 0
  for (let round = 0; round < ROUNDS; round += 1) {
    if (!(await owes(world, run)) || !(await takeTurn(world, run, by))) return { told }
    const done = await tellAll(world, run, by).finally(() => world.runs.endTurn(turnOf(run), by))
    told += done.told
    if (done.stuck) return { told }
    // Whoever came for a later entry met this turn and went away: one more look, now that it is over.
  }
  return { told }
}

async function owes({ runs }: World, run: RunKey): Promise<boolean> {
  const head = await runs.head(run, [])
  return head?.outbox.some(({ kind }) => kind === 'notify') === true
}

function takeTurn({ runs, clock }: World, run: RunKey, by: string): Promise<boolean> {
  const now = clock.now()
  return runs.takeTurn(turnOf(run), by, new Date(now).toISOString(), new Date(now + TURN_MS).toISOString())
}

function turnOf({ tenant, run_id }: RunKey) {
  return { tenant, name: `slack/${run_id}` }
}

async function tellAll(world: World, run: RunKey, by: string) {
  const head = await world.runs.head(run, [])
  const notes = (head?.outbox ?? []).filter((entry): entry is Note => entry.kind === 'notify')
  let told = 0
  for (const note of notes) {
    if (head === undefined || !(await takeTurn(world, run, by))) return { told, stuck: true }
    const failed = await tryToTell(world, run, note)
    if (failed !== undefined) {
      world.log.error('Slack not told', {
        run_id: run.run_id,
        entry: note.id,
        code: failed.code,
        error: failed.message,
      })
      return { told, stuck: true }
    }
    await world.runs.settleOutbox(run, [note.id])
    told += 1
  }
  return { told, stuck: false }
}

/** Longer pauses that Slack asks for are the sweeper's. */
const LONGEST_PAUSE_MS = 5_000
const TRIES = 3

async function tryToTell(world: World, run: RunKey, note: Note): Promise<Fault | undefined> {
  for (let tries = 1; ; tries += 1) {
    try {
      await tellEntry(world, run, note)
      return undefined
    } catch (error) {
      if (!(error instanceof Fault)) throw error
      const pause = Number(error.facts.retry_after_ms ?? Number.NaN)
      if (tries === TRIES || !(pause <= LONGEST_PAUSE_MS)) return error
      await world.clock.delay(pause)
    }
  }
}

type Note = Extract<OutboxEntry, { readonly kind: 'notify' }>
type Message = NonNullable<ApprovalItem['slack']>

/** Tells Slack of one thing that happened. Safe to repeat but for a reply that Slack took and did not confirm. */
export async function tellEntry(world: World, run: RunKey, note: Note): Promise<void> {
  const head = await world.runs.head(run, [])
  if (head === undefined) return
  const items = await world.runs.approvals(run)
  if (note.about === 'run_ended') return tellEnd(world, run, head, items)
  const item = items.find(({ id }) => id === note.approval_id)
  if (item === undefined || head.approvals[item.id] === undefined) return
  const isAsked = head.state === 'running' && head.approvals[item.id]?.status === 'pending'
  // Slack was away when it was asked, or not configured: whoever is reminded sees it now.
  if (note.about === 'asked' || (item.slack === undefined && isAsked)) {
    return ask(world, run, head, { item, root: rootOf(world, items) })
  }
  if (item.slack === undefined) return
  const question = await readQuestion(world, run, item)
  const reply = approvalNote(note.about, await rewrite(world, question, { head, message: item.slack }))
  if (reply !== undefined) await say(world, rootOf(world, items) ?? item.slack, reply)
}

/** The first message of a run begins its thread; further questions are in it, and in the channel too. */
async function ask(
  world: World,
  run: RunKey,
  head: Head,
  { item, root }: { readonly item: ApprovalItem; readonly root: Message | undefined },
): Promise<void> {
  if (item.slack !== undefined) return
  const channel = world.settings.slack?.channel ?? ''
  const question = await readQuestion(world, run, item)
  const asked = await readAsked(world, question, head)
  const thread = root === undefined ? {} : { thread_ts: root.ts, reply_broadcast: true }
  const posted = await call(world, 'chat.postMessage', { channel, ...QUIET, ...approvalMessage(asked), ...thread })
  if (typeof posted?.ts !== 'string') return
  const message = { channel, ts: posted.ts }
  await world.runs.noteMessage(run, item.id, message)
  // Whoever told of a decision before that found no message to rewrite.
  await keepUp(world, question, message, asked)
}

/** Somebody else may tell newer things at the same moment; there are not many. */
const LOOKS = 5

/**
 * Makes the message say how things stand, and looks once more: a slow worker that was overtaken must not leave the
 * buttons of a question that is decided. One that dies between the two may leave them: a click is then told what was
 * decided, and locks the message.
 */
async function rewrite(
  world: World,
  question: Question,
  { head, message }: { readonly head: Head; readonly message: Message },
): Promise<AskedInSlack> {
  // HEAD may have moved while the question was read: nothing slow is between this look and the update.
  const asked = await readAsked(world, question, (await world.runs.head(question.run, [])) ?? head)
  await call(world, 'chat.update', { ...at(message), ...approvalMessage(asked) })
  return keepUp(world, question, message, asked)
}

/** Rewrites the message as long as it is behind HEAD. Answers what it says at last. */
async function keepUp(world: World, question: Question, message: Message, shown: AskedInSlack): Promise<AskedInSlack> {
  let asked = shown
  for (let look = 1; look <= LOOKS; look += 1) {
    const next = (await lookAgain(world, question)) ?? asked
    if (looksAlike(next, asked)) break
    asked = next
    await call(world, 'chat.update', { ...at(message), ...approvalMessage(asked) })
  }
  return asked
}

/**
 * A look that fails is taken again: the note may be settled by whoever overtook this worker, and then nobody else comes.
 */
async function lookAgain(world: World, question: Question): Promise<AskedInSlack | undefined> {
  const look = async () => {
    const head = await world.runs.head(question.run, [])
    return head === undefined ? undefined : readAsked(world, question, head)
  }
  return look().catch(look)
}

function looksAlike({ approval: a }: AskedInSlack, { approval: b }: AskedInSlack): boolean {
  return a.status === b.status && a.votes?.length === b.votes?.length
}

/** What was still asked is asked no more. */
async function tellEnd(world: World, run: RunKey, head: Head, items: readonly ApprovalItem[]): Promise<void> {
  const root = rootOf(world, items)
  if (root === undefined) return
  for (const item of items) {
    if (item.slack === undefined || head.approvals[item.id]?.status !== 'pending') continue
    const asked = await readAsked(world, await readQuestion(world, run, item), head)
    await call(world, 'chat.update', { ...at(item.slack), ...approvalMessage(asked) })
  }
  const last = (await world.runs.events(run, Math.max(0, head.seq - 10), 10)).findLast(({ type }) => isRunEnd(type))
  // isRunEnd() found it: it has the data of an end.
  const end = (last?.data ?? { code: '', reason: '' }) as EventData<'run:completed'>
  await say(world, root, runEndNote(run.run_id, head.state, end))
}

/** The oldest message of the run in the channel of now. */
function rootOf({ settings }: World, items: readonly ApprovalItem[]): Message | undefined {
  const own = items.flatMap(({ slack }) =>
    slack !== undefined && slack.channel === settings.slack?.channel ? [slack] : [],
  )
  return own.toSorted((a, b) => Number(a.ts) - Number(b.ts))[0]
}

function at({ channel, ts }: Message) {
  return { channel, ts, ...QUIET }
}

/** Nothing in a message is looked for links, and no page is fetched for it. */
const QUIET = { parse: 'none', link_names: false, unfurl_links: false, unfurl_media: false } as const

async function say(world: World, { channel, ts }: Message, { text, blocks, aloud }: ThreadNote): Promise<void> {
  const where = { channel, thread_ts: ts, ...(aloud ? { reply_broadcast: true } : {}) }
  await call(world, 'chat.postMessage', { ...where, ...QUIET, text, blocks })
}

/** undefined: the message is gone, and what was to be said of it with it. */
async function call({ slack, log }: World, ...[method, args]: Parameters<NonNullable<World['slack']>['call']>) {
  if (slack === undefined) return undefined
  try {
    return await slack.call(method, args)
  } catch (error) {
    if (!(error instanceof Fault) || !GONE.has(error.code)) throw error
    log.info('message is gone', { method, code: error.code })
    return undefined
  }
}

const GONE = new Set(['slack_message_not_found', 'slack_cant_update_message', 'slack_thread_not_found'])

/** Larger values are not fetched for a message that shows a page of them. */
const MOST_BYTES = 65_536
/** More are not shown (shared/slack/messages.ts says how many are left out). */
const MOST_VALUES = 8

/** What a question shows whatever becomes of it: read once, since it takes its time. */
interface Question {
  readonly run: RunKey
  readonly item: ApprovalItem
  readonly dag_name: string
  readonly shown: AskedInSlack['shown']
}

async function readQuestion(world: World, run: RunKey, item: ApprovalItem): Promise<Question> {
  const meta = await world.runs.meta(run)
  const shown = await Promise.all(
    Object.entries(item.shown).map(async ([name, value], i) => ({
      name,
      bytes: value.bytes,
      text: i < MOST_VALUES && value.bytes <= MOST_BYTES ? await readText(world, run, value) : undefined,
    })),
  )
  return { run, item, dag_name: meta?.dag_name ?? '', shown }
}

/** The question as HEAD has it, with everything its message says. Reads nothing while it is pending. */
async function readAsked(world: World, question: Question, head: Head): Promise<AskedInSlack> {
  const { run, item, dag_name, shown } = question
  const approval = approvalNow(head, item)
  const budget = shownBudget(head.budget)
  return {
    item,
    approval,
    run_id: run.run_id,
    dag_name,
    cost: { tokens: budget.spent_tokens, usd: budget.spent_usd },
    shown,
    feedback: approval.feedback_ref === undefined ? undefined : await readObject(world, run, approval.feedback_ref),
    users: world.settings.slack?.users ?? {},
    open_url: openUrl(world, run),
  }
}

/** The end of a run is the end of what it asked; HEAD does not say so of each. */
function approvalNow(head: Head, item: ApprovalItem): HeadApproval {
  const { id, block, expires_at, digest } = item
  const known: HeadApproval = head.approvals[id] ?? { block, status: 'cancelled', expires_at, digest }
  return head.state !== 'running' && known.status === 'pending' ? { ...known, status: 'cancelled' } : known
}

/** A text as it is, everything else as JSON. */
async function readText(world: World, run: RunKey, { ref }: StoredValue): Promise<string | undefined> {
  const json = await readObject(world, run, ref)
  if (json === undefined) return undefined
  const value: unknown = JSON.parse(json)
  return typeof value === 'string' ? value : JSON.stringify(value, undefined, 2)
}

async function readObject({ objects }: World, { tenant }: RunKey, ref: string): Promise<string | undefined> {
  try {
    return Buffer.from(await objects.get(tenant, ref)).toString('utf8')
  } catch (error) {
    if (error instanceof Fault && error.code === 'object_missing') return undefined
    throw error
  }
}

function openUrl({ settings: { slack } }: World, { run_id }: RunKey): string | undefined {
  if (slack?.open_url !== undefined) return slack.open_url.replaceAll('{run_id}', run_id)
  return slack?.url === undefined ? undefined : `${slack.url.replace(/\/+$/, '')}/api/dag/runs/${run_id}`
}
