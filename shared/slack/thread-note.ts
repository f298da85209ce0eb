import type { Json } from '../canonical.ts'
import { decidedWords } from '../runs/approval-rules.ts'
import type { EventData } from '../runs/event.ts'
import type { NotifyAbout } from '../runs/head.ts'
import type { AskedInSlack } from './approval-message.ts'
import { asJson, block } from './blocks.ts'
import { dateMarkup, mentions } from './markup.ts'
import { escaped } from './plain.ts'

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
    words: `"${item.block_id}" was ${decidedWords(approval)}${feedback === undefined ? '' : `\n${feedback}`}`,
  }),
  expired: ({ item }) => ({
    words: `Nobody decided about "${item.block_id}" in time (on_timeout: ${item.on_timeout})`,
  }),
  cancelled: ({ item }) => ({ words: `"${item.block_id}" needs no decision any more` }),
}
