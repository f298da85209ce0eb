import { route } from '../route.ts'
import { RunView } from '../run/run-view.tsx'
import { RunsView } from './runs-view.tsx'

/** The list, or the run the address names. */
export function RunsPage() {
  const [, runId] = route.value.parts
  return runId === undefined ? <RunsView /> : <RunView key={runId} runId={runId} />
}
