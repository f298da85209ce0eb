import type { Settings } from '../../shared/settings.ts'
import type { DeploySettings } from './settings.ts'

/** The settings of a deployment: `sluice:auth` says how its callers prove who they are, `auth` of the file is the local place's. */
export function withContextAuth({ auth: _local, ...settings }: Settings, auth: DeploySettings['auth']): Settings {
  return auth.mode === 'iam' ? { ...settings, iam_people: [...(auth.people ?? [])] } : { ...settings, auth }
}
