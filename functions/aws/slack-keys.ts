import { Fault } from '../../shared/errors.ts'
import type { KeyRef } from '../../shared/ports/secrets.ts'
import type { Core } from './core.ts'

/** Reads the token or a signing secret where AWS keeps it. Fault InvalidInput slack_key_missing. */
export function slackKeys({ secrets }: Pick<Core, 'secrets'>): (ref: KeyRef) => Promise<string> {
  return async ({ secret }) => {
    if (secret !== undefined && secrets !== undefined) return secrets.read({ secret })
    const message =
      'Cannot reach Slack: on AWS its token and signing secret are read from Secrets Manager or Systems Manager. Add secret: ARN to slack.token and slack.signing_secret in sluice.yaml and deploy again.'
    throw new Fault('InvalidInput', 'slack_key_missing', message)
  }
}
