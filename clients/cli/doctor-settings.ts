import { Fault } from '../../shared/errors.ts'
import { parseSettings } from '../../shared/parse-settings.ts'
import type { Settings } from '../../shared/settings.ts'
import { type Check, check } from './check.ts'
import { readFileIfAny } from './read-file.ts'

/** Whether sluice.yaml can be used, and what it says; undefined where it cannot. */
export function settingsCheckHere(): readonly [Check, Settings | undefined] {
  try {
    const text = readFileIfAny('sluice.yaml', 'settings')
    const settings = parseSettings(text ?? '', 'sluice.yaml')
    return [
      check.ok('settings', text === undefined ? 'no sluice.yaml here: all defaults' : 'sluice.yaml is good'),
      settings,
    ]
  } catch (error) {
    if (!(error instanceof Fault)) throw error
    return [
      check.failed('settings', error.message, 'mend sluice.yaml; `sluice validate` tells the same with places'),
      undefined,
    ]
  }
}
