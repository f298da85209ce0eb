import './research.css'
import { useEffect } from 'preact/hooks'
import { answerOf, api } from '../../api.ts'
import { durationWords, momentWords, usdWords } from '../../parts/format.ts'
import { Empty, ProblemNotice } from '../../parts/notice.tsx'
import { useAnswer } from '../../parts/use-answer.ts'
import { namedObject } from '../../parts/value-text.ts'
import { ObjectLink, ValueView } from '../../parts/value-view.tsx'
import { changeQuery, hrefOf, route } from '../../route.ts'
import { documentOf, type RunSession, type TabProps } from '../session/run-session.ts'
import { ResearchAnswerView, ResearchEvidence } from './research-answer.tsx'
import { type ResearchAnswer, type ResearchRun, researchRuns } from './research-runs.ts'

/** The research of a run, or of one of its blocks: what was asked, the answer with its evidence, how it was found. */
export function ResearchTab({ session }: TabProps) {
  const answer = session.answer.value
  const runs = researchToShow(session)
  const { of } = route.value.query
  const chosen = runs.find(({ block }) => block !== undefined && block === of) ?? runs[0]
  if (chosen === undefined) {
    return <Empty>This run has asked no research yet. A block with mode research asks the knowledge graph.</Empty>
  }
  return (
    <div class="research stack">
      {runs.length > 1 && <BlockChoice runs={runs} chosen={chosen} />}
      <Research key={chosen.run_id} runId={chosen.run_id} change={answer} />
    </div>
  )
}

function BlockChoice({ runs, chosen }: { readonly runs: readonly ResearchRun[]; readonly chosen: ResearchRun }) {
  return (
    <label>
      Research of block
      <select value={chosen.block} onChange={({ currentTarget: { value } }) => changeQuery({ of: value })}>
        {runs.map(({ block, run_id }) => (
          <option key={run_id} value={block}>
            {block}
          </option>
        ))}
      </select>
    </label>
  )
}

/** `change`: another one of the run's answers, after which this may be another too. */
function Research({ runId, change }: { readonly runId: string; readonly change: unknown }) {
  const params = { path: { run_id: runId } }
  const { value, problem, reload } = useAnswer(`research ${runId}`, () =>
    answerOf(api.GET('/api/research/{run_id}', { params })),
  )
  useEffect(() => {
    if (change !== undefined) reload()
  }, [change, reload])
  if (value === undefined) return problem === undefined ? <p>Loading</p> : <ProblemNotice problem={problem} />
  if (!('trace' in value)) {
    return (
      <p class="notice tone-busy">
        Not answered yet: {value.state}, stage <code>{value.stage}</code>. This page follows it.
      </p>
    )
  }
  return (
    <>
      <ResearchAnswerView answer={value} />
      <ResearchFacts answer={value} />
      <ResearchEvidence answer={value} />
      <ResearchTrace answer={value} />
    </>
  )
}

/** What research there is to see of the run as it is now. */
export function researchToShow({ answer: { value } }: RunSession): readonly ResearchRun[] {
  if (value === undefined) return []
  return researchRuns({ run: value.run, blocks: value.blocks, definitions: documentOf(value)?.blocks ?? [] })
}

/** What the chain was allowed and what it used, and where it came from and goes on. */
function ResearchFacts({ answer }: { readonly answer: ResearchAnswer }) {
  const { run_id, intent, result, tokens, usd, unpriced_tokens, parent_loop, started_at, ended_at } = answer
  const hints = Object.entries(intent.hints ?? {})
  const facts: readonly (readonly [string, string])[] = [
    ['Tokens', `${tokens.toLocaleString('en')} of ${intent.budget_tokens.toLocaleString('en')} allowed`],
    ['Cost', usdWords(usd, unpriced_tokens)],
    ['Refine rounds', `${result?.iterations ?? 0} of ${intent.max_iterations} allowed`],
    ...(intent.keep_unsupported === true ? [['Unsupported sentences', 'kept, marked'] as const] : []),
    ['Retighten rounds', String(result?.decomp_trace?.retighten_rounds ?? 0)],
    ...(started_at === undefined ? [] : [['Started', momentWords(started_at)] as const]),
    ...(started_at === undefined || ended_at === undefined
      ? []
      : [['Took', durationWords(Date.parse(ended_at) - Date.parse(started_at))] as const]),
    ...(hints.length === 0 ? [] : [['Hints', hints.map(([key, value]) => `${key} = ${value}`).join(', ')] as const]),
  ]
  return (
    <section class="card" aria-label="Budget and origin">
      <dl class="research-facts">
        {facts.map(([title, words]) => (
          <div key={title}>
            <dt>{title}</dt>
            <dd class="numbers">{words}</dd>
          </div>
        ))}
        {route.value.parts[1] !== run_id && (
          <div>
            <dt>Run</dt>
            <dd>
              <a href={hrefOf(['runs', run_id, 'research'])}>
                <code>{run_id}</code>
              </a>
            </dd>
          </div>
        )}
        {parent_loop !== undefined && (
          <div>
            <dt>Asked by</dt>
            <dd>
              <ParentLoop text={parent_loop} />
            </dd>
          </div>
        )}
      </dl>
    </section>
  )
}

/** `<run>.<block>` of a block leads there; any other name of a caller is only a name. */
function ParentLoop({ text }: { readonly text: string }) {
  const [, run, block] = /^(run_[0-9a-hjkmnp-tv-z]{26})\.(.+)$/.exec(text) ?? []
  if (run === undefined) return <code>{text}</code>
  return (
    <a href={hrefOf(['runs', run, 'graph'], { block })}>
      block {block} of <code>{run}</code>
    </a>
  )
}

type Stage = ResearchAnswer['trace'][number]

/** What each stage did, in order, and the sub-queries that ran. */
function ResearchTrace({ answer }: { readonly answer: ResearchAnswer }) {
  const queries = answer.result?.decomp_trace?.sub_queries ?? []
  return (
    <section class="card stack">
      <h3>Trace</h3>
      {answer.trace.length === 0 ? (
        <Empty>No stage has ended. Each stands here with what it decided, and why.</Empty>
      ) : (
        <ol class="research-trace">
          {answer.trace.map((stage) => (
            <StageItem key={stage.n} stage={stage} />
          ))}
        </ol>
      )}
      {queries.length > 0 && (
        <details>
          <summary>Sub-queries that ran ({queries.length})</summary>
          <ValueView value={queries} label="sub-queries" />
        </details>
      )}
    </section>
  )
}

function StageItem({ stage }: { readonly stage: Stage }) {
  const { rationale, degraded_reason, decision, assessment, in_ref, out_ref, raw_ref } = stage
  return (
    <li class="research-stage">
      <p class="row">
        <strong>
          {stage.n + 1}. {STAGES[stage.stage]}
        </strong>
        <code class="soft">{stage.stage}</code>
        <Outcome stage={stage} />
      </p>
      {rationale !== undefined && <p>{rationale}</p>}
      {degraded_reason !== undefined && <p class="research-degraded">Degraded: {degraded_reason}</p>}
      <p class="soft small numbers">{figuresOf(stage).join(', ')}</p>
      <p class="row small">
        <Ref words="before" of={in_ref} />
        <Ref words="after" of={out_ref} />
        {raw_ref !== undefined && <Ref words="model answers as they came" of={raw_ref} />}
      </p>
      {(decision ?? assessment) !== undefined && (
        <details>
          <summary>{decision === undefined ? 'Assessment' : 'Route decision'}</summary>
          <ValueView value={decision ?? assessment} label={`what ${stage.stage} gave`} />
        </details>
      )}
    </li>
  )
}

const STAGES: Readonly<Record<Stage['stage'], string>> = {
  nl_classify: 'Understand the question',
  route_search: 'Choose the way to search',
  execute_subqueries: 'Run the sub-queries',
  assess_sufficiency: 'Is it enough?',
  synthesize_answer: 'Write the answer',
}

function Outcome({ stage: { action, sufficient } }: { readonly stage: Stage }) {
  return (
    <>
      {action !== undefined && <span class="state tone-busy">{action.replaceAll('_', ' ')}</span>}
      {sufficient !== undefined && (
        <span class={`state tone-${sufficient ? 'good' : 'warn'}`}>
          <span class="sign" aria-hidden="true">
            {sufficient ? '✓' : '✕'}
          </span>
          {sufficient ? 'sufficient' : 'not sufficient'}
        </span>
      )}
    </>
  )
}

function figuresOf({ duration_ms, tokens, reserved, retries, found }: Stage): readonly string[] {
  return [
    durationWords(duration_ms),
    tokenWords(tokens, reserved),
    ...(retries === 0 ? [] : [`asked ${retries} more`]),
    ...(found === undefined ? [] : [`${found} found`]),
  ]
}

function tokenWords(tokens: number, reserved: number): string {
  if (reserved === 0) return 'no model was asked'
  return `${tokens.toLocaleString('en')} tokens of ${reserved.toLocaleString('en')} set aside`
}

function Ref({ words, of }: { readonly words: string; readonly of: string }) {
  const object = namedObject(of)
  return (
    <span>
      {words}: {object === undefined ? <code>{of}</code> : <ObjectLink object={object} />}
    </span>
  )
}
