import { type RunEvent, RunEventSchema } from '../runs/event.ts'
import { isRunEnd } from '../runs/event-types.ts'
import type { Head, RunState } from '../runs/head.ts'
import type { ExecutionStatus } from '../runs/machine.ts'
import { STEP_LIMITS } from '../steps/step-order.ts'
import { defineInvariant } from './invariant.ts'

export const seqs = defineInvariant({
  n: 1,
  title: 'the events of a run have the seqs 1..n, n as HEAD says',
  of: 'log',
  needs: ['events'],
  check({ events, head, meta }) {
    const wrong: string[] = []
    const at = events.findIndex(({ seq }, i) => seq !== i + 1)
    if (at >= 0) wrong.push(`event ${events[at]?.seq} stands where event ${at + 1} belongs`)
    if (head !== undefined && head.seq !== events.length) {
      wrong.push(`HEAD says ${head.seq} events, there are ${events.length}`)
    }
    const [first] = events
    if (first !== undefined && first.type !== 'run:started') wrong.push(`event 1 is ${first.type}, not run:started`)
    const run_id = meta?.run_id ?? first?.run_id
    const strange = events.find((event) => event.run_id !== run_id)
    if (strange !== undefined) wrong.push(`event ${strange.seq} is of run "${strange.run_id}"`)
    return wrong
  },
})

export const eventIds = defineInvariant({
  n: 2,
  title: 'no event id stands twice',
  of: 'log',
  needs: ['events'],
  check({ events }) {
    const seen = new Map<string, number>()
    return events.flatMap(({ id, seq }) => {
      const earlier = seen.get(id)
      seen.set(id, seq)
      return earlier === undefined ? [] : [`events ${earlier} and ${seq} have the id ${id}`]
    })
  },
})

export const nothingAfterEnd = defineInvariant({
  n: 4,
  title: 'nothing follows the event that ends a run',
  of: 'log',
  needs: ['events'],
  check({ events }) {
    const end = events.findIndex(({ type }) => isRunEnd(type))
    if (end < 0) return []
    return events.slice(end + 1).map(({ seq, type }) => `event ${seq} ${type} after the end at event ${end + 1}`)
  },
})

export const oneEnd = defineInvariant({
  n: 5,
  title: 'an ended run has exactly one event that ends it, a live one none',
  of: 'log',
  needs: ['events'],
  check({ events, head }) {
    const ends = events.filter(({ type }) => isRunEnd(type)).length
    const wanted = head?.state === 'running' ? 0 : 1
    // Without HEAD nobody knows whether it lives.
    return ends === wanted || (head === undefined && ends === 0) ? [] : [`${ends} terminal events, ${wanted} expected`]
  },
})

export const finalState = defineInvariant({
  n: 6,
  title: 'the state of an ended run is what its last event says, and never changes',
  of: 'store',
  needs: ['events', 'head'],
  check({ events, head, before }) {
    const end = events.find(({ type }) => isRunEnd(type))
    const told = end === undefined ? 'running' : end.type.slice('run:'.length)
    const wrong = head.state === told ? [] : [`HEAD says ${head.state}, the events say ${told}`]
    if (before === undefined || before.state === 'running' || before.state === head.state) return wrong
    return [...wrong, `it was ${before.state} and is ${head.state}`]
  },
})

const KIB = 1_024
/** Of what an event says; around it stand its id, time, run and block. */
const MAX_DATA = KIB
/** The refs of its outputs come on top, one line a port, and the names of the approvers (functions/approvals). */
const MAX_OUTPUT = 320
const MAX_APPROVERS = 3 * KIB
/** The last lines of a step's log, and where all of it lies. */
const MAX_LOG = STEP_LIMITS.tail_bytes + 256
const MAX_HEAD = 32 * KIB
/** HEAD keeps every question of the run with its answer, and who said yes. */
const MAX_APPROVAL = 512
const MAX_VOTE = 160

export const eventSizes = defineInvariant({
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
  if (event.type === 'block:output') {
    const { outputs, log } = event.data
    return MAX_OUTPUT * Object.keys(outputs).length + (log === undefined ? 0 : MAX_LOG)
  }
  return event.type === 'approval:requested' ? MAX_APPROVERS : 0
}

function bytesOf(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value))
}

/** A run that was ended before its machine, or from outside of it, may find it in any end: a stop and a last state race. */
const FITS: Readonly<Record<RunState, readonly ExecutionStatus[]>> = {
  running: ['RUNNING'],
  completed: ['SUCCEEDED'],
  partial: ['SUCCEEDED'],
  blocked: ['SUCCEEDED'],
  iterated: ['ABORTED', 'FAILED', 'SUCCEEDED', 'TIMED_OUT'],
  failed: ['FAILED', 'TIMED_OUT', 'ABORTED'],
  cancelled: ['ABORTED', 'FAILED', 'SUCCEEDED', 'TIMED_OUT'],
}

export const executionEnd = defineInvariant({
  n: 33,
  title: 'the execution of a run at rest ended as the run did, as long as its machine knows of it',
  of: 'store',
  needs: ['events', 'head', 'execution'],
  at_rest: true,
  check({ head, execution }) {
    if (execution === null || FITS[head.state].includes(execution.status)) return []
    return [`the run is ${head.state}, its execution ${execution.status}`]
  },
})
