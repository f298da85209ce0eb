import type { RunEvent } from '../event.ts'
import { RunEventSchema } from '../event.ts'
import type { Head } from '../head.ts'
import { invariant } from './invariant.ts'

const KIB = 1_024
/** Of what an event says; around it stand its id, time, run and block. */
const MAX_DATA = KIB
/** The refs of its outputs come on top, one line a port, and the names of the approvers (functions/approvals). */
const MAX_OUTPUT = 320
const MAX_APPROVERS = 3 * KIB
const MAX_HEAD = 32 * KIB
/** HEAD keeps every question of the run with its answer, and who said yes. */
const MAX_APPROVAL = 512
const MAX_VOTE = 160

export const eventSizes = invariant({
  n: 20,
  title: 'HEAD has at most 32 KiB besides its approvals, an event at most 1 KiB inline, and its type knows all it says',
  of: 'log',
  needs: ['events'],
  check({ events, head }) {
    const wrong = events.flatMap(eventProblems)
    const size = head === undefined ? 0 : bytesOf(head)
    const room = MAX_HEAD + approvalsRoom(head?.approvals ?? {})
    return size <= room ? wrong : [...wrong, `HEAD has ${size} bytes, at most ${room} are allowed`]
  },
})

function approvalsRoom(approvals: Head['approvals']): number {
  return Object.values(approvals).reduce((room, { votes = [] }) => room + MAX_APPROVAL + MAX_VOTE * votes.length, 0)
}

function eventProblems(event: RunEvent): readonly string[] {
  const { seq, type } = event
  const issue = RunEventSchema.safeParse(event).error?.issues[0]
  const wrong = issue === undefined ? [] : [`event ${seq} ${type}: ${issue.path.join('.')} ${issue.message}`]
  const size = bytesOf(event.data)
  const room = MAX_DATA + roomOf(event)
  return size <= room ? wrong : [...wrong, `event ${seq} ${type} has ${size} bytes inline, at most ${room} are allowed`]
}

function roomOf(event: RunEvent): number {
  if (event.type === 'block:output') return MAX_OUTPUT * Object.keys(event.data.outputs).length
  return event.type === 'approval:requested' ? MAX_APPROVERS : 0
}

function bytesOf(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value))
}
