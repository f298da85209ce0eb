import { Fault } from '../../shared/errors.ts'
import { parseSettings } from '../../shared/parse-settings.ts'
import { type Settings, SettingsSchema } from '../../shared/settings.ts'
import { readFileIfAny } from './read-file.ts'

/** What a run started here would get; a sluice.yaml with errors is for `sluice validate` to tell. */
export function settingsHere(): Settings {
  const text = readFileIfAny('sluice.yaml', 'settings')
  try {
    return text === undefined ? SettingsSchema.parse({}) : parseSettings(text, 'sluice.yaml')
  } catch (error) {
    if (!(error instanceof Fault)) throw error
    return SettingsSchema.parse({})
  }
}
