import { changeLines, NOT_PLAIN } from '../approvals/run-change-lines.ts'
import { asksWaiver } from '../runs/approval.ts'
import { earlierDecisionWords } from '../runs/approval-words.ts'
import type { EventData } from '../runs/event.ts'
import type { HeadApproval, NotifyAbout } from '../runs/head.ts'
import type { ApprovalItem } from '../runs/run-store-items.ts'
import { agentItemWords, questionItem } from '../runs/turns-and-calls.ts'
import type { Json } from '../text/json.ts'
import { asJson, type Block, block, dateMarkup, escaped, mentions, plainTextObject } from './block-kit.ts'
import { ACTIONS, type ActionId, OPEN_ACTION, writeButtonValue } from './interaction.ts'

/** Everything a message about one approval says. */
export interface AskedInSlack {
  readonly item: ApprovalItem
  readonly approval: HeadApproval
  readonly run_id: string
  readonly dag_name: string
  readonly cost: { readonly tokens: number; readonly usd: number }
  /** Values as text; `undefined` = too large to be read for this. */
  readonly shown: readonly { readonly name: string; readonly text: string | undefined; readonly bytes: number }[]
  /** What whoever decided wrote. */
  readonly feedback?: string | undefined
  /** settings.slack.users */
  readonly users: Readonly<Record<string, string>>
  readonly open_url?: string | undefined
}

interface SlackMessage {
  /** For notifications, where blocks are not shown. */
  readonly text: string
  readonly blocks: Json
}

/** The message as the approval now is: with buttons while it waits, and without them once it is decided. */
export function approvalMessage(asked: AskedInSlack): SlackMessage {
  const title = titleOf(asked)
  const blocks: readonly (Block | undefined)[] = [
    block.header(title),
    factsOf(asked),
    ...changesOf(asked.item),
    block.text(asked.item.prompt),
    ...reasonsOf(asked),
    ...valuesOf(asked),
    ...outcomeOf(asked),
    smallPrint(asked),
    asked.approval.status === 'pending' ? approvalButtons(asked) : undefined,
  ]
  return {
    text: escaped(`${title} (${asked.dag_name}, ${asked.run_id})`, 300),
    blocks: asJson(blocks.filter((one) => one !== undefined)),
  }
}

const TITLES: Readonly<Record<HeadApproval['status'], string>> = {
  pending: 'Approval needed',
  approved: 'Approved',
  rejected: 'Rejected',
  expired: 'Expired',
  cancelled: 'No longer needed',
}

function titleOf({ item, approval }: AskedInSlack): string {
  const waived = approval.status === 'approved' && asksWaiver(item)
  return `${waived ? 'Waived' : TITLES[approval.status]}: ${item.block_id}`
}

function factsOf({ run_id, dag_name, item, cost, approval }: AskedInSlack): Block {
  const quorum = item.quorum ?? 1
  const votes: readonly (readonly [string, string])[] =
    quorum === 1 ? [] : [['Votes', `${approval.votes?.length ?? 0} of ${quorum}`]]
  return block.facts([
    ['DAG', dag_name],
    ['Run', run_id],
    ['Block', item.block_id],
    ...callFacts(item),
    ['Spent so far', `$${cost.usd.toFixed(4)}, ${cost.tokens} tokens`],
    ...votes,
  ])
}

/** Of a call of an agent: which one, and of which tool. */
function callFacts({ id, tool }: ApprovalItem): readonly (readonly [string, string])[] {
  const call = questionItem(id)
  return call === undefined || tool === undefined
    ? []
    : [
        ['Call', agentItemWords(call)],
        ['Tool', tool],
      ]
}

/** Of all lines together, as they are sent. */
const CHANGES_LENGTH = 2_600
const CHANGE_LENGTH = 600

/** Before the words: what is not as the deployed document says; what has no room is counted, never left out silently. */
function changesOf({ changes = {} }: ApprovalItem): readonly Block[] {
  const lines = changeLines(changes).map((line) =>
    line.length > CHANGE_LENGTH ? `${line.slice(0, CHANGE_LENGTH)}…` : line,
  )
  if (lines.length === 0) return []
  let left = CHANGES_LENGTH
  const told = lines.filter((line) => {
    left -= escaped(line).length + 1
    return left > 0
  })
  const more = lines.length - told.length
  const rest = more === 0 ? [] : [`and ${more} more: open the run and look at all of it before you decide`]
  return [block.text(`⚠ ${[NOT_PLAIN, ...told, ...rest].join('\n')}`)]
}

/** So many gates have room; a block has at most twenty. */
const GATES_SHOWN = 20

/** Characters of one reason. */
const REASON_LENGTH = 300

/** Not escaped: the text it becomes part of is. */
function cut(reason: string): string {
  return reason.length > REASON_LENGTH ? `${reason.slice(0, REASON_LENGTH)}…` : reason
}

/** A message has no fields: what may be changed is changed elsewhere. */
function editWords({ id, about, tool, edit = [] }: ApprovalItem, run_id: string): string {
  if (about !== 'call' || edit.length === 0) return ''
  const what = tool === 'ask_person' ? 'Fields are filled' : 'Arguments may be changed'
  return `${what} in the console, or by: sluice run approve ${run_id} --approval ${id} --edit NAME=VALUE\n${edit.join(', ')}`
}

/** What a question in the middle of an attempt is about. */
function reasonsOf({ item, run_id }: AskedInSlack): readonly Block[] {
  const { gates = [], raise } = item
  const edits = editWords(item, run_id)
  const failed = gates.slice(0, GATES_SHOWN).map(({ name, reason }) => `${name}: ${cut(reason)}`)
  const caps = [
    raise?.tokens === undefined ? [] : `${raise.tokens} tokens`,
    raise?.usd_micros === undefined ? [] : `$${(raise.usd_micros / 1_000_000).toFixed(4)}`,
  ].flat()
  return [
    ...(failed.length === 0 ? [] : [block.text(`Gates that do not hold\n${failed.join('\n')}`)]),
    ...(edits === '' ? [] : [block.text(edits)]),
    ...(caps.length === 0 ? [] : [block.text(`Approved, the run may use up to ${caps.join(' and ')}`)]),
  ]
}

/** Slack takes 50 blocks; nobody reads that many. */
const VALUES_SHOWN = 8
/** Of all values together, as they are sent. */
const VALUES_LENGTH = 9_000

function valuesOf({ shown }: AskedInSlack): readonly Block[] {
  let left = VALUES_LENGTH
  const blocks = shown.slice(0, VALUES_SHOWN).map(({ name, text, bytes }) => {
    const value = text ?? `(${bytes} bytes: open the run to see it)`
    const made = block.text(`${name}\n${value}`, Math.max(200, Math.min(2_900, left)))
    left -= JSON.stringify(made.text).length
    return made
  })
  const more = shown.length - blocks.length
  return more > 0 ? [...blocks, block.text(`and ${more} more values: open the run to see them`)] : blocks
}

/** Who, when and why. */
function outcomeOf({ approval, feedback }: AskedInSlack): readonly Block[] {
  if (approval.status === 'pending') return []
  const why = feedback === undefined ? '' : `\n${feedback}`
  return [block.text(`${earlierDecisionWords(approval)}${why}`)]
}

function smallPrint({ approval, item, users }: AskedInSlack): Block {
  if (approval.status !== 'pending') {
    const who = mentions([approval.decided_by ?? ''], users)
    const when = dateMarkup(approval.decided_at ?? approval.expires_at)
    return block.small([who, when].filter((part) => part !== '').join(' · '))
  }
  const listed = [...item.approvers, ...(approval.escalated === true ? (item.escalate?.to ?? []) : [])]
  const told = mentions(listed, users)
  const named = listed.filter((name) => mentions([name], users) === '')
  const others = named.slice(0, 20).map((name) => `\`${escaped(name.replaceAll('`', ''), 60)}\``)
  const who = [told, ...others].filter((part) => part !== '').join(' ')
  return block.small(`Until ${dateMarkup(approval.expires_at)}${who === '' ? '' : ` · may decide: ${who}`}`)
}

/** What can be done about an approval that waits: a question about gates is waived, everything else approved. */
function approvalButtons({ item, open_url }: AskedInSlack): Block {
  const mustSayWhy = item.on_reject === 'iterate' || item.on_reject === 'route'
  const button = (action_id: ActionId, words: string, style?: 'primary' | 'danger') => ({
    type: 'button',
    action_id,
    text: plainTextObject(words, 75),
    value: writeButtonValue({ approval_id: item.id, ...ACTIONS[action_id], digest: item.digest }),
    ...(style === undefined ? {} : { style }),
  })
  const yesButton = () => {
    if (asksWaiver(item)) return button('sluice_waive', 'Waive', 'primary')
    if (item.tool === 'ask_person') return button('sluice_answer', 'Answer', 'primary')
    return button('sluice_approve', 'Approve', 'primary')
  }
  const open = { type: 'button', action_id: OPEN_ACTION, text: plainTextObject('Open', 75), url: open_url }
  return {
    type: 'actions',
    elements: [
      yesButton(),
      ...(item.allow_rest === true ? [button('sluice_allow_rest', 'Allow for the rest of the run')] : []),
      button(mustSayWhy ? 'sluice_reject_with_reason' : 'sluice_reject', 'Reject', 'danger'),
      ...(item.about === 'call' ? [button('sluice_stop', 'Deny and stop', 'danger')] : []),
      ...(open_url === undefined ? [] : [open]),
    ],
  }
}

/** A reply in the thread of a run; `aloud`: the channel sees it too, since somebody has to do something. */
export interface ThreadNote {
  readonly text: string
  readonly blocks: Json
  readonly aloud: boolean
}

/** What the thread says when something happened to one approval; undefined = the message itself says it all. */
export function approvalNote(about: NotifyAbout, asked: AskedInSlack): ThreadNote | undefined {
  const say = NOTES[about]
  if (say === undefined) return undefined
  const { words, tell = [], until } = say(asked)
  const small = [mentions(tell, asked.users), until === undefined ? '' : `until ${dateMarkup(until)}`].filter(Boolean)
  const blocks = [block.text(words), ...(small.length === 0 ? [] : [block.small(small.join(' · '))])]
  return { text: escaped(words, 300), blocks: asJson(blocks), aloud: tell.length > 0 || until !== undefined }
}

/** What the thread says when its run is over, and of one that missed its goal how it goes on. */
export function runEndNote(run_id: string, state: string, end: EventData<'run:completed'>): ThreadNote {
  const words = [`Run ${run_id} ended: ${state}${rowWords(end)}`, end.reason, nextWords(run_id, state, end)]
    .filter((line) => line !== '')
    .join('\n')
  return { text: escaped(words, 300), blocks: asJson([block.text(words)]), aloud: false }
}

/** A reason has it too, unless it was cut. */
function rowWords({ row, final_status, reason }: EventData<'run:completed'>): string {
  return row === undefined || reason.includes(String(row)) ? '' : ` (${final_status}, ${row})`
}

function nextWords(run_id: string, state: string, { code, next_run }: EventData<'run:completed'>): string {
  if (next_run !== undefined) return `It goes on as run ${next_run}`
  return state === 'partial' && code === 'goal_missed' ? `The next attempt at its goal: sluice run pivot ${run_id}` : ''
}

interface Said {
  readonly words: string
  /** Principals to mention. */
  readonly tell?: readonly string[]
  readonly until?: string
}

const NOTES: Readonly<Partial<Record<NotifyAbout, (asked: AskedInSlack) => Said>>> = {
  reminded: ({ item, approval }) => ({
    words: `Reminder: "${item.block_id}" still waits for a decision`,
    tell: item.approvers,
    until: approval.expires_at,
  }),
  escalated: ({ item, approval }) => ({
    words: `Nobody decided about "${item.block_id}" yet. From now on these may decide too: ${(item.escalate?.to ?? []).join(', ')}`,
    tell: item.escalate?.to ?? [],
    until: approval.expires_at,
  }),
  voted: ({ item, approval }) => {
    const votes = approval.votes ?? []
    const last = votes.at(-1)
    const by = last === undefined ? '' : ` by ${last.by} via ${last.via}`
    return { words: `"${item.block_id}": ${votes.length} of ${item.quorum ?? 1} approved${by}` }
  },
  decided: ({ item, approval, feedback }) => ({
    words: `"${item.block_id}" was ${earlierDecisionWords(approval)}${feedback === undefined ? '' : `\n${feedback}`}`,
  }),
  expired: ({ item }) => ({
    words: `Nobody decided about "${item.block_id}" in time (on_timeout: ${item.on_timeout})`,
  }),
  cancelled: ({ item }) => ({ words: `"${item.block_id}" needs no decision any more` }),
}
