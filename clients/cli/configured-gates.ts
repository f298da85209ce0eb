import { type ConfiguredGate, configuredGates } from '../../shared/tasks/configured-gates.ts'
import { checkSettings } from './check-settings.ts'
import { readFileIfAny } from './read-file.ts'
import { Refused } from './refused.ts'

/** The gates of tasks that sluice.yaml of the working folder configures; Refused where it has errors. */
export function readConfiguredGates(): readonly ConfiguredGate[] {
  const text = readFileIfAny('sluice.yaml', 'settings')
  const { errors, tasks } = checkSettings(text ?? '')
  if (tasks !== undefined) return configuredGates(tasks)
  const detail = 'Cannot list the configured gates: sluice.yaml has errors.'
  throw new Refused({ code: 'bad_settings', detail, errors })
}
