import type { ScriptedDecision } from '../../../shared/cases/case-file.ts'
import { Fault } from '../../../shared/errors.ts'
import { callbackToken } from '../../../shared/runs/callback-address.ts'
import type { RunEvent } from '../../../shared/runs/event.ts'
import { eventPosition } from '../../../shared/runs/run-fold.ts'
import type { RunKey } from '../../../shared/runs/run-store.ts'
import type { ApprovalItem } from '../../../shared/runs/run-store-items.ts'
import type { Json } from '../../../shared/text/json.ts'
import { eventsOf, openQuestions, type Playing, route, START, TENANT } from './playing.ts'

/** What the case does at a moment of virtual time. */
export interface Act {
  readonly at: number
  act(): Promise<void>
}

/** What a case has to say while its run goes on: answers of people, events, callbacks. */
interface Acts {
  /** What may be said now or later, each at its moment. */
  open(run: RunKey): Promise<readonly Act[]>
  /** What was to be said and nobody asked for. */
  unused(): readonly string[]
}

export function openActs(playing: Playing): Acts {
  const { decisions = [], events = [], callbacks = [] } = playing.play
  const lines: Line[] = typeof decisions === 'string' ? [] : decisions.map((said) => ({ said, used: false }))
  const told = new Set<object>()
  /** Questions whose answer was refused: the same answer again would be refused again. */
  const refused = new Set<string>()
  const lineFor = (question: Question): Line | undefined => {
    if (typeof decisions === 'string') {
      return refused.has(question.id) ? undefined : { said: decisionOfAll(decisions, question), used: false }
    }
    return lines.find((line) => isAnswer(line, question) && !(line.said.every && refused.has(question.id)))
  }
  const answerTo = (question: Question, line: Line): Act => ({
    at: Date.parse(question.requested_at) + (line.said.after ?? 0) * 1_000,
    async act() {
      line.used = true
      if (!(await decide(playing, question, line.said))) refused.add(question.id)
    },
  })
  return {
    async open(run) {
      const asked = await openQuestions(playing, run)
      const answers = asked.flatMap((question): readonly Act[] => {
        const line = lineFor(question)
        return line === undefined ? [] : [answerTo(question, line)]
      })
      const left = {
        events: events.filter((one) => !told.has(one)),
        callbacks: callbacks.filter((one) => !told.has(one)),
      }
      const outside = [
        ...eventActs(playing, left.events, told),
        ...(await callbackActs(playing, run, left.callbacks, told)),
      ]
      // One at a time: the first answer may take the question of the second away.
      return [...outside, ...answers.toSorted((a, b) => a.at - b.at).slice(0, 1)]
    },
    unused: () => [
      ...lines
        .filter(({ used }) => !used)
        .map(({ said }) => `Nobody was asked about "${said.block}" when the case had "${said.decision}" to say.`),
      ...callbacks
        .filter((one) => !told.has(one))
        .map(({ block }) => `Block "${block}" never waited for its callback.`),
    ],
  }
}

interface Line {
  readonly said: ScriptedDecision
  used: boolean
}

type Question = ApprovalItem & { readonly run: RunKey }
type Given = Required<Pick<Playing['play'], 'events' | 'callbacks'>>

function eventActs(playing: Playing, events: NonNullable<Given['events']>, told: Set<object>): readonly Act[] {
  return events.map((event) => ({
    at: START + (event.after ?? 0) * 1_000,
    async act() {
      told.add(event)
      const { after: _, ...body } = event
      await route(playing, 'send-event', { body })
    },
  }))
}

async function callbackActs(
  playing: Playing,
  run: RunKey,
  callbacks: NonNullable<Given['callbacks']>,
  told: Set<object>,
): Promise<readonly Act[]> {
  if (callbacks.length === 0) return []
  const log = await eventsOf(playing, run)
  return callbacks.flatMap((callback) => {
    const waiting = log.findLast(
      (event) => event.type === 'block:waiting' && event.block_id === callback.block && event.data.for === 'callback',
    )
    if (waiting === undefined) return []
    return [
      {
        at: Date.parse(waiting.at) + (callback.after ?? 0) * 1_000,
        async act() {
          told.add(callback)
          await answerCallback(playing, run, waiting, callback.body)
        },
      },
    ]
  })
}

function decisionOfAll(decision: 'approve' | 'reject', { block_id, about }: ApprovalItem): ScriptedDecision {
  const isAboutGates = about === 'pre_gates' || about === 'post_gates'
  const said = decision === 'approve' && isAboutGates ? 'waive' : decision
  return { block: block_id, decision: said, every: true }
}

function isAnswer({ said, used }: Line, { block_id, tool }: Question): boolean {
  return (!used || said.every) && said.block === block_id && (said.tool === undefined || said.tool === tool)
}

/** False: it was refused, which is as the case has it or a problem. */
async function decide(playing: Playing, question: Question, said: ScriptedDecision): Promise<boolean> {
  const { decision, by, refused } = said
  const { problems } = playing
  const named = `The decision "${decision}" on "${said.block}"${by === undefined ? '' : ` by ${by}`}`
  try {
    const params = { run_id: question.run.run_id }
    await route(playing, 'decide-approval', { body: decisionBody(question, said), params, by })
    if (refused !== undefined) problems.push(`${named} was to be refused with ${refused}, and it counted.`)
    return true
  } catch (error) {
    if (!(error instanceof Fault)) throw error
    if (error.code !== refused) problems.push(`${named} was refused: ${error.message} [${error.code}]`)
    return false
  }
}

function decisionBody({ id, digest }: Question, { decision, feedback, edits }: ScriptedDecision) {
  const words = feedback ?? (decision === 'approve' ? undefined : `The case says ${decision}.`)
  return {
    approval_id: id,
    decision,
    ...(decision === 'reject' ? {} : { digest }),
    ...(words === undefined ? {} : { feedback: words }),
    ...(edits === undefined ? {} : { edits }),
  }
}

async function answerCallback(playing: Playing, run: RunKey, waiting: RunEvent, body: Json): Promise<void> {
  const { world } = playing
  const meta = await world.runs.meta(run)
  if (meta === undefined) return
  const { blocks }: { readonly blocks: readonly { readonly id: string; readonly index: number }[] } = JSON.parse(
    Buffer.from(await world.objects.get(TENANT, meta.dag_ref)).toString('utf8'),
  )
  const index = blocks.find(({ id }) => id === waiting.block_id)?.index ?? 0
  const { epoch } = eventPosition(waiting)
  const token = callbackToken(await world.waits.signingKey(TENANT), { ...run, block: index, epoch })
  await route(playing, 'answer-callback', { body, params: { token } })
}
