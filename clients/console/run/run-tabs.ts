import type { ComponentType } from 'preact'
import type { RunSession } from '../run-session.ts'
import { ArtifactsTab } from './artifacts-tab.tsx'
import { EventsTab } from './events-tab.tsx'
import { GoalTab } from './goal-tab.tsx'
import { GraphTab } from './graph-tab.tsx'
import { researchOf } from './research-of-session.ts'
import { ResearchTab } from './research-tab.tsx'
import type { TabProps } from './tab-props.ts'
import { TimelineTab } from './timeline-tab.tsx'

interface Tab {
  readonly name: string
  readonly label: string
  readonly component: ComponentType<TabProps>
  /** Left out: of every run. */
  isFor?(session: RunSession): boolean
}

/** Each tab by the third part of the address: a new one is a line. */
export const TABS: readonly Tab[] = [
  { name: 'graph', label: 'Graph', component: GraphTab, isFor: (session) => !isResearch(session) },
  { name: 'research', label: 'Research', component: ResearchTab, isFor: (session) => researchOf(session).length > 0 },
  { name: 'timeline', label: 'Timeline', component: TimelineTab, isFor: (session) => !isResearch(session) },
  { name: 'events', label: 'Events', component: EventsTab },
  { name: 'artifacts', label: 'Outputs', component: ArtifactsTab, isFor: (session) => !isResearch(session) },
  { name: 'goal', label: 'Goal', component: GoalTab, isFor: (session) => !isResearch(session) },
]

function isResearch({ answer }: RunSession): boolean {
  return answer.value?.run.role === 'research_pipeline'
}
