import { useEffect, useState } from 'preact/hooks'
import type { StepFold } from '../../../../shared/runs/run-fold.ts'
import { agentCounts, agentCountWords, agentItemWords } from '../../../../shared/runs/turns-and-calls.ts'
import { answerOf, api } from '../../api.ts'
import { durationWords, timeOfDayWords, tokensWords, usdWords } from '../../parts/format.ts'
import { ProblemNotice } from '../../parts/notice.tsx'
import { StateMark } from '../../parts/state-mark.tsx'
import { Elapsed } from '../../parts/time-view.tsx'
import { useAnswer } from '../../parts/use-answer.ts'
import { ObjectLink, TextValue, ValueView } from '../../parts/value-view.tsx'
import { changeQuery, hrefOf, route } from '../../route.ts'
import type { RunSession } from '../session/run-session.ts'
import { voiceKey } from '../session/voices.ts'
import { type BlockAttempt, type Inspected, InspectorPart } from './inspected-block.tsx'
import { StepLog } from './step-work.tsx'

/** Every attempt up to the moment shown, newest first: its inputs, what was asked and answered, cost and verdicts. */
export function InspectorAttempts({
  inspected: { definition, fold, isReplay },
  session,
}: {
  readonly inspected: Inspected
  readonly session: RunSession
}) {
  const { id } = definition
  const acts = fold?.first_turn !== undefined
  const item = acts || fold?.item_count !== undefined ? itemOf(route.value.query.item) : undefined
  const steps = session.fold.value.steps.filter((step) => step.block_id === id && step.item === item)
  const { value, problem, reload } = useAnswer(`block ${session.runId} ${id} ${item}`, () =>
    askBlock(session.runId, id, item),
  )
  // What is known of the newest attempt changes with its events.
  const progress = `${steps.length} ${steps.at(-1)?.state} ${steps.at(-1)?.output_ref} ${fold?.gates.length}`
  useEffect(() => {
    if (!isReplay) reload()
  }, [progress, isReplay, reload])
  if (steps.length === 0) return null
  const of = item === undefined ? '' : acts ? agentItemWords(item, fold.items?.[item]?.tool) : `item ${item}`
  const title = of === '' ? 'Attempts' : `Attempts of ${of}`
  return (
    <InspectorPart title={title}>
      {problem !== undefined && <ProblemNotice problem={problem} retry={reload} />}
      {steps.toReversed().map((step, index) => (
        <InspectorAttempt
          key={`${step.epoch} ${step.attempt} ${step.item}`}
          step={step}
          detail={isReplay && step.state === 'running' ? undefined : detailOf(step, value?.attempts)}
          isNewest={index === 0}
        />
      ))}
      {value?.attempts_cut === true && <p class="small soft">Of the earliest attempts only the times are shown.</p>}
    </InspectorPart>
  )
}

function itemOf(text: string | undefined): number | undefined {
  return text !== undefined && /^\d{1,5}$/.test(text) ? Number(text) : undefined
}

function askBlock(run_id: string, block_id: string, item: number | undefined) {
  const params = { path: { run_id, block_id }, query: item === undefined ? {} : { item } }
  return answerOf(api.GET('/api/dag/runs/{run_id}/blocks/{block_id}', { params }))
}

function detailOf({ epoch, attempt }: StepFold, attempts: readonly BlockAttempt[] = []): BlockAttempt | undefined {
  return attempts.find((one) => one.epoch === epoch && one.attempt === attempt)
}

interface AttemptProps {
  readonly step: StepFold
  /** Absent until the server has told it. */
  readonly detail: BlockAttempt | undefined
  readonly isNewest: boolean
}

/** One attempt: a line, and all of it when opened. */
function InspectorAttempt({ step, detail, isNewest }: AttemptProps) {
  const { epoch, attempt, state, started_at, ended_at } = step
  return (
    <details class="attempt" open={isNewest}>
      <summary>
        <span class="row">
          <strong>
            Try {attempt}
            {epoch > 0 && ` after ${epoch} ${epoch === 1 ? 'return' : 'returns'}`}
          </strong>
          <StateMark state={state} isQuiet />
          <span class="small soft numbers">
            <time dateTime={started_at} title={started_at}>
              {timeOfDayWords(started_at)}
            </time>
            , <Elapsed from={started_at} to={ended_at} />
          </span>
        </span>
      </summary>
      {detail !== undefined && <AttemptDetail detail={detail} isNewest={isNewest} />}
    </details>
  )
}

function AttemptDetail({ detail, isNewest }: { readonly detail: BlockAttempt; readonly isNewest: boolean }) {
  const { error, gates, note } = detail
  return (
    <div class="stack attempt-body">
      {/* That of the newest stands above, as why the block failed. */}
      {error !== undefined && (!isNewest || detail.item !== undefined) && (
        <div class="notice tone-bad">
          <p>{error.reason}</p>
          <p class="small">
            Code <code>{error.code}</code>
          </p>
        </div>
      )}
      <AttemptFacts detail={detail} />
      {note !== undefined && <p class="soft">{note}</p>}
      <StepLog log={detail.log} />
      <AttemptInputs detail={detail} />
      <AttemptCalls detail={detail} />
      {/* Those of the newest stand above, beside the ones that have not judged yet. */}
      {!isNewest && gates.length > 0 && (
        <>
          <h4>Gates</h4>
          <GateList gates={gates} />
        </>
      )}
    </div>
  )
}

function AttemptFacts({ detail }: { readonly detail: BlockAttempt }) {
  const { provider, model, tokens_in, tokens_out, usd, unpriced_tokens, latency_ms, finish_reason } = detail
  if (provider === undefined) return null
  return (
    <dl class="facts numbers">
      <dt>Answered by</dt>
      <dd>
        {provider} {model}
      </dd>
      {latency_ms !== undefined && (
        <>
          <dt>Latency</dt>
          <dd>{durationWords(latency_ms)}</dd>
        </>
      )}
      {/* A step has none, and costs what it says. */}
      {provider !== 'step' && (
        <>
          <dt>Tokens</dt>
          <dd>
            {tokensWords(tokens_in, tokens_out)}, {usdWords(usd, unpriced_tokens)}
          </dd>
        </>
      )}
      {provider === 'step' && usd !== null && usd > 0 && (
        <>
          <dt>Cost</dt>
          <dd>{usdWords(usd)}</dd>
        </>
      )}
      {finish_reason !== undefined && (
        <>
          <dt>Finished</dt>
          <dd>{finish_reason}</dd>
        </>
      )}
    </dl>
  )
}

function AttemptInputs({ detail }: { readonly detail: BlockAttempt }) {
  const { inputs = {}, input_refs = {}, inputs_verified } = detail
  const ports = Object.entries(inputs)
  const large = Object.entries(input_refs)
  if (ports.length + large.length === 0) return null
  return (
    <>
      <h4>Inputs</h4>
      {!inputs_verified && (
        <p class="small soft">Not what was recorded at its start: these are the values it would be given now.</p>
      )}
      <div class="ports">
        {ports.map(([port, value]) => (
          <div key={port}>
            <code>{port}</code>
            <ValueView value={value} label={`input ${port}`} />
          </div>
        ))}
        {large.map(([port, { ref, sha256 = '', bytes }]) => (
          <div key={port} class="row">
            <code>{port}</code>
            {ref === undefined ? (
              <span class="small soft">too large to be shown, sha256 {sha256.slice(0, 12)}</span>
            ) : (
              <ObjectLink object={{ ref, sha256, ...(bytes === undefined ? {} : { bytes }) }} />
            )}
          </div>
        ))}
      </div>
    </>
  )
}

type BlockCall = BlockAttempt['calls'][number]

/** What providers were asked in an attempt, word for word, and what came back. */
function AttemptCalls({ detail: { calls, calls_cut } }: { readonly detail: BlockAttempt }) {
  return (
    <>
      {calls.map((call, index) => (
        // Calls are recorded in order and never change.
        <Call key={index} call={call} name={nameOf(call, index, calls)} />
      ))}
      {calls_cut && (
        <p class="small soft">Some calls are left out: there were too many, or what was recorded is gone.</p>
      )}
    </>
  )
}

/** The first call of the block itself is its prompt; another one repaired an answer that broke the contract. */
function nameOf({ gate }: BlockCall, index: number, calls: readonly BlockCall[]): string {
  if (gate !== undefined) return `judge of gate ${gate}`
  const before = calls.slice(0, index).filter((one) => one.gate === undefined).length
  return before === 0 ? '' : `repair ${before}`
}

function Call({ call, name }: { readonly call: BlockCall; readonly name: string }) {
  const { system, prompt, answer, cut, note } = call
  const of = name === '' ? '' : ` (${name})`
  return (
    <>
      {system !== undefined && (
        <>
          <h4>System prompt{of}</h4>
          <ValueView value={system} label={`system prompt${of}`} />
        </>
      )}
      <h4>Prompt{of}</h4>
      {prompt === undefined ? (
        <p class="small soft">Recorded before prompts were kept; its hash is {call.prompt_hash.slice(0, 12)}.</p>
      ) : (
        <ValueView value={prompt} label={`prompt${of}`} />
      )}
      <h4>Answer{of}, as it came</h4>
      <ValueView value={answer} label={`answer${of}`} />
      {cut === true && <p class="small soft">A text above is only its beginning.</p>}
      {note !== undefined && <p class="small soft">{note}</p>}
    </>
  )
}

interface Verdict {
  readonly gate: string
  readonly status: string
  readonly reason: string
  readonly type?: unknown
  readonly phase?: unknown
  readonly facts?: unknown
  readonly version?: unknown
}

interface GateListProps {
  readonly gates: readonly Verdict[]
  /** Gates of the document: those that have not judged yet are named too. */
  readonly promised?: readonly { readonly name: string }[]
}

/** Each gate with its verdict and why. */
export function GateList({ gates, promised = [] }: GateListProps) {
  const judged = new Set(gates.map(({ gate }) => gate))
  const open = promised.filter(({ name }) => !judged.has(name))
  return (
    <ul class="gate-list">
      {gates.map((verdict, index) => (
        <li key={`${index} ${verdict.gate}`}>
          <div class="row">
            <StateMark state={verdict.status} />
            <strong>{verdict.gate}</strong>
            <span class="small soft">
              {String(verdict.type ?? '')}
              {versionWords(verdict)}
              {verdict.phase === 'pre' ? ', before the work' : ''}
            </span>
          </div>
          <p>{verdict.reason}</p>
          <Facts facts={verdict.facts} />
        </li>
      ))}
      {open.map(({ name }) => (
        <li key={name} class="row">
          <StateMark state="pending" />
          <strong>{name}</strong>
          <span class="small soft">not judged yet</span>
        </li>
      ))}
    </ul>
  )
}

/** Of a gate of the project: which code judged. */
function versionWords({ version }: Verdict): string {
  return typeof version === 'string' ? `, version ${version.slice(0, 12)}` : ''
}

function Facts({ facts }: { readonly facts: unknown }) {
  if (facts === undefined || facts === null || JSON.stringify(facts) === '{}') return null
  return (
    <details>
      <summary class="small">What was measured</summary>
      <pre>{JSON.stringify(facts, null, 2)}</pre>
    </details>
  )
}

/** How many more are shown at each click: of a thousand items those that failed come first. */
const PAGE = 25

/** Of an agent that acts: how many turns and calls, what it says now, and the way to its transcript. */
export function InspectorTurns({
  inspected: { definition, fold },
  session,
}: {
  readonly inspected: Inspected
  readonly session: RunSession
}) {
  const counts = fold === undefined ? undefined : agentCounts(fold)
  const { id } = definition
  const said = session.voices.value.get(voiceKey({ block_id: id }))
  return (
    <>
      {counts !== undefined && (
        <InspectorPart title="Turns and calls">
          <p>{agentCountWords(counts)}</p>
          <p>
            <a href={hrefOf(['runs', session.runId, 'transcript'], { of: id })}>Read the transcript</a>
          </p>
        </InspectorPart>
      )}
      {said !== undefined && (
        <InspectorPart title="Says now">
          <TextValue text={`${said.missed ? '… ' : ''}${said.text}`} />
        </InspectorPart>
      )}
    </>
  )
}

/** The items of a foreach block; one that is chosen has its own attempts below. */
export function InspectorItems({ inspected: { fold } }: { readonly inspected: Inspected }) {
  const [most, setMost] = useState(PAGE)
  if (fold?.item_count === undefined) return null
  const items = Object.entries(fold.items ?? {}).sort(
    ([n, a], [m, b]) => rankOf(a.state) - rankOf(b.state) || Number(n) - Number(m),
  )
  const chosen = route.value.query.item
  const waiting = fold.item_count - items.length
  return (
    <InspectorPart title={`Items (${fold.item_count})`}>
      <ul class="item-list">
        {items.slice(0, most).map(([n, { state, attempt, error }]) => (
          <li key={n}>
            <button
              type="button"
              class="as-link"
              aria-pressed={chosen === n}
              onClick={() => changeQuery({ item: chosen === n ? undefined : n })}
            >
              item {n}
            </button>
            <StateMark state={state} isQuiet />
            {attempt > 1 && <span class="small soft">try {attempt}</span>}
            {error !== undefined && <span class="small">{error.reason}</span>}
          </li>
        ))}
      </ul>
      {items.length > most && (
        <button type="button" onClick={() => setMost(most + PAGE)}>
          Show {Math.min(PAGE, items.length - most)} more of {items.length}
        </button>
      )}
      {waiting > 0 && <p class="small soft">{waiting} have not begun.</p>}
    </InspectorPart>
  )
}

/** Failed ones first, then those under way. */
const ORDER = ['failed', 'retrying', 'running', 'paused_approval']

function rankOf(state: string): number {
  const rank = ORDER.indexOf(state)
  return rank === -1 ? ORDER.length : rank
}
