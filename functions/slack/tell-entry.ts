import { Fault } from '../../shared/errors.ts'
import type { EventData } from '../../shared/runs/event.ts'
import type { Head, OutboxEntry } from '../../shared/runs/head.ts'
import { isRunEnd } from '../../shared/runs/is-run-end.ts'
import type { ApprovalItem } from '../../shared/runs/run-items.ts'
import type { RunKey } from '../../shared/runs/run-store.ts'
import { type AskedInSlack, approvalMessage } from '../../shared/slack/approval-message.ts'
import { approvalNote, runEndNote, type ThreadNote } from '../../shared/slack/thread-note.ts'
import type { World } from '../../shared/world.ts'
import { type Question, readAsked, readQuestion } from './read-asked.ts'

export type Note = Extract<OutboxEntry, { readonly kind: 'notify' }>
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
