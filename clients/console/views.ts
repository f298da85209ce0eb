import type { ComponentType } from 'preact'
import { ApprovalsView } from './approvals/approvals-view.tsx'
import { CompareView } from './compare/compare-view.tsx'
import { RunsPage } from './runs/runs-page.tsx'
import { SafetyView } from './safety/safety-view.tsx'
import { StartView } from './start/start-view.tsx'

interface View {
  /** The first part of its address. */
  readonly name: string
  readonly label: string
  readonly isInMenu: boolean
  readonly component: ComponentType
  /** The keys that open it. */
  readonly key?: string
}

/** Each view by the first part of its address: a new one is a line. */
export const VIEWS: readonly View[] = [
  { name: 'runs', label: 'Runs', isInMenu: true, component: RunsPage, key: 'g r' },
  { name: 'approvals', label: 'Approvals', isInMenu: true, component: ApprovalsView, key: 'g a' },
  { name: 'compare', label: 'Compare', isInMenu: true, component: CompareView, key: 'g c' },
  { name: 'start', label: 'Start a run', isInMenu: false, component: StartView, key: 'g s' },
  { name: 'safety', label: 'Safety', isInMenu: false, component: SafetyView, key: 'g l' },
]
