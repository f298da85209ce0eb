import { useEffect } from 'preact/hooks'
import type { operations } from '../../api/schema.generated.ts'
import { answerOf, api } from '../api.ts'
import { Empty, ProblemNotice } from '../parts/notice.tsx'
import { changeQuery, route } from '../route.ts'
import { useAnswer } from '../use-answer.ts'
import { ResearchAnswerView } from './research-answer.tsx'
import { ResearchEvidence } from './research-evidence.tsx'
import { ResearchFacts } from './research-facts.tsx'
import { researchOf } from './research-of-session.ts'
import type { ResearchRun } from './research-runs.ts'
import { ResearchTrace } from './research-trace.tsx'
import type { TabProps } from './tab-props.ts'
import './research.css'

export type ResearchAnswer = operations['get-research']['responses'][200]['content']['application/json']

/** The research of a run, or of one of its blocks: what was asked, the answer with its evidence, how it was found. */
export function ResearchTab({ session }: TabProps) {
  const answer = session.answer.value
  const runs = researchOf(session)
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
