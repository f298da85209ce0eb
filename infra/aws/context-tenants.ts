import { Fault } from '../../shared/errors.ts'
import type { Settings } from '../../shared/settings.ts'
import { tenantIssues } from '../../shared/tenant-issues.ts'
import type { DeploySettings } from './settings.ts'

/**
 * The settings with the tenants of the CDK context (`sluice:tenants`) over those of the file, and with the tenants that
 * `sluice:auth` gives to IAM principals. Fault InvalidInput bad_settings names each that is not in the list.
 */
export function withContextTenants(settings: Settings, { tenants, auth }: Pick<DeploySettings, 'tenants' | 'auth'>) {
  const roles = auth.mode === 'iam' ? auth.tenants : undefined
  const told: Settings = {
    ...settings,
    ...(tenants === undefined ? {} : { tenants: [...tenants] }),
    ...(roles === undefined ? {} : { iam_tenants: roles }),
  }
  const issues = tenantIssues(told)
  if (issues.length === 0) return told
  const lines = issues.map(({ path, message, hint }) => `${path}: ${message}${hint === undefined ? '' : ` (${hint})`}`)
  const message = `cdk.json: context "sluice:tenants" does not fit the settings. ${lines.join('; ')}. Pass -c sluice:tenants=NAME,NAME.`
  throw new Fault('InvalidInput', 'bad_settings', message, { issues })
}
