import { asksWaiver } from '../../../shared/runs/approval.ts'
import type { RunEvent } from '../../../shared/runs/event.ts'
import type { Json } from '../../../shared/text/json.ts'
import { commandLine, type Target } from '../server/api.ts'
import type { Approval } from '../server/approval-schema.ts'
import type { View } from '../server/event-stream.ts'
import { fetchRun, type RunAnswer } from '../server/fetch-run.ts'
import { typedValue } from '../terminal/input-values.ts'
import { askLine } from '../terminal/prompts.ts'
import { Refused, reasonLines } from '../terminal/refused.ts'
import type { Session } from '../terminal/session.ts'
import { oneLine } from '../terminal/text.ts'
import { type Decided, type DecisionToSend, decidedLine, editTypes, sendDecision } from './decide-approval.ts'
import { askedWords, chooseApproval, questionWithWarnings } from './question-lines.ts'

/** Puts what watched runs ask to the person at this terminal, one question after the other. */
export interface AsksHere {
  /** Told every event of those runs; never waits for the person. */
  hear(event: RunEvent, view: View): void
  /** Asks nothing more, takes an open question back, and throws what went wrong meanwhile. */
  close(): Promise<void>
}

interface AskHow {
  /** Where the questions are shown: stdout, or stderr where stdout is for the result alone. */
  say(text: string): void
  /** Ctrl-C while somebody is asked. */
  interrupted(): void
}

/** A question that is decided elsewhere meanwhile, or whose run ends, is taken back. */
export function openAsksHere(session: Session, target: Target, how: AskHow): AsksHere {
  const open = new Map<string, AbortController>()
  let asking: Promise<void> = Promise.resolve()
  let left = false
  const ask = async (event: Requested, view: View, signal: AbortSignal) => {
    if (left || signal.aborted) return
    const resume = view.hold()
    try {
      left = (await askOne({ session, target, ...how }, event, signal)) === 'left'
    } finally {
      resume()
    }
  }
  const takeBack = (isMeant: (approval: string) => boolean) => {
    for (const [id, control] of open) if (isMeant(id)) control.abort()
  }
  return {
    hear(event, view) {
      if (event.type === 'approval:requested') {
        const control = new AbortController()
        open.set(event.data.approval_id, control)
        asking = asking.then(() => ask(event, view, control.signal))
        // Thrown by close(): until then it is no unhandled one.
        asking.catch(() => {})
      } else if (event.type === 'approval:decided' && event.data.have >= event.data.need) {
        takeBack((id) => id === event.data.approval_id)
      } else if (event.type === 'approval:expired') takeBack((id) => id === event.data.approval_id)
      else if (RUN_ENDS.test(event.type)) takeBack((id) => id.split('_')[1] === event.run_id.slice('run_'.length))
    },
    async close() {
      left = true
      takeBack(() => true)
      await asking
    },
  }
}

type Requested = Extract<RunEvent, { readonly type: 'approval:requested' }>

const RUN_ENDS = /^run:(completed|partial|blocked|failed|cancelled|iterated)$/

interface Desk extends AskHow {
  readonly session: Session
  readonly target: Target
}

/** `left`: the input has ended, so nobody is asked any more. */
async function askOne(desk: Desk, { run_id, data }: Requested, signal: AbortSignal): Promise<'left' | 'done'> {
  const { session, target, say } = desk
  const words = `run approve ${run_id} --approval ${data.approval_id}`
  const later = `Decide it later: ${commandLine(session, target, words)}`
  try {
    const answer = await fetchRun(target, run_id)
    const approval = chooseApproval(answer, { approval: data.approval_id })
    for (const line of ['', ...questionWithWarnings(approval, 4_000, session.settings.command)]) say(line)
    const made = await decide(desk, answer, approval, signal)
    say(signal.aborted ? 'It was decided elsewhere, or its run has ended.' : madeLine(made, approval, later))
    return made === 'left' && !signal.aborted ? 'left' : 'done'
  } catch (error) {
    if (!(error instanceof Refused)) throw error
    const lines = isOver(error) ? [] : [...reasonLines(error.reason, session.settings.command), later]
    for (const line of lines) say(line)
    return 'done'
  }
}

function madeLine(made: Made | 'later' | 'left', approval: Approval, later: string): string {
  return typeof made === 'string' ? later : decidedLine(made.decision, made.answer, whatOf(approval))
}

function whatOf(approval: Approval): string {
  return `block ${approval.block_id} of ${runOf(approval)}`
}

/** Somebody else was faster, or the run has ended: the next events say so. */
function isOver({ status, reason }: Refused): boolean {
  return status === 409 || reason.code === 'nothing_pending'
}

interface Draft {
  readonly edits: Readonly<Record<string, Json>>
  readonly feedback?: string
}

interface Made {
  readonly decision: DecisionToSend['decision']
  readonly answer: Decided
}

/** Asks until there is a decision the server takes. */
async function decide(
  desk: Desk,
  answer: RunAnswer,
  approval: Approval,
  signal: AbortSignal,
): Promise<Made | 'later' | 'left'> {
  let draft: Draft = { edits: {} }
  const choices = choicesOf(approval)
  const keys = choices.map(({ key }) => key)
  desk.say(choices.map(({ key, words }) => `${key} = ${words}`).join(', '))
  for (;;) {
    const typed = await asked(desk, `${questionOf(approval)} [${keys.join('/')}] `, signal)
    if (typed === undefined) return 'left'
    const choice = choiceNamed(choices, typed)
    if (choice === undefined) {
      desk.say(`Type ${keys.join(', ')}.`)
      continue
    }
    if (choice.key === 'l') return 'later'
    const next = await chosen(desk, { answer, approval, choice, draft, signal })
    if ('decision' in next) return next
    draft = next
  }
}

interface Chosen {
  readonly answer: RunAnswer
  readonly approval: Approval
  readonly choice: Choice
  readonly draft: Draft
  readonly signal: AbortSignal
}

/** The decision, once the server took it; else what goes with one: changed values, or a remark. */
async function chosen(desk: Desk, { answer, approval, choice, draft, signal }: Chosen): Promise<Made | Draft> {
  const { decision, key } = choice
  if (decision !== undefined) return (await send(desk, approval, { ...choice, decision }, draft, signal)) ?? draft
  if (key === 'e') return { ...draft, edits: await askEdits(desk, answer, approval, signal) }
  return { ...draft, ...(await askFeedback(desk, 'Remark: ', signal)) }
}

function choiceNamed(choices: readonly Choice[], typed: string): Choice | undefined {
  return choices.find(({ key, word }) => [key, word].includes(typed.toLowerCase()))
}

function questionOf(approval: Approval): string {
  return asksWaiver(approval) ? 'Waive what failed?' : 'Approve?'
}

interface Choice {
  readonly key: 'y' | 'n' | 'e' | 'f' | 'r' | 's' | 'l'
  readonly word: string
  readonly words: string
  readonly decision?: DecisionToSend['decision']
  readonly more?: Pick<DecisionToSend, 'allow_rest' | 'stop'>
}

/** What may be answered to this question. */
function choicesOf(approval: Approval): readonly Choice[] {
  const { edit = [], allow_rest, tool } = approval
  const waives = asksWaiver(approval)
  const yes = waives ? 'waive what failed, with a reason' : 'approve'
  return [
    { key: 'y', word: 'yes', words: yes, decision: waives ? 'waive' : 'approve' },
    { key: 'n', word: 'no', words: 'reject', decision: 'reject' },
    ...(allow_rest === true && !waives ? [REST] : []),
    ...(tool === undefined ? [] : [STOP]),
    ...(edit.length > 0 && !waives ? [EDIT] : []),
    { key: 'f', word: 'feedback', words: 'add a remark' },
    { key: 'l', word: 'later', words: 'decide later' },
  ]
}

const REST: Choice = {
  key: 'r',
  word: 'rest',
  words: 'approve, and ask about no later call of it in this run',
  decision: 'approve',
  more: { allow_rest: true },
}
const STOP: Choice = {
  key: 's',
  word: 'stop',
  words: 'reject, and the agent does nothing more',
  decision: 'reject',
  more: { stop: true },
}
const EDIT: Choice = { key: 'e', word: 'edit', words: 'change a value first' }

/** Undefined: the server wants it otherwise, which has been said, or a waiver got no reason. */
async function send(
  desk: Desk,
  approval: Approval,
  { decision, more = {} }: Choice & Pick<Made, 'decision'>,
  draft: Draft,
  signal: AbortSignal,
): Promise<Made | undefined> {
  const { feedback } = await withReason(desk, decision, draft, signal)
  if (decision === 'waive' && feedback === undefined) {
    desk.say('A waiver needs a reason.')
    return undefined
  }
  const edits = decision === 'approve' && Object.keys(draft.edits).length > 0 ? { edits: draft.edits } : {}
  const said = feedback === undefined ? {} : { feedback }
  try {
    const sent: DecisionToSend = { approval, decision, by: 'cli', ...edits, ...more, ...said }
    return { decision, answer: await sendDecision(desk.target, runOf(approval), sent) }
  } catch (error) {
    // What was typed does not fit: it can be typed again.
    if (!(error instanceof Refused) || error.status !== 400) throw error
    for (const line of reasonLines(error.reason, desk.session.settings.command)) desk.say(line)
    return undefined
  }
}

/** Whoever says no, or waives, is asked why. */
async function withReason(
  desk: Desk,
  decision: Made['decision'],
  draft: Draft,
  signal: AbortSignal,
): Promise<Pick<Draft, 'feedback'>> {
  if (decision === 'approve' || draft.feedback !== undefined) return draft
  return await askFeedback(desk, WHY[decision], signal)
}

const WHY = { waive: 'Why may it go on? ', reject: 'Why not? (Enter: nothing is said) ' } as const

/** An approval's id names its run. */
function runOf({ approval_id }: Approval): string {
  return `run_${approval_id.split('_')[1]}`
}

async function askFeedback(desk: Desk, question: string, signal: AbortSignal): Promise<Pick<Draft, 'feedback'>> {
  const line = await asked(desk, question, signal)
  return line === undefined || line === '' ? {} : { feedback: line }
}

/** New values of what may be changed; Enter keeps one as it is. */
async function askEdits(
  desk: Desk,
  answer: RunAnswer,
  approval: Approval,
  signal: AbortSignal,
): Promise<Readonly<Record<string, Json>>> {
  const edits: Record<string, Json> = {}
  const types = editTypes(answer, approval)
  for (const port of approval.edit ?? []) {
    const type = types[port]?.type ?? 'string'
    const line = await asked(desk, oneLine(`${port} (${type}; Enter keeps it)`).concat(': '), signal)
    const value = line === undefined || line === '' ? undefined : typed(desk, port, line, type)
    if (value !== undefined) edits[port] = value
  }
  const changed = Object.keys(edits)
  desk.say(changed.length === 0 ? `${askedWords(approval)} is as it was.` : oneLine(`Changed: ${changed.join(', ')}`))
  return edits
}

function typed(desk: Desk, port: string, line: string, type: string): Json | undefined {
  try {
    return typedValue('the value', port, line, isPortType(type) ? type : 'string')
  } catch (error) {
    if (!(error instanceof Refused)) throw error
    desk.say(`${error.message} It is kept as it is.`)
    return undefined
  }
}

function isPortType(type: string): type is 'string' | 'number' | 'boolean' | 'json' {
  return ['string', 'number', 'boolean', 'json'].includes(type)
}

function asked({ interrupted }: Desk, question: string, signal: AbortSignal): Promise<string | undefined> {
  return askLine(question, { signal, interrupted })
}
