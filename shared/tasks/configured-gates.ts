import type { Settings } from '../settings.ts'
import type { TaskGateSettings } from './task-gate.ts'

export type ConfiguredGate = TaskGateSettings & {
  /** Names of the pipelines that use it. */
  readonly pipelines: string[]
}

/** The gates of tasks as GET /api/gates and `sluice gates list` show them. */
export function configuredGates({
  gates,
  pipelines,
}: Pick<Settings, 'gates' | 'pipelines'>): readonly ConfiguredGate[] {
  const uses = Object.entries(pipelines)
  return gates.map((gate) => ({
    ...gate,
    pipelines: uses.flatMap(([name, pipeline]) => (pipeline.gates.includes(gate.name) ? [name] : [])),
  }))
}
