import type { Settings } from '../../shared/settings.ts'
import { withContextAuth } from './context-auth.ts'
import { withContextResearch } from './context-research.ts'
import { withContextSafety } from './context-safety.ts'
import { withContextTenants } from './context-tenants.ts'
import type { DeploySettings } from './settings.ts'

/** The settings of a deployment: those of its file, under what the CDK context says instead. Fault InvalidInput bad_settings. */
export function withContext(file: Settings, deploy: DeploySettings): Settings {
  const safe = withContextSafety(file, deploy.safety)
  const told = withContextTenants(withContextResearch(safe, deploy.research), deploy)
  const body_days = Math.max(deploy.retention_days, told.safety.retention_days) + 30
  return { ...withContextAuth(told, deploy.auth), body_days }
}
