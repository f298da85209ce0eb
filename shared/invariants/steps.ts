import { isActing } from '../agents/agent-items.ts'
import type { Block } from '../dag/dag.ts'
import { type Pass, passesOf, passName } from '../runs/block-passes.ts'
import type { RunEvent } from '../runs/event.ts'
import { eventPosition } from '../runs/run-fold.ts'
import { askAnswers } from './decisions.ts'
import { defineInvariant } from './invariant.ts'
import { judgedBlock } from './judged-block.ts'

type EventOf<T extends RunEvent['type']> = Extract<RunEvent, { readonly type: T }>

export const stepBegins = defineInvariant({
  n: 42,
  title: 'the work of a step begins at most once an attempt, and by whoever claimed it',
  of: 'log',
  needs: ['events'],
  check: ({ events }) => passesOf(events).flatMap(beginProblems),
})

function beginProblems(pass: Pass): readonly string[] {
  const holders = new Map<number | undefined, string>()
  const began = new Set<number | undefined>()
  return pass.events.flatMap((event) => {
    const { attempt, seq } = event
    if (event.type === 'block:started' || event.type === 'block:resumed') holders.set(attempt, event.data.holder)
    if (event.type !== 'step:started') return []
    const wrong: string[] = []
    if (began.has(attempt)) wrong.push(`${passName(pass)}: event ${seq} begins the work of attempt ${attempt} again`)
    if (holders.get(attempt) !== event.data.holder) {
      wrong.push(`${passName(pass)}: event ${seq} begins the work of attempt ${attempt}, which somebody else claimed`)
    }
    began.add(attempt)
    return wrong
  })
}

export const lostOnce = defineInvariant({
  n: 43,
  title: 'work that may be done once only and was lost in the middle is done again only after a person said yes',
  of: 'log',
  needs: ['events', 'dag'],
  check({ events, dag }) {
    // A call of an agent is a block of its own, made of its tool.
    const blocks = new Map(dag.blocks.flatMap((block) => (isActing(block) || isOnce(block) ? [[block.id, block]] : [])))
    if (blocks.size === 0) return []
    const answers = askAnswers(events)
    return passesOf(events).flatMap((pass) => {
      const block = blocks.get(pass.block_id)
      return block !== undefined && isOnce(judgedBlock(pass, block)) ? againProblems(pass, answers) : []
    })
  },
})

function isOnce(block: Block): boolean {
  return block.mode === 'deterministic' && (block.step?.effect ?? block.effect) === 'once'
}

/** Ends that nobody but the place said: what the work had done by then, nobody knows. */
const UNKNOWN: ReadonlySet<string> = new Set([
  'ATTEMPT_LOST',
  'block_timeout',
  'step_crashed',
  'step_memory',
  'mcp_answer_lost',
])

function againProblems(pass: Pass, answers: ReturnType<typeof askAnswers>): readonly string[] {
  const began = new Set<number | undefined>()
  const asked = new Map<number | undefined, EventOf<'block:asked'>>()
  const said = ({ attempt, seq }: RunEvent) => {
    const answer = answers.get(asked.get(attempt)?.data.approval_id ?? '')
    return answer === undefined || answer.seq > seq ? undefined : answer.yes
  }
  return pass.events.flatMap((event) => {
    const { attempt, seq } = event
    if (event.type === 'step:started') began.add(attempt)
    if (event.type === 'block:asked' && event.data.about === 'lost_step') asked.set(attempt, event)
    if (event.type === 'block:retrying' && UNKNOWN.has(event.data.code) && began.has(attempt) && said(event) !== true) {
      return [`${passName(pass)}: event ${seq} lets work be done again that may have been done, without a yes`]
    }
    const isRefused = event.type === 'block:failed' && event.data.code === 'step_effect_unknown'
    return isRefused && asked.has(attempt) && said(event) !== false
      ? [`${passName(pass)}: event ${seq} fails by a no that nobody said`]
      : []
  })
}

export const ownOutcomes = defineInvariant({
  n: 45,
  title: 'an attempt of a step is judged by what its own work came to',
  of: 'objects',
  needs: ['events', 'meta', 'read'],
  async check({ events, meta, read }) {
    const wrong: string[] = []
    for (const event of events) {
      const ref = event.type === 'block:output' ? event.data.outcome_ref : undefined
      const body = ref === undefined ? undefined : await read(ref)
      // One that is not there is a problem of 21.
      if (body === undefined) continue
      const key = keyIn(body)
      const [lane] = event.id.split('/')
      const own = `${meta.run_id}/${lane}/${eventPosition(event).epoch}/${event.attempt}`
      if (key !== undefined && /^[./]/.test(key.slice(own.length)) && key.startsWith(own)) continue
      wrong.push(`event ${event.seq} is judged by the outcome of ${key ?? 'nothing'}, its attempt is ${own}`)
    }
    return wrong
  },
})

function keyIn(body: Uint8Array): string | undefined {
  const read: unknown = JSON.parse(new TextDecoder().decode(body))
  const isNamed = typeof read === 'object' && read !== null && 'key' in read
  return isNamed && typeof read.key === 'string' ? read.key : undefined
}
