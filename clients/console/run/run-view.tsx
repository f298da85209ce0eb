import './run-view.css'
import type { ComponentType } from 'preact'
import { useEffect, useMemo } from 'preact/hooks'
import { ProblemNotice } from '../parts/notice.tsx'
import { hrefOf, route } from '../route.ts'
import { EventsTab } from './events/events-tab.tsx'
import { GoalTab } from './goal/goal-tab.tsx'
import { GraphTab } from './graph/graph-tab.tsx'
import { Inspector } from './inspector/inspector.tsx'
import { OutputsTab } from './outputs/outputs-tab.tsx'
import { ResearchTab, researchToShow } from './research/research-tab.tsx'
import { RunHeading } from './run-heading.tsx'
import { documentOf, openRunSession, type RunSession, type TabProps } from './session/run-session.ts'
import { TimelineTab } from './timeline/timeline-tab.tsx'
import { actingBlocks, TranscriptTab } from './transcript/transcript-tab.tsx'

/** One run: heading with what it waits for and what can be done, tabs below, the chosen block beside them. */
export function RunView({ runId }: { readonly runId: string }) {
  const session = useMemo(() => openRunSession(runId), [runId])
  useEffect(() => () => session.close(), [session])
  const problem = session.problem.value
  if (session.answer.value === undefined) {
    return (
      <section class="page stack">
        <h1>Run {runId}</h1>
        {problem === undefined ? (
          <p class="soft">Asking the server for it.</p>
        ) : (
          <ProblemNotice problem={problem} retry={() => void session.reload()} />
        )}
      </section>
    )
  }
  return (
    <section class="page run stack">
      <RunHeading session={session} />
      {problem !== undefined && <ProblemNotice problem={problem} retry={() => void session.reload()} />}
      <RunTabs session={session} />
    </section>
  )
}

function RunTabs({ session }: TabProps) {
  const { block, seq } = route.value.query
  const tabs = TABS.filter((tab) => tab.isFor?.(session) ?? true)
  const [, , name = tabs[0]?.name] = route.value.parts
  const Shown = TABS.find((tab) => tab.name === name)?.component
  return (
    <>
      <nav class="tabs run-tabs" aria-label="Parts of the run">
        {tabs.map((tab) => (
          <a
            key={tab.name}
            href={hrefOf(['runs', session.runId, tab.name], { block, seq })}
            aria-current={tab.name === name ? 'page' : undefined}
          >
            {tab.label}
          </a>
        ))}
      </nav>
      <div class={block === undefined ? 'run-body' : 'run-body has-block'}>
        <div class="run-part">
          {Shown === undefined ? <p>There is no part "{name}" of a run.</p> : <Shown session={session} />}
        </div>
        {block !== undefined && <Inspector key={block} session={session} blockId={block} />}
      </div>
    </>
  )
}

interface Tab {
  readonly name: string
  readonly label: string
  readonly component: ComponentType<TabProps>
  /** Left out: of every run. */
  isFor?(session: RunSession): boolean
}

/** Each tab by the third part of the address: a new one is a line. */
const TABS: readonly Tab[] = [
  { name: 'graph', label: 'Graph', component: GraphTab, isFor: (session) => !isResearch(session) },
  {
    name: 'research',
    label: 'Research',
    component: ResearchTab,
    isFor: (session) => researchToShow(session).length > 0,
  },
  {
    name: 'transcript',
    label: 'Transcript',
    component: TranscriptTab,
    isFor: ({ answer }) => actingBlocks(documentOf(answer.value)).length > 0,
  },
  { name: 'timeline', label: 'Timeline', component: TimelineTab, isFor: (session) => !isResearch(session) },
  { name: 'events', label: 'Events', component: EventsTab },
  { name: 'artifacts', label: 'Outputs', component: OutputsTab, isFor: (session) => !isResearch(session) },
  { name: 'goal', label: 'Goal', component: GoalTab, isFor: (session) => !isResearch(session) },
]

function isResearch({ answer }: RunSession): boolean {
  return answer.value?.run.role === 'research_pipeline'
}
