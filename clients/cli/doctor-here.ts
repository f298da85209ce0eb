import type { Settings } from '../../shared/settings.ts'
import type { Check } from './check.ts'
import { folderChecks } from './doctor-folders.ts'
import { installationChecks } from './doctor-installation.ts'
import { settingsCheckHere } from './doctor-settings.ts'

/** What can be checked without asking anybody: the installation, sluice.yaml and the folders it names. */
export function checkHere(): { readonly here: readonly Check[]; readonly settings: Settings | undefined } {
  const [settingsCheck, settings] = settingsCheckHere()
  return { here: [...installationChecks(), settingsCheck, ...folderChecks(settings)], settings }
}
