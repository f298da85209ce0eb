import { useEffect, useState } from 'preact/hooks'
import { answerOf, api } from '../api.ts'
import { Empty, ProblemNotice } from '../parts/notice.tsx'
import { changeQuery, route } from '../route.ts'
import type { GraphAnswer, RunSession } from '../run-session.ts'
import { useAnswer } from '../use-answer.ts'
import { GraphPicture } from './graph-picture.tsx'
import { useGraphScene } from './graph-scene.ts'
import { GraphTable } from './graph-table.tsx'
import { ReplayBar } from './replay-bar.tsx'
import type { TabProps } from './tab-props.ts'
import './graph.css'

/** The blocks of a run as a picture, or as a table: what each is doing now, or was at the moment shown. */
export function GraphTab({ session }: TabProps) {
  const { value, problem, reload } = useAnswer(`graph ${session.runId}`, () => askGraph(session.runId))
  if (problem !== undefined) return <ProblemNotice problem={problem} retry={reload} />
  if (value === undefined) return <p class="soft">Asking for the graph.</p>
  if (value.nodes.length === 0) return <Empty>This run has no blocks: its stages are in another part of it.</Empty>
  return <Graph graph={value} session={session} />
}

function Graph({ graph, session }: { readonly graph: GraphAnswer; readonly session: RunSession }) {
  const scene = useGraphScene(graph, session)
  const isNarrow = useNarrow()
  const shown = route.value.query.as ?? (isNarrow ? 'table' : 'picture')
  return (
    <div class="stack">
      <ReplayBar session={session} />
      <fieldset class="choice">
        <legend class="visually-hidden">Show the blocks as</legend>
        {SHAPES.map(([name, label]) => (
          <button key={name} type="button" aria-pressed={shown === name} onClick={() => changeQuery({ as: name })}>
            {label}
          </button>
        ))}
      </fieldset>
      {shown === 'table' ? <GraphTable scene={scene} /> : <GraphPicture scene={scene} />}
    </div>
  )
}

const SHAPES = [
  ['picture', 'Picture'],
  ['table', 'Table'],
] as const

async function askGraph(run_id: string): Promise<GraphAnswer> {
  const answer = await answerOf(api.GET('/api/dag/runs/{run_id}/graph', { params: { path: { run_id } } }))
  // The route can draw it too, as text: not without being asked to.
  return answer as GraphAnswer
}

/** A picture of blocks needs some room; the reader may still ask for it. */
function useNarrow(): boolean {
  const [isNarrow, setNarrow] = useState(NARROW.matches)
  useEffect(() => {
    const change = () => setNarrow(NARROW.matches)
    NARROW.addEventListener('change', change)
    return () => NARROW.removeEventListener('change', change)
  }, [])
  return isNarrow
}

const NARROW = matchMedia('(max-width: 700px)')
