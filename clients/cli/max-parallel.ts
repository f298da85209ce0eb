import { Fault } from '../../shared/errors.ts'
import { parseSettings } from '../../shared/parse-settings.ts'
import { SafetySchema } from '../../shared/settings.ts'
import { readFileIfAny } from './read-file.ts'

/** What a run started here would get; a sluice.yaml with errors is for `sluice validate` to tell. */
export function maxParallelHere(): number {
  const text = readFileIfAny('sluice.yaml', 'settings')
  try {
    const safety = text === undefined ? SafetySchema.parse({}) : parseSettings(text, 'sluice.yaml').safety
    return safety.max_parallel
  } catch (error) {
    if (!(error instanceof Fault)) throw error
    return SafetySchema.parse({}).max_parallel
  }
}
