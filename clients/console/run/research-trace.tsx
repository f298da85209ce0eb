import { Empty } from '../parts/notice.tsx'
import { ObjectLink } from '../parts/object-link.tsx'
import { durationWords } from '../parts/time-words.ts'
import { namedObject } from '../parts/value-shape.ts'
import { ValueView } from '../parts/value-view.tsx'
import type { ResearchAnswer } from './research-tab.tsx'

type Stage = ResearchAnswer['trace'][number]

/** What each stage did, in order, and the sub-queries that ran. */
export function ResearchTrace({ answer }: { readonly answer: ResearchAnswer }) {
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
