import './transcript.css'
import { useEffect, useRef, useState } from 'preact/hooks'
import type { Dag } from '../../../../shared/dag/dag.ts'
import { agentCounts, agentCountWords, turnItem } from '../../../../shared/runs/turns-and-calls.ts'
import { type ApiProblem, answerOf, api, asProblem } from '../../api.ts'
import { DecideButtons } from '../../approvals/decision-dialog.tsx'
import { durationWords, timeOfDayWords, tokensWords, usdWords } from '../../parts/format.ts'
import { Empty, ProblemNotice } from '../../parts/notice.tsx'
import { StateMark } from '../../parts/state-mark.tsx'
import { useAnswer } from '../../parts/use-answer.ts'
import { ObjectLink, TextValue, ValueView } from '../../parts/value-view.tsx'
import { changeQuery, hrefOf, route } from '../../route.ts'
import { GateList } from '../inspector/attempts.tsx'
import { StepLog } from '../inspector/step-work.tsx'
import { documentOf, type RunSession, type TabProps } from '../session/run-session.ts'
import { type Voice, voiceKey } from '../session/voices.ts'
import {
  readText,
  readTranscript,
  shortArguments,
  type TranscriptCall,
  type TranscriptTurn,
  tookMs,
} from './transcript-pages.ts'

/** Blocks of the document whose agents call tools. */
export function actingBlocks(document: Pick<Dag, 'blocks'> | undefined): readonly string[] {
  return (document?.blocks ?? []).flatMap((block) =>
    block.mode === 'ai' && block.agent.acting !== undefined ? [block.id] : [],
  )
}

/** What an agent said, called and was told, as the conversation it was; calls are folded, those that wait are open. */
export function TranscriptTab({ session }: TabProps) {
  const ids = actingBlocks(documentOf(session.answer.value))
  const wanted = route.value.query.of
  const [first = ''] = ids
  const id = wanted !== undefined && ids.includes(wanted) ? wanted : first
  return (
    <div class="transcript stack">
      {ids.length > 1 && (
        <fieldset class="choice">
          <legend class="visually-hidden">Whose transcript</legend>
          {ids.map((one) => (
            <button key={one} type="button" aria-pressed={one === id} onClick={() => changeQuery({ of: one })}>
              {one}
            </button>
          ))}
        </fieldset>
      )}
      <Conversation key={id} session={session} blockId={id} />
    </div>
  )
}

interface OfBlock extends TabProps {
  readonly blockId: string
}

function Conversation({ session, blockId }: OfBlock) {
  const { turns, problem, isWhole, reload } = useTranscript(session, blockId)
  const block = session.fold.value.blocks[blockId]
  const counts = block === undefined ? undefined : agentCounts(block)
  const begun = new Set(turns.map(({ turn }) => turn))
  const speaking = speakingTurns(session, blockId).filter(({ turn }) => !begun.has(turn))
  return (
    <section class="stack" aria-label={`Transcript of ${blockId}`}>
      <header class="row">
        <h2>{blockId}</h2>
        <StateMark state={block?.state ?? 'pending'} />
        {counts !== undefined && <span class="soft">{agentCountWords(counts)}</span>}
      </header>
      {problem !== undefined && <ProblemNotice problem={problem} retry={reload} />}
      {isWhole && turns.length === 0 && speaking.length === 0 && (
        <Empty>No turn has begun: what the agent says, calls and is told stands here.</Empty>
      )}
      <ol class="turns">
        {turns.map((turn) => (
          <Turn key={turn.turn} turn={turn} session={session} blockId={blockId} reload={reload} />
        ))}
        {speaking.map(({ turn, voice }) => (
          <li key={turn} class="turn">
            <h3 class="turn-head">Turn {turn}</h3>
            <Saying voice={voice} />
          </li>
        ))}
      </ol>
    </section>
  )
}

interface Transcript {
  readonly turns: readonly TranscriptTurn[]
  readonly problem: ApiProblem | undefined
  readonly isWhole: boolean
  readonly reload: () => void
}

const PAGE = 50

/** All turns; of a live run those that may have changed are asked for again when its events come. */
function useTranscript({ runId, fold }: RunSession, blockId: string): Transcript {
  const [state, setState] = useState<Omit<Transcript, 'reload'>>({ turns: [], problem: undefined, isWhole: false })
  const reader = useRef<ReturnType<typeof readTranscript>>(undefined)
  useEffect(() => {
    const reading = readTranscript({
      ask: (turn) => askPage(runId, blockId, turn),
      show: (turns, isWhole) => setState({ turns, problem: undefined, isWhole }),
      fail: (error) => setState((old) => ({ ...old, problem: asProblem(error) })),
    })
    reader.current = reading
    return () => reading.close()
  }, [runId, blockId])
  const progress = progressOf(fold.value.blocks[blockId], fold.value.approvals)
  useEffect(() => reader.current?.load(), [runId, blockId, progress])
  return { ...state, reload: () => reader.current?.load() }
}

function askPage(run_id: string, block_id: string, turn: number) {
  const params = { path: { run_id, block_id }, query: { turn, limit: PAGE } }
  return answerOf(api.GET('/api/dag/runs/{run_id}/blocks/{block_id}/transcript', { params }))
}

/** Another text whenever a turn, a call or a question of the block has moved. */
function progressOf(
  block: RunSession['fold']['value']['blocks'][string] | undefined,
  approvals: RunSession['fold']['value']['approvals'],
): string {
  const items = Object.entries(block?.items ?? {}).map(([item, { state, attempt }]) => `${item}${state}${attempt}`)
  const asked = Object.values(approvals).map(({ approval_id, status }) => `${approval_id}${status}`)
  return [block?.state, block?.epoch, block?.attempt, ...items, ...asked].join(' ')
}

interface TurnProps extends OfBlock {
  readonly turn: TranscriptTurn
  readonly reload: () => void
}

function Turn({ turn, session, blockId, reload }: TurnProps) {
  const { told, told_cut, text, text_cut, error, calls, from_run, note } = turn
  const voice = session.voices.value.get(voiceKey({ block_id: blockId, item: turnItem(turn.turn - 1) }))
  return (
    <li class="turn">
      <h3 class="turn-head">
        Turn {turn.turn}
        {turn.state !== 'completed' && <StateMark state={turn.state} isQuiet />}
        <Facts item={turn} />
        {from_run !== undefined && (
          <a class="small" href={hrefOf(['runs', from_run, 'transcript'])}>
            kept of an earlier run
          </a>
        )}
      </h3>
      {told !== undefined && (
        <div class="said is-user">
          <p class="small soft">Told to the agent</p>
          <TextValue text={told} />
          <Cut left={told_cut} />
        </div>
      )}
      {text !== undefined && text !== '' && (
        <div class="said">
          <TextValue text={text} />
          <Cut left={text_cut} />
        </div>
      )}
      {text === undefined && voice !== undefined && <Saying voice={voice} />}
      {note !== undefined && <p class="small soft">{note}</p>}
      {error !== undefined && turn.state !== 'completed' && <p class="notice tone-bad">{error.reason}</p>}
      {calls.length > 0 && (
        <ul class="calls" aria-label={`Calls of turn ${turn.turn}`}>
          {calls.map((call) => (
            <Call key={call.call} call={call} of={`${turn.turn}.${call.call}`} reload={reload} />
          ))}
        </ul>
      )}
    </li>
  )
}

/** Who answered, when, how long it took and what it cost. */
function Facts({ item }: { readonly item: TranscriptTurn | TranscriptCall }) {
  const { started_at, attempts, tokens_in, tokens_out, usd, unpriced_tokens } = item
  const took = tookMs(item)
  const who = 'model' in item && item.model !== undefined ? [`${item.provider} ${item.model}`] : []
  const facts = [
    ...who,
    ...(attempts > 1 ? [`try ${attempts}`] : []),
    ...(took === undefined ? [] : [durationWords(took)]),
    ...(tokens_in + tokens_out === 0 ? [] : [tokensWords(tokens_in, tokens_out), usdWords(usd, unpriced_tokens)]),
  ]
  return (
    <span class="small soft numbers">
      {started_at !== undefined && (
        <time dateTime={started_at} title={started_at}>
          {timeOfDayWords(started_at)}
        </time>
      )}
      {facts.length > 0 && `, ${facts.join(', ')}`}
    </span>
  )
}

function Cut({ left }: { readonly left: number | undefined }) {
  if (left === undefined) return null
  return <p class="small soft">{left.toLocaleString('en')} more characters are left out here.</p>
}

/** What a model says now: none of it is recorded yet. */
function Saying({ voice: { text, missed } }: { readonly voice: Voice }) {
  return (
    <div class="said is-live" aria-live="off">
      <p class="small soft">Says now</p>
      <div class="wrapped">
        {missed && '… '}
        {text}
        <span class="caret" aria-hidden="true" />
      </div>
    </div>
  )
}

function speakingTurns({ voices }: RunSession, blockId: string) {
  return [...voices.value].flatMap(([key, voice]) => {
    const item = key.startsWith(`${blockId}.`) ? key.slice(blockId.length + 1) : ''
    return item === '' ? [] : [{ turn: Math.floor(Number(item) / 100) + 1, voice }]
  })
}

interface CallProps {
  readonly call: TranscriptCall
  /** `3.2` */
  readonly of: string
  readonly reload: () => void
}

/** One call: a line, and all of it when opened. One that waits for a person is open. */
function Call({ call, of, reload }: CallProps) {
  const { use, state, error } = call
  const isAsked = state === 'paused_approval'
  const [isOpen, setOpen] = useState(isAsked)
  useEffect(() => {
    if (isAsked) setOpen(true)
  }, [isAsked])
  return (
    <li>
      <details class="call" open={isOpen} onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
        <summary>
          <span class="call-line">
            <StateMark state={state} isQuiet />
            <strong class="call-tool">{use}</strong>
            <code class="call-args">{shortArguments(call.arguments)}</code>
            <Facts item={call} />
          </span>
          {error !== undefined && state !== 'completed' && <span class="call-why small">{error.reason}</span>}
        </summary>
        {isOpen && <CallBody call={call} of={of} reload={reload} />}
      </details>
    </li>
  )
}

function CallBody({ call, of, reload }: CallProps) {
  const { tool, use, approvals = [], result, result_cut, arguments_cut, outputs = {}, child, log } = call
  // What a person was asked stands below, with the answer.
  const gates = call.gates.filter(({ gate }) => gate !== 'approval' || approvals.length === 0)
  const pending = approvals.find(({ status }) => status === 'pending')
  return (
    <div class="call-body stack">
      {pending !== undefined && <Question id={pending.approval_id} reload={reload} />}
      {tool !== use && (
        <p class="small soft">
          Called by the model as <code>{tool}</code>
        </p>
      )}
      <h4>Arguments</h4>
      <ValueView value={readText(call.arguments ?? '')} label={`arguments of call ${of}`} />
      <Cut left={arguments_cut} />
      {gates.length > 0 && (
        <>
          <h4>Gates</h4>
          <GateList gates={gates} />
        </>
      )}
      {approvals
        .filter(({ status }) => status !== 'pending')
        .map((one) => (
          <Answered key={one.approval_id} question={one} />
        ))}
      {result !== undefined && (
        <>
          <h4>Result</h4>
          <ValueView value={readText(result)} label={`result of call ${of}`} />
          <Cut left={result_cut} />
        </>
      )}
      {(result === undefined || result_cut !== undefined) &&
        Object.entries(outputs).map(([port, stored]) => (
          <p key={port} class="small">
            {port}: <ObjectLink object={stored} />
          </p>
        ))}
      {child !== undefined && (
        <p>
          Done by <a href={hrefOf(['runs', child, 'graph'])}>run {child.slice(4, 12)}</a>
        </p>
      )}
      <StepLog log={log} />
    </div>
  )
}

/** What a person is asked about the call, and the way to both answers. */
function Question({ id, reload }: { readonly id: string; readonly reload: () => void }) {
  const [said, setSaid] = useState<string>()
  const {
    value,
    problem,
    reload: again,
  } = useAnswer(`approval ${id}`, async () => {
    const params = { query: { approval_id: id, status: 'all' } } as const
    return (await answerOf(api.GET('/api/dag/approvals', { params }))).approvals[0]
  })
  if (said !== undefined) return <output>{said}</output>
  return (
    <div class="notice tone-wait stack">
      {problem !== undefined && <ProblemNotice problem={problem} retry={again} />}
      {value === undefined && problem === undefined && <p class="soft">Asking what is asked.</p>}
      {value !== undefined && (
        <>
          <p class="call-question">{value.prompt}</p>
          <DecideButtons
            approval={value}
            reload={again}
            hasKeys={false}
            onDecided={(_, words) => {
              setSaid(words)
              reload()
            }}
          />
        </>
      )}
    </div>
  )
}

type Asked = NonNullable<TranscriptCall['approvals']>[number]

function Answered({ question }: { readonly question: Asked }) {
  const { approval_id, status, decided_by, via, feedback, edits, rest, stop, waited_ms } = question
  return (
    <div>
      <h4>A person was asked</h4>
      <p>
        <StateMark state={status} isQuiet />{' '}
        {decided_by !== undefined && (
          <>
            by <strong>{decided_by}</strong>
            {via !== undefined && ` via ${via}`}
          </>
        )}
        {waited_ms !== undefined && `, after ${durationWords(waited_ms)}`}
        {rest === true && ', and for later calls of the tool in this run'}
        {stop === true && ', and the agent was stopped'}{' '}
        <a class="small" href={hrefOf(['approvals'], { approval: approval_id, status: 'decided' })}>
          what was asked
        </a>
      </p>
      {feedback !== undefined && <blockquote class="decided-words">{feedback}</blockquote>}
      {edits !== undefined && <ValueView value={edits} label="changed arguments" />}
    </div>
  )
}
